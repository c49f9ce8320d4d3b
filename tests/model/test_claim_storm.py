"""Random schedules keep the conservation laws of contract ``claim``, whatever a candidate lives by."""

from __future__ import annotations

from collections import Counter
from random import Random

import claim_storm
import pytest
from attrs import define, field
from claim_notation import parse

from turnproof_model import events as e
from turnproof_model.claim import BOOK
from turnproof_model.claim_state import ClaimState
from turnproof_model.machine import Machine
from turnproof_model.observation import InboxView, Observation
from turnproof_model.surroundings import Setting

SCHEDULES = 60
COMMANDS = 40


@define
class Ledger:
    """Follow the events of one session, knowing nothing of the machine's state."""

    lists: dict[str, list[str]] = field(factory=lambda: {"next-turn": [], "next-step": []})
    entered: Counter[str] = field(factory=Counter)
    left: Counter[str] = field(factory=Counter)
    turn: int = 0
    open_turn: bool = False
    open_step: bool = False
    committed: list[str] = field(factory=list)

    def see(self, event: e.Event) -> None:
        """Take one event into account."""
        match event:
            case e.Spliced(target=target, start=start, removed_count=removed, inserted=inserted):
                ids = self.lists[target]
                assert 0 <= start <= len(ids) - removed
                self.left.update(ids[start : start + removed])
                self.entered.update(inserted)
                ids[start : start + removed] = inserted
            case e.TurnStart(turn=turn):
                assert not self.open_turn
                assert turn == self.turn + 1
                self.turn, self.open_turn = turn, True
            case e.TurnEnd(turn=turn):
                assert (self.open_turn, self.open_step, turn) == (True, False, self.turn)
                self.open_turn = False
            case e.StepStart() | e.StepEnd():
                assert self.open_turn
                assert self.open_step is isinstance(event, e.StepEnd)
                self.open_step = not self.open_step
            case e.UserMessage(id=message_id):
                assert self.open_step
                self.committed.append(message_id)
            case e.RequestMade(messages=messages):
                assert [seen.id for seen in messages if seen.id is not None] == self.committed

    def settle(self, now: Observation) -> None:
        """Compare the session with what can be seen at the end of a request."""
        assert now.inbox == InboxView(tuple(self.lists["next-turn"]), tuple(self.lists["next-step"]))
        assert self.entered - self.left == Counter(self.lists["next-turn"] + self.lists["next-step"])
        if now.status == "idle":
            assert (self.open_turn, self.open_step, now.gates) == (False, False, ())
        else:
            assert now.gates


def storm(seed: int, *capabilities: str) -> tuple[set[str], Ledger]:
    """Perform one random schedule; answer the rules whose premise occurred, and the ledger."""
    random = Random(seed)
    setting = Setting(dict.fromkeys(capabilities, True))
    machine: Machine[ClaimState] = Machine(BOOK, setting, claim_storm.Whims(random, {}))
    machine.ask(claim_storm.reset(random))
    ledger, cited = Ledger(), set[str]()
    for _ in range(COMMANDS):
        command = claim_storm.command(random, machine)
        now = machine.ask(command)
        if command.method == "resume":
            ledger.open_turn = ledger.open_step = False
        for event in now.events:
            ledger.see(event)
        ledger.settle(now)
        cited.update(machine.cited, *(demand.rules for demand in machine.demands))
    return cited, ledger


@pytest.mark.parametrize("capabilities", [("reference",), ("reference", "sessionReentry")])
def test_no_schedule_breaks_a_law_of_conservation(capabilities):
    """C-CLAIM-4, C-EDIT-2, C-TURN-1, C-STEP-1, C-REQ-1: splices replay to the lists; nothing is lost or made up."""
    ledgers = [storm(seed, *capabilities)[1] for seed in range(SCHEDULES)]

    assert sum(ledger.turn for ledger in ledgers) > SCHEDULES
    assert sum(len(ledger.committed) for ledger in ledgers) > SCHEDULES


def test_every_rule_is_exercised_by_random_schedules():
    """The premise of each rule is reachable, and the machine says so."""
    cited = set().union(*(storm(seed, "reference")[0] for seed in range(SCHEDULES)))

    assert cited == {
        *(f"C-SEND-{n}" for n in range(1, 5)),
        *(f"C-WAKE-{n}" for n in range(1, 4)),
        *(f"C-CLAIM-{n}" for n in range(1, 5)),
        *(f"C-PRE-{n}" for n in range(1, 6)),
        *(f"C-TURN-{n}" for n in range(1, 7)),
        *(f"C-STEP-{n}" for n in range(1, 6)),
        *("C-REQ-1", "C-EDIT-1", "C-EDIT-2", "C-DIS-1", "C-STAT-1", "C-STAT-2", "C-XREF-1"),
        *(f"C-CAN-{n}" for n in range(1, 6)),
        *(f"C-LOG-{n}" for n in range(1, 5)),
    }


def test_a_schedule_replays_exactly():
    """The machine is deterministic: the same seed makes the same session."""
    first, second = storm(7, "reference"), storm(7, "reference")

    assert first == second


INSIDE = ("followup n", "quiet n", "prepend next-turn n", "remove q", "remove p", "replace q n", "cancel")


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("more", ["", "; prepend next-turn m; cancel", "; followup m; remove n"])
def test_a_log_replays_to_the_lists_that_a_listener_of_a_claim_changes(inside, more):
    """C-EDIT-2, C-CLAIM-1: the claim has taken its prompt, although the log says so one splice later."""
    machine: Machine[ClaimState] = Machine(BOOK, Setting({"sessionReentry": True}), claim_storm.Whims(Random(1), {}))
    ledger = Ledger()
    taken = "on agent/inbox/spliced target=next-step removedCount=1 { " + inside + more + " }"
    for command in parse("inject i; quiet p; quiet q; " + taken + "; followup a"):
        now = machine.ask(command)
        for event in now.events:
            ledger.see(event)
        ledger.settle(now)

    assert [event.id for event in now.events if isinstance(event, e.Claimed)][:2] == ["i", "p"]
