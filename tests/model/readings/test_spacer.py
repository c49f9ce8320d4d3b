"""Prove small machines without hints, and tamper with what such a proof rests on."""

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from attrs import evolve
from click.testing import CliRunner

from turnproof.cli import prove as command
from turnproof_model.prove import spacer
from turnproof_model.prove.machine import Check, Path
from turnproof_model.prove.proof import Certified, induction
from turnproof_model.prove.shape import Field, Shape
from turnproof_model.prove.solver import Translator, read, z3
from turnproof_model.prove.spacer import Search, prove_by_spacer, settle
from turnproof_model.prove.spacer_certificate import Certificate, Checker, Fact
from turnproof_model.prove.spacer_local import Local
from turnproof_model.prove.spacer_steps import Steps
from turnproof_model.prove.spacer_walks import evaluate
from turnproof_model.readings.loading import Change
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import both, choice, either, implies, minus, negate, plus, show, var
from turnproof_reports.proofs import print_proof

AT, N, SEEN, LATE = var("at", "int"), var("n", "int"), var("g.seen", "int"), var("late", "bool")


class _Counts(Observer):
    """Demand nothing of states; the checks of paths are all there is."""

    def holds(self, m):
        """Demand nothing."""


def _path(action, place, after, *checks, when=True):
    here = place == AT
    way = (here,) if when is True else (here, when)
    return Path(action, (way,), tuple(Check("R-1", check) for check in checks), after, ())


def _machine(*faults: Path) -> Steps:
    """
    Be a loop that takes messages in at rest, and writes as many as it took; ``late`` is set with the first of them.
    """
    shape = Shape(
        {"at": Field("at", "choice", ("rest", "work")), "n": Field("n", "number"), "late": Field("late", "truth")},
        {"at": "rest", "n": 0, "late": False},
        {"seen": 0},
    )
    paths = (
        _path("accept", 0, {"n": N + 1, "g.seen": SEEN + 1, "late": True}),
        _path("begin", 0, {"at": 1}, when=N > 0),
        _path("write", 1, {"n": N - 1, "g.seen": SEEN - 1}, SEEN > 0, LATE, when=N > 0),
        _path("end", 1, {"at": 0}, SEEN == 0, when=N == 0),
    )
    return Steps(shape, _Counts(), (*paths, *faults))


def _proof(steps: Steps):
    search = Search(steps, ends=float("inf"))
    certificate = search.run()
    return search, settle(Checker(steps, search.duties), certificate)


@pytest.fixture(scope="module")
def proof():
    return _proof(_machine())


def _facts(certificate: Certificate) -> Sequence[str]:
    return [show(fact.says) for facts in certificate.values() for fact in facts]


def test_a_machine_is_proved_without_a_word_about_it(proof):
    """
    What ties the number that waits to the number that was seen is found, and the duties follow from it.
    """
    search, settled = proof

    assert sum(map(len, search.duties.values())) == 3
    assert settled.refused == []
    assert "(g.seen = n)" in _facts(settled.certificate)


def test_each_fact_of_a_certificate_is_needed_or_its_check_says_so(proof):
    """
    Without any one of its facts a trimmed certificate proves its duties no longer, or something keeps it whole.
    """
    search, settled = proof
    checker = Checker(search.steps, search.duties)
    whole = settled.certificate
    weaker = [
        {**whole, place: tuple(fact for fact in facts if fact is not gone)}
        for place, facts in whole.items()
        for gone in facts
    ]

    assert [bool(list(checker.refusals(certificate))) for certificate in weaker] == [True] * len(weaker)


@pytest.mark.parametrize("says", [SEEN == 0, N < 1, negate(LATE), SEEN == N + 1])
def test_a_certificate_with_a_wrong_fact_is_refused(proof, says):
    """
    A fact that doesn't hold at first, or that some step breaks, is named by the check.
    """
    search, settled = proof
    wrong = {place: (*facts, Fact(says, "Spacer")) for place, facts in settled.certificate.items()}
    refusals = list(Checker(search.steps, search.duties).refusals(wrong))

    assert {show(one.fact.says) for one in refusals if one.fact is not None} == {show(says)}


