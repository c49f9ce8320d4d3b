"""The explorer checks what the proof proves, finds deliberate faults of the rules, and replays what it finds."""

from __future__ import annotations

from functools import cache

import pytest

from turnproof_model.contracts import rule_book
from turnproof_model.explore.checks import check, covers, passes
from turnproof_model.explore.counterexample import STAGES, counterexample
from turnproof_model.explore.grounds import product_of
from turnproof_model.explore.liveness import liveness
from turnproof_model.explore.plays import Part, Plays
from turnproof_model.explore.product import Product, Step, tagged
from turnproof_model.explore.replay import ReplayError, replay
from turnproof_model.explore.search import DEFAULT_BOUNDS, Search
from turnproof_model.prove.machine import UNCARRIED
from turnproof_model.prove.proof import induction
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.loading import Change
from turnproof_model.readings.observers import observer_of
from turnproof_model.readings.observers_window import WindowObserver
from turnproof_model.readings.reading import Surroundings

CONTRACTS = ["window", "claim"]
FAULTS = {
    "window": Change("window_commands", "s.queued.push(item)", "s.queued.unshift(item)"),
    "claim": Change("claim_state", "(0, queue.unshift(item)) if ahead else", "(0, queue.unshift(item)) if True else"),
}
RULES = {"window": "W-FIFO-7", "claim": "C-SEND-2"}


@cache
def _checked(contract):
    return check(contract, {"messages": 2, "cancels": 1, "tools": 1})


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_rule_breaks_within_small_bounds(contract):
    """All passes see everything within their bounds, and no demand fails."""
    checked = _checked(contract)

    assert (checked.ended, checked.violation) == ("", None)
    names = {"everything", "one message", "two messages", "other freedoms"}
    assert {one.name for one in checked.passes} == names | ({"a reference"} if contract == "window" else set())


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_rule_that_is_proved_is_demanded_of_somewhere_by_the_explorer(contract):
    """What the observers demand in the proof, they demand on the way of some schedule, too: nothing is vacuous."""
    proved = {check.rule for path in induction(contract).paths for check in path.checks}
    more = check(contract, {"messages": 1, "disposals": 1, "resumes": 1, "edits": int(contract == "claim")})

    assert more.violation is None
    assert proved - {*_checked(contract).rules, *more.rules} == set()


@cache
def _searched(contract, tags, **bounds):
    grown = forest(contract, tagged(bounds, tags), watched=True)
    product = Product.of(Layout(Program(grown)), observer_of(contract))
    return product.run(), product


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_rule_breaks_where_a_listener_issues_a_command(contract):
    """W-PUB-1, C-EDIT-2: with one re-entrant command anywhere every demand holds."""
    assert _searched(contract, "", messages=1, cancels=1, reentrant=1)[0] == ""


