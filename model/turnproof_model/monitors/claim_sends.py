"""
Judge delivery: how messages enter the inbox.

Rules: C-SEND-1, C-SEND-2, C-SEND-3.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Refused, Unsure, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.monitors.claim_facts import Splice
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.observation import Observation


def named_list(view: ClaimView, send: v.Send, target: str) -> bool:
    """Tell whether a send may enter this list: the one it names, or next-turn where the activity is aborted."""
    moved = send.wakeup and send.target == "next-step" and target == "next-turn" and view.aborted is not False
    return target == send.target or moved


def _stands_in(view: ClaimView, splice: Splice, send: v.Send, target: str) -> bool:
    """Tell whether an insertion goes by the name of a send that was perhaps refused, and is another command's."""
    elsewhere = splice.kind == "replace" or not named_list(view, send, target)
    return type(splice.told) is Unsure and elsewhere


class Presets(ClaimMonitor):
    """
    See that the presets send what they abbreviate, and that the caller's id is used.

    Rules: C-SEND-1
    """

    rule = "C-SEND-1"
    needs = frozenset({"log", "command"})

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """An insertion is of a message that somebody sent, in the list that its preset names."""
        splice = self.view.splice
        if splice is None:
            return
        for name in event.inserted:
            if name not in self.view.messages:
                self.violated(f"{name} entered {event.target}, though no message of that id was sent")
        op = splice.told.op if splice.told is not None else None
        if isinstance(op, v.Send) and op.preset and not _stands_in(self.view, splice, op, event.target):
            fits = named_list(self.view, op, event.target)
            self.expect(fits, f"{op.preset} put {op.message.id} into {event.target} instead of {op.target}")


class Sends(ClaimMonitor):
    """
    See that a send appends to the list it names, at once, and announces it once.

    Rules: C-SEND-2
    """

    rule = "C-SEND-2"
    needs = frozenset({"log", "inbox", "command"})

    def _start(self) -> None:
        """Forget what entered."""
        self.entered: set[str] = set()

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """The insertion stands at the end of its list and takes nothing out."""
        self.entered.update(event.inserted)
        splice = self.view.splice
        op = splice.told.op if splice is not None and splice.told is not None else None
        if splice is None or not isinstance(op, v.Send) or op.message.id not in event.inserted:
            return
        if _stands_in(self.view, splice, op, event.target):
            return
        if not named_list(self.view, op, event.target):
            self.violated(f"{op.message.id} entered {event.target}, though it was sent to {op.target}")
        elif splice.kind != "insert" or event.start != splice.length:
            self.violated(f"{op.message.id} entered {event.target} at {event.start}, not at the end, {splice.length}")
        else:
            self.exercised()

    @after(e.Inserted)
    def announced(self, event: e.Inserted) -> None:
        """The live event tells of an insertion that the log holds, once."""
        if self.view.stray:
            self.violated(f"{event.id} was announced as inserted, but no such insertion is in the log")

    @before(Observation)
    def ends(self, _: Observation) -> None:
        """By the end of the request every send has entered and was announced."""
        for name, position in self.view.live[e.Inserted]:
            self.violated(f"{name} was inserted, but never announced", position)
        self.view.live[e.Inserted].clear()
        entered, self.entered = self.entered, set()  # where a send of the same id did, which of the two can't be told
        if self.view.disposing is not False:
            return
        for told in (item for items in self.view.awaiting.values() for item in items):
            if type(told) is Issued and isinstance(told.op, v.Send) and not self._came(told.op.message.id, entered):
                self.violated(f"{told.op.message.id} was sent and not refused, but never entered the inbox")

    def _came(self, name: str, entered: set[str]) -> bool:
        return name in entered or self.view.find(name) is not None


class Duplicates(ClaimMonitor):
    """
    See that an id that is pending can't enter again, and one that has left can.

    Rules: C-SEND-3
    """

    rule = "C-SEND-3"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        """Forget a turn that must fail, and a refusal that must change nothing."""
        self.failing: tuple[int, str] | None = None
        self.refusal = -1

    @after(Refused)
    def refused(self, item: Refused) -> None:
        """A send is refused because its id is pending, or because the agent is gone."""
        op = item.op
        if not isinstance(op, v.Send):
            return
        self.refusal = self.view.index
        if self.view.find(op.message.id) is not None:
            self.exercised()
        elif self.view.disposing is False:
            self.violated(f"{op.message.id} was refused ({item.reason}), though no message of that id is pending")

    @after(Unsure)
    def threw(self, item: Unsure[Any]) -> None:
        """A send of a pending id, inside a stack that saw a refusal, is an occasion."""
        op = item.op
        if item.origin != "deferred" and isinstance(op, v.Send) and self.view.find(op.message.id) is not None:
            self.exercised()

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """No id is pending twice, and a refusal changes nothing."""
        pending = [entry.id for entry in self.view.pending()] if event.inserted else []
        for name in event.inserted:
            if pending.count(name) > 1:
                self.violated(f"{name} entered {event.target} while a message of that id was pending")
        if self.refusal == self.view.index:
            self.violated("a send was refused, but the inbox changed in that request")

    @before(e.ToolResult)
    def brought(self, event: e.ToolResult) -> None:
        """A tool that brings a pending id along fails its turn."""
        turn, outcome = self.view.turn, self.view.tools.get(event.call_id)
        names = [message.id for message in getattr(outcome, "additional_contexts", ())]
        pending = {entry.id for entry in self.view.pending()}
        twice = [name for n, name in enumerate(names) if name in pending or name in names[:n]]
        if turn is not None and twice and not self.view.arms and not self.view.doubt:
            self.failing = (turn.number, twice[0])

    @before(e.TurnEnd)
    def ends(self, event: e.TurnEnd) -> None:
        """The turn ends in error, unless it was aborted."""
        failing, self.failing = self.failing, None
        turn = self.view.turn
        if failing is None or turn is None or turn.number != failing[0] or turn.aborted or self.view.doubt:
            return
        message = f"a tool brought {failing[1]} along, which was pending, but turn {event.turn} ended {event.reason}"
        self.expect(event.reason == "error", message, self.view.position + 1)


MONITORS: tuple[type[ClaimMonitor], ...] = (Presets, Sends, Duplicates)