def test_a_certificate_that_leaves_a_position_out_is_refused(proof):
    """
    Who says nothing of a position says that it can't be reached.
    """
    search, settled = proof
    checker = Checker(search.steps, search.duties)
    partial = [{place: facts for place, facts in settled.certificate.items() if place != gone} for gone in (0, 1)]

    assert [[one.where for one in checker.refusals(certificate)] for certificate in partial] == [
        ["the beginning", "end at work"],
        ["begin at rest"],
    ]


FAULTS = {
    "a message is written that nobody sees": _path("lose", 1, {"n": N - 1}, when=N > 0),
    "a message comes that nobody sees": _path("slip in", 1, {"n": N + 1}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_faulty_machine_is_never_proved(fault, monkeypatch):
    """
    A rule that a way leads to breaking is not proved, and the way is one that can be gone.
    """
    monkeypatch.setattr(spacer, "PATIENCE", 2.0)
    search, settled = _proof(_machine(fault))
    verdicts = {show(duty.condition): search.verdicts[id(duty)] for _, duty in settled.refused}

    assert verdicts["(g.seen = 0)"] == "not-proved"


def test_a_way_to_a_broken_rule_begins_at_the_beginning_and_hangs_together():
    """
    Each of its steps begins where the one before it ends, and the fault is among them.
    """
    steps = _machine(FAULTS["a message is written that nobody sees"])
    duties = [(step, duty) for step in steps.steps for duty in steps.duties(step)]
    goals = [(step, duty) for step, duty in duties if show(duty.condition) == "(g.seen = 0)"]
    shown = Local(steps, Translator(), {0: [], 1: []}, lambda: 30.0).show(goals, patience=30.0)

    assert (shown.verdict, shown.way[0].before) == ("not-proved", steps.first)
    assert all(one.after == other.before for one, other in pairwise(shown.way))
    assert "lose" in {steps.paths[step.path].action for step in shown.way}


def test_spacer_finds_out_what_nobody_guessed():
    """
    With no lemma at all it keeps the parts that a goal hangs on, and no other.
    """
    steps = _machine()
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step) if show(duty.condition) == "late"]
    shown = Local(steps, Translator(), {0: [], 1: []}, lambda: 30.0).show(goals, patience=30.0)
    proved = {place: (Fact(says, "Spacer"),) for place, says in shown.facts.items()}
    duties = {step: [duty] for step, duty in goals}

    assert (shown.verdict, set(shown.kept)) == ("proved", {"late", "n"})
    assert list(Checker(steps, duties).refusals({0: (), 1: (), **proved})) == []


def test_what_nobody_has_shown_is_no_longer_believed():
    """
    Facts that some step breaks leave a certificate, and the duties that rested on them are refused.
    """
    steps = _machine()
    duties = {step: tuple(steps.duties(step)) for step in steps.steps}
    wrong = {place: (Fact(N == 0, "guessed"),) for place in (0, 1)}
    settled = settle(Checker(steps, duties), wrong)

    assert _facts(settled.certificate) == []
    assert len(settled.refused) == 3


TERMS = [
    N + 1,
    minus(0, N),
    plus(N, SEEN),
    choice(LATE, N, SEEN),
    both(LATE, N > 0),
    either(LATE, N <= SEEN),
    implies(LATE, N == SEEN),
    N != SEEN,
    N < 2,
]


@pytest.mark.parametrize("term", TERMS, ids=show)
def test_what_the_solver_says_is_read_as_it_was_meant(term):
    """
    A term that goes to the solver and comes back has the same value everywhere.
    """
    back = read(z3().simplify(Translator()(term)), {})
    states = [{"n": n, "g.seen": seen, "late": late} for n in (-1, 0, 2) for seen in (0, 2) for late in (False, True)]

    assert [evaluate(back, state, {}) for state in states] == [evaluate(term, state, {}) for state in states]