@pytest.mark.parametrize(
    ("contract", "tags", "bounds"),
    [
        ("window", "", {"messages": 1, "cancels": 1, "reentrant": 1}),
        ("window", "AB", {"messages": 2, "cancels": 1}),
        ("window", "A", {"messages": 1, "disposals": 1, "resumes": 1, "tools": 1}),
        ("window", "A", {"messages": 3, "references": 1}),
        ("claim", "", {"messages": 1, "cancels": 1, "reentrant": 1}),
        ("claim", "AB", {"messages": 2, "cancels": 1}),
        ("claim", "A", {"messages": 2, "edits": 1}),
    ],
)
def test_what_an_observer_remembers_over_terms_it_remembers_over_real_messages(contract, tags, bounds):
    """Ways to pairs from all over the search replay, and the ghosts agree after every step."""
    ended, product = _searched(contract, tags, **bounds)
    met = list(product.came)
    chosen = [*met[:: len(met) // 12], *met[-3:]]

    assert ended == ""
    assert max(len(replay(product.layout, product.plays.observer, product.way(pair))) for pair in chosen) > 8


PHASES = tuple(rule_book("window").phases)


class Demanding(WindowObserver):
    """Demand between moves what often doesn't hold."""

    def holds(self, m):
        """Let the loop be at every other place only, which no ghost tells."""
        m.check("place", m.s.at.among(*PHASES[::2]))


def test_what_is_looked_up_of_a_script_is_what_playing_it_would_say():
    """An end that was kept for some bits of a state is that of every state that has them, broken rules included."""
    _, product = _searched("window", "AB", messages=2, cancels=1)
    plays, bits = Plays(product.layout, Demanding()), product.layout.bits
    plays.memories = list(product.plays.memories)
    looked_up = broken = 0
    for pair in list(product.came)[::2]:
        state, memory = pair & (1 << bits) - 1, pair >> bits
        for number, _ in product.successors(state):
            part = plays.part(product.transitions[number].script)
            kept, fresh = plays.ended(part, memory, state), plays.ended(Part(part.script, part.keys), memory, state)
            assert plays.memories[kept.memory] == plays.memories[fresh.memory]
            assert kept.broken == fresh.broken
            looked_up += 1
            broken += bool(fresh.broken)

    assert looked_up > 1000
    assert 0 < broken < looked_up


def test_what_a_proof_cannot_carry_is_covered_at_bounds_that_the_passes_have():
    """The bounds that are named for re-entrant commands are those of a search with listeners."""
    bounds, command = covers("window", "re-entrant commands")

    assert "re-entrant commands" in UNCARRIED
    assert bounds["reentrant"] > 0
    assert "one message and listeners" in {one.name for one in passes("window", {**DEFAULT_BOUNDS, **bounds})}
    assert command.startswith("turnproof explore window --bound messages=")
    assert covers("window", "shown text") is None


def test_a_pair_is_followed_beside_a_listener_at_bounds_of_its_own():
    """Three messages and a cancel at most, whatever else there may be; alone, a message has no pair."""
    found = {one.name: one.within for one in passes("claim", {**DEFAULT_BOUNDS, "messages": 4, "edits": 2})}
    pair = {name: amount for name, amount in found["two messages and listeners"].bounds.items() if amount}

    assert pair == {"messages": 3, "cancels": 1, "reentrant": 1}
    assert found["two messages and listeners"].tags == ("A", "B")
    assert found["two messages"].bounds["messages"] == 4
    for fewer in ({"messages": 1}, {"reentrant": 0}):
        names = {one.name for one in passes("claim", {**DEFAULT_BOUNDS, **fewer})}
        assert "two messages and listeners" not in names


def test_an_order_that_a_listener_turns_round_is_seen_by_no_other_pass():
    """W-FIFO-7: what is announced before it is queued lets a listener's message overtake; it takes a pair to see it."""
    fault = Change(
        "window_commands",
        "    s.queued = s.queued.push(item)\n"
        '    m.cite("W-WAKE-1" if item.waking else "W-WAKE-2")\n'
        '    m.publish(Enqueue(item.id, "queued"), *rules, "W-FIFO-1", "W-FIFO-4")\n',
        '    m.publish(Enqueue(item.id, "queued"), *rules, "W-FIFO-1", "W-FIFO-4")\n'
        "    s.queued = s.queued.push(item)\n",
    )
    bounds = {**dict.fromkeys(DEFAULT_BOUNDS, 0), "messages": 2, "reentrant": 1}
    ended = {}
    for one in passes("window", bounds):
        if one.name not in {"a reference", "other freedoms"}:
            product = product_of("window", tagged(one.within.bounds, one.within.tags), (fault,))
            ended[one.name] = product.run(), product

    broken = {name for name, (found, _) in ended.items() if found}
    last = ended["two messages and listeners"][1].counterexample()[-1]
    assert broken == {"two messages and listeners"}
    assert "W-FIFO-7" in last.broken


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("        inject(m, s, op.snapshot)\n", "", "W-XREF-1"),
        (
            "        inject(m, s, op.snapshot)\n        stage_steering(m, s, op.message)\n",
            "        stage_steering(m, s, op.message)\n        inject(m, s, op.snapshot)\n",
            "W-XREF-1",
        ),
    ],
)
def test_a_snapshot_that_is_not_staged_with_its_prompt_is_seen_by_the_pass_with_a_reference(old, new, rule):
    """W-XREF-1: one that is lost, and one that comes behind the steering; what refers to nothing doesn't show it."""
    bounds = {**dict.fromkeys(DEFAULT_BOUNDS, 0), "messages": 2}
    products = {
        one.name: product_of(
            "window", tagged(one.within.bounds, one.within.tags), (Change("window_commands", old, new),)
        )
        for one in passes("window", bounds)
        if not one.within.policies
    }
    broken = {name for name, product in products.items() if product.run()}

    assert broken == {"a reference"}
    assert rule in products["a reference"].counterexample()[-1].broken


