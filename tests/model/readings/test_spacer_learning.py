"""Learn clauses on small machines: what holds is learnt from few states, what doesn't is never learnt."""

import numpy as np
import pytest
from attrs import evolve

from turnproof_model.prove.machine import Check, Path
from turnproof_model.prove.shape import Field, Shape
from turnproof_model.prove.solver import Translator
from turnproof_model.prove.spacer_certificate import Checker, Fact
from turnproof_model.prove.spacer_cubes import Cubes
from turnproof_model.prove.spacer_learning import Learning
from turnproof_model.prove.spacer_rarities import Rarities
from turnproof_model.prove.spacer_steps import Steps
from turnproof_model.prove.spacer_walks import Walks
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.terms import negate, show, var

AT, N, SEEN = var("at", "int"), var("n", "int"), var("g.seen", "int")
LATE, SURE, DONE = var("late", "bool"), var("sure", "bool"), var("done", "bool")
PLENTY = 500


class _Demands(Observer):
    """Demand nothing of states; the checks of paths are all there is."""

    def holds(self, m):
        """Demand nothing."""


def _path(action, place, after, *checks, when=()):
    return Path(action, ((place == AT, *when),), tuple(Check("R-1", check) for check in checks), after, ())


def _machine(*faults: Path) -> Steps:
    """
    Be a relay: who takes a late message is sure or counts it, two moves before that is checked.
    """
    truths = {name: Field(name, "truth") for name in ("late", "sure", "done")}
    shape = Shape(
        {"at": Field("at", "choice", ("rest", "hold", "end")), "n": Field("n", "number"), **truths},
        {"at": "rest", "n": 0, "late": False, "sure": False, "done": False},
        {"seen": 0},
    )
    paths = (
        _path("be sure", 0, {"at": 1, "late": True, "sure": True}),
        _path("count", 0, {"at": 1, "late": True, "g.seen": SEEN + 1}),
        _path("pass", 0, {"at": 1, "n": N + 1}),
        _path("hold", 1, {"at": 2, "done": True}),
        _path("end", 2, {"at": 0, "late": False, "sure": False, "g.seen": 0}, negate(LATE) | SURE | (SEEN > 0), DONE),
    )
    return Steps(shape, _Demands(), (*paths, *faults))


FAULTS = {
    "a late message that nobody counts": _path("slip", 0, {"at": 1, "late": True}),
    "a doubt on the way": _path("doubt", 1, {"at": 2, "sure": False, "done": True}),
}


def _learnt(steps: Steps, *, slack: int = 1):
    met = Walks(steps, batch=16).run(12)
    learning = Learning(steps, Translator(), dict.fromkeys(met, ()), met)
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step)]
    return learning, goals, [learning.show([goal], PLENTY, slack) for goal in goals]


def test_clauses_are_learnt_backwards_from_a_goal_that_fails():
    """
    Without a lemma, what is checked at the end is carried back to where it begins; the certificate of clauses holds.
    """
    learning, goals, shown = _learnt(_machine())
    duties = {step: tuple(duty for other, duty in goals if other is step) for step, _ in goals}
    certificate = {place: tuple(Fact(one, "learnt") for one in said) for place, said in learning.clauses.items()}

    assert shown == [True, True]
    assert list(Checker(learning.steps, duties).refusals(certificate)) == []
    assert learning.clauses[1] != []


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_nothing_is_learnt_for_a_goal_that_can_be_broken(fault):
    """
    What was learnt on the way to it is forgotten; what holds all the same is shown.
    """
    _, goals, shown = _learnt(_machine(fault), slack=3)

    assert {show(duty.condition): holds for (_, duty), holds in zip(goals, shown, strict=True)} == {
        show(negate(LATE) | SURE | (SEEN > 0)): False,
        "done": True,
    }


def test_what_can_be_broken_is_not_learnt_from_states_that_show_too_little():
    """
    Where no state beside the first was met, every clause looks right until a step says otherwise.
    """
    steps = _machine(FAULTS["a doubt on the way"])
    first = Walks(steps).run(0)[0]
    met = {0: first, **{place: first[:1] * 0 + place * (np.arange(first.shape[1]) == 0) for place in (1, 2)}}
    learning = Learning(steps, Translator(), dict.fromkeys(met, ()), met)
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step)]

    assert learning.show(goals[:1], PLENTY, 3) is False
    assert learning.clauses == {0: [], 1: [], 2: []}


def _rows(steps: Steps, **values: int):
    """Be one state that was met at each position: that of the beginning, but for some values."""
    row = [int(values.get(name, steps.start[name])) for name in steps.sorts]
    at = list(steps.sorts).index("at")
    return {place: np.array([[*row[:at], place, *row[at + 1 :]]]) for place in range(3)}


def test_what_does_not_hold_at_the_beginning_is_not_learnt():
    """
    Each step keeps that some message waits, and every state that was met has one; but at first none does.
    """
    steps = _machine(_path("take", 0, {"at": 1}, N > 0))
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step) if show(duty.condition) == "(0 < n)"]
    learning = Learning(steps, Translator(), dict.fromkeys(range(3), ()), _rows(steps, n=1))

    assert len(goals) == 1
    assert learning.show(goals, PLENTY, 3) is False


def test_a_state_that_was_met_teaches_what_is_met_behind_it():
    """
    From one state of each position, none of them late, it is found out that late messages come.
    """
    steps = _machine()
    goals = [(step, duty) for step in steps.steps for duty in steps.duties(step) if show(duty.condition) != "done"]
    learning = Learning(steps, Translator(), dict.fromkeys(range(3), ()), _rows(steps))

    assert learning.show(goals, PLENTY, 3) is True
    assert [show(clause) for clause in learning.clauses[1]] != ["not late"]


def test_learning_ends_where_its_questions_do():
    """
    A goal that needs several questions isn't shown by one, and nothing of it is kept.
    """
    learning, goals, _ = _learnt(_machine())
    poor = Learning(learning.steps, Translator(), dict.fromkeys(learning.met, ()), learning.met)

    assert poor.show(goals[:1], 0, 1) is False
    assert poor.asked <= 2
    assert not any(poor.clauses.values())


def test_what_is_learnt_is_the_same_every_time():
    """
    Lots are drawn from a seed.
    """
    first, again = (
        {place: [show(one) for one in said] for place, said in _learnt(_machine())[0].clauses.items()} for _ in range(2)
    )

    assert first == again


def test_a_cube_holds_in_its_state_and_in_none_that_was_met():
    """
    Of many literals few are left, and no state that was met has them all.
    """
    steps = _machine()
    met = Walks(steps, batch=16).run(12)
    state = {**steps.start, "at": 1, "n": 0, "late": True, "sure": False, "g.seen": 0, "done": False}
    cubes = Cubes(steps, dict(met)).special(1, state, list(steps.sorts), lambda: False)

    assert cubes != []
    assert all(len(cube) <= 3 for cube in cubes)
    assert {show(one) for cube in cubes for one in cube} >= {"late", "not sure"}


def test_walks_by_rarity_meet_what_is_rare_more_often():
    """
    Of states that differ in one truth, few of many, about as many of either kind are chosen.
    """
    steps = _machine()
    order = list(steps.sorts)
    rows = np.zeros((400, len(order)), dtype=np.int64)
    rows[:4, order.index("late")] = 1
    rare = Rarities(steps, met={0: rows}, newest=0.0)
    common = evolve(Walks(steps), met={0: rows})
    shares = [walk._some(0)[:, order.index("late")].mean() for walk in (common, rare)]

    assert shares[0] < 0.1
    assert 0.3 < shares[1] < 0.7