def test_parts_that_nothing_reads_any_more_are_idle():
    """
    The part ``late`` is read where messages are written only, so at rest it is used as long as that may follow.
    """
    steps = _machine()
    without = evolve(steps, paths=[path for path in steps.paths if path.action != "write"])

    assert (steps.used[0], without.used[0]) == ({"n", "g.seen", "late"}, {"n", "g.seen"})


def test_without_time_every_rule_stays_unknown():
    """
    Status 4 says that nothing is known; nothing is called proved.
    """
    result = CliRunner().invoke(command, ["window", "--engine", "spacer", "--limit", "0.001", "--json", "-"])
    value = json.loads(result.output)

    assert (result.exit_code, value["method"], value["certificate"]) == (4, "Spacer", None)
    assert {one["verdict"] for one in value["properties"]} == {"unknown"}


def test_a_proof_that_ran_out_of_time_says_so():
    """
    The text says what to do.
    """
    result = CliRunner().invoke(command, ["claim", "--engine", "spacer", "--limit", "0.001"])

    assert "time ran out" in result.output
    assert "--limit" in result.output


def test_a_proof_says_what_its_certificate_is_made_of(capsys):
    """
    The text counts the guesses, the goals that Spacer was asked and showed, and the facts by who found them.
    """
    unknown = prove_by_spacer("window", limit=0.001)
    print_proof(evolve(unknown, certificate=Certified(7, 3, 2, {"Spacer": 4, "guessed": 5}, 0.5)))
    said = " ".join(capsys.readouterr().out.split())

    assert "kept by every step: 7" in said
    assert "clauses were learnt, too: 3, of which Spacer showed 2" in said
    assert "certificate: 4 from Spacer, 5 from guessed; checked from scratch in 0.5 s" in said


@pytest.mark.parametrize("option", [["--needed"], ["--faults"], ["--smt2", "queries"]])
def test_options_of_the_induction_are_refused_with_spacer(option):
    """
    Status 2 says that the command line is wrong.
    """
    result = CliRunner().invoke(command, ["window", "--engine", "spacer", *option])

    assert (result.exit_code, "--engine spacer" in result.output) == (2, True)


@pytest.mark.slow
def test_a_fault_of_a_contract_is_found_by_a_way_that_can_be_gone():
    """
    W-TURN-1: with a number used twice, steps lead from the beginning to a turn that bears it.
    """
    attempt = induction("window", changes=(Change("window", "s.turn + 1, 0, trigger", "s.turn, 0, trigger"),))
    steps = Steps(attempt.shape, attempt.observer, attempt.paths)
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step) if duty.rule == "W-TURN-1"]
    nothing = {place: [] for place in range(len(steps.places))}
    shown = Local(steps, Translator(), nothing, lambda: 60.0).show(goals, patience=60.0)

    assert shown.verdict == "not-proved"
    assert "turn/start" in steps.paths[shown.way[-1].path].events


@pytest.mark.slow
def test_a_contract_is_proved_without_hints():
    """
    Every rule of ``claim`` follows from a certificate that was found by machine and checked from scratch.

    In a process of its own: what a solver was asked before sways which clauses are learnt.
    """
    asked = [sys.executable, "-m", "turnproof", "prove", "claim", "--engine", "spacer", "--json", "-"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    proof = json.loads(done.stdout)

    assert done.returncode == 0, done.stderr
    assert {one["rule"]: one["verdict"] for one in proof["properties"] if one["verdict"] != "proved"} == {}
    assert {"C-CLAIM-4", "C-PRE-3", "C-TURN-2"} <= {one["rule"] for one in proof["properties"]}
    assert proof["certificate"]["facts"]["learnt"] > 0