# ------------------------------------------------------------------------------------------------ faults
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_fault_of_the_rules_is_found_with_a_short_schedule_that_replays(contract):
    """The rule that the fault breaks is named by a schedule of at most ten commands on real messages."""
    found = counterexample(contract, (FAULTS[contract],))

    assert found is not None
    assert RULES[contract] in found.rules
    assert found.commands <= 10
    assert [step.broken for step in found.steps[:-1]] == [()] * (len(found.steps) - 1)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_rules_as_they_are_have_no_counterexample_in_the_first_slices(contract):
    """What is found of a fault is no fault of the explorer: nothing is found without one."""
    stage = STAGES[contract][0]

    assert counterexample(contract, stages=(stage,)) is None


def test_a_schedule_of_faulty_rules_does_not_replay_on_sound_ones():
    """A replay that shows something else is refused, never passed off as the same."""
    change = FAULTS["window"]
    grown = forest("window", tagged({"messages": 2}, "AB"), changes=(change,), watched=True)
    product = Product.of(Layout(Program(grown)), observer_of("window"))
    assert product.run() == "broken"

    steps = product.counterexample()
    assert replay(product.layout, product.plays.observer, steps, (change,))[-1].broken
    with pytest.raises(ReplayError, match="must replay on real messages"):
        replay(product.layout, product.plays.observer, steps)


def test_a_counterexample_needs_a_broken_rule():
    """Where everything holds there is nothing to tell."""
    product = Product.of(Layout(Program(forest("window", {"messages": 1}, watched=True))), observer_of("window"))
    assert product.run() == ""

    with pytest.raises(LookupError, match="everything that was seen holds"):
        product.counterexample()


# ------------------------------------------------------------------------------------------------ liveness
def _liveness(contract, bounds, *changes):
    search = Search(Layout(Program(forest(contract, bounds, Surroundings.of(contract), changes=changes))))
    assert search.run() == ""
    return {one.name: one for one in liveness(search)}, search


@pytest.mark.parametrize("contract", CONTRACTS)
def test_an_agent_can_always_get_back_to_rest(contract):
    """W-STAT-2, C-STAT-1: no deadlock, no livelock, and a way home from every state, disposal included."""
    found, _ = _liveness(contract, {"messages": 2, "cancels": 1, "tools": 2, "disposals": 1})

    assert {name: one.violating for name, one in found.items()} == dict.fromkeys(found, 0)
    assert len(found) == 3


def test_a_loop_that_sleeps_through_a_prompt_is_a_deadlock():
    """W-WAKE-1: an agent that stays idle with a waking prompt doesn't rest; the way there replays."""
    asleep = Change(
        "window",
        "True\n    return s.queued.has_waking",
        "True\n    return s.queued.has_waking and s.outbox.empty",
    )
    found, search = _liveness("window", {"messages": 3}, asleep)
    stuck = found["no deadlock"]

    assert stuck.violating
    assert replay(search.layout, None, stuck.way, (asleep,))
    assert found["always back to rest"].violating


def test_a_loop_that_goes_round_by_itself_is_a_livelock():
    """A phase that leads back to itself is a cycle of moves without any command."""
    round_and_round = Change("window", 'None\n    s.at = "supplements"', 'None\n    s.at = "prompt"')
    found, _ = _liveness("window", {"messages": 1}, round_and_round)

    assert found["no livelock"].cycle
    assert all(isinstance(one, Step) for one in found["no livelock"].way)
