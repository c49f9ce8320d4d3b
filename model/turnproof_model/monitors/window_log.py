"""
Judge the log: values as accepted, one kind of input, history that survives a resume, goals and references.

Rules: W-LOG-1 to -4, W-GOAL-1, W-XREF-1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import attrs

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Refused, Unsure, before
from turnproof_model.monitors.window_facts import supplied
from turnproof_model.monitors.window_monitor import WindowMonitor
from turnproof_model.monitors.window_steps import brief, same
from turnproof_model.observation import Observation


class SameValue(WindowMonitor):
    """Every message in the log is the accepted value."""

    rule = "W-LOG-1"
    needs = frozenset({"log", "inbox", "command"})

    @before(e.UserMessage, e.SteeringMessage)
    def _written(self, event: e.UserMessage | e.SteeringMessage) -> None:
        known = self.view.messages.get(event.id)
        if known is None:
            return
        source = event.source if isinstance(event, e.UserMessage) else None
        if self.view.may_happen(v.Release):  # a decision that isn't known may have replaced the content
            return
        content = self._replacement(event.id)
        self.expect(
            any(
                source in (None, message.source.kind) and event.text in (None, message.text, content)
                for message in known
            ),
            f"{event.id!r} was written with source {source!r} and text {event.text!r}, not as it was accepted",
        )

    def _replacement(self, item_id: str) -> str | None:
        opening = self.view.opening
        if opening is None or opening.prompt is None or opening.prompt.id != item_id or opening.admission is None:
            return None
        decision = opening.admission.decision
        return decision.content if isinstance(decision, v.Allow) else None


class OneKindOfInput(WindowMonitor):
    """Supplementary input is told by its source alone: no type of its own, nothing wrapped around it."""

    rule = "W-LOG-2"
    needs = frozenset({"log", "request"})

    @before(e.PluginEvent)
    def _of_other_type(self, event: e.PluginEvent) -> None:
        if event.name == "context/message":
            self.violated("context/message was appended: supplementary input is a user/message")

    @before(e.RequestMade)
    def _requested(self, event: e.RequestMade) -> None:
        for seen in event.messages:
            known = [] if seen.id is None or seen.id in self.view.entering else self.view.messages.get(seen.id, [])
            if len(known) == 1 and known[0].source.kind != "user" and seen.text is not None:
                self.expect(
                    seen.text == known[0].text,
                    f"{seen.id!r} is shown as {seen.text!r}: its content is {known[0].text!r}",
                )


class HistoryKept(WindowMonitor):
    """A resumed agent goes on over the whole history, an unclosed turn closed as interrupted."""

    rule = "W-LOG-3"
    needs = frozenset({"log", "request", "command"})

    def _start(self) -> None:
        self.resumed = False

    def _renewed(self) -> None:
        self.resumed = True

    @before(e.TurnEnd)
    def _closed(self, event: e.TurnEnd) -> None:
        request = self.view.request
        if isinstance(request, v.Resume) and request.mode in ("crash", "fork"):
            self.expect(event.reason == "interrupted", f"turn {event.turn}, cut off, was closed as {event.reason}")

    @before(e.RequestMade)
    def _requested(self, event: e.RequestMade) -> None:
        view = self.view
        if not self.resumed:
            return
        self.resumed = False
        wanted = view.messages_shown(None if view.step is None else view.step.lines)
        lost = [brief(seen) for seen in wanted if not any(same(seen, shown) for shown in event.messages)]
        self.expect(not lost, f"the first request after the resume lacks {', '.join(lost)}")


class NumbersGoOn(WindowMonitor):
    """A resumed agent continues the turn numbers of its log."""

    rule = "W-LOG-4"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        self.resumed = False

    def _renewed(self) -> None:
        self.resumed = True

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        if self.resumed:
            wanted = self.view.last_number + 1
            self.expect(
                event.turn == wanted, f"the resumed agent opened turn {event.turn}: its log goes on with {wanted}"
            )
        self.resumed = False


def goal_state(messages: list[v.Message]) -> dict[str, object] | None:
    """
    Fold committed messages into a goal state; None where content and typed source disagree.

    Args:
        messages: committed goal messages in log order.
    """
    state: dict[str, object] | None = None
    rounds = 0
    for message in messages:
        round_number, change = message.source.details.get("round"), message.source.details.get("change")
        if not isinstance(round_number, int) or isinstance(round_number, bool) or round_number < 0:
            return None
        if (round_number == 0) != isinstance(change, Mapping):
            return None
        if isinstance(change, Mapping):
            if message.text not in _spellings(change):
                return None
            state = {**(state or {}), **change}
        rounds = max(rounds, round_number)
    return {"state": state, "rounds": rounds}


def _spellings(change: Mapping[str, object]) -> tuple[str, ...]:
    """Write a change as a goal message does; JSON leaves open whether other alphabets are escaped."""
    return tuple(
        "goal " + json.dumps(change, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii_only)
        for ascii_only in (True, False)
    )


class Goals(WindowMonitor):
    """The goal state is folded from the log, and a disagreement of content and source is refused."""

    rule = "W-GOAL-1"
    needs = frozenset({"log", "command", "request"})

    @before(Observation)
    def _answered(self, observation: Observation) -> None:
        if not isinstance(self.view.request, v.Goal) or observation.refused is not None:
            return
        known, wanted = self._folded()
        if known:
            self.expect(
                observation.goal == wanted and wanted is not None,
                f"the goal is {observation.goal}: the log folds to {wanted or 'a contradiction, which is refused'}",
            )

    @before(Refused)
    def _refused(self, refusal: Refused) -> None:
        known, wanted = self._folded()
        if isinstance(refusal.op, v.Goal) and known:
            self.expect(wanted is None, f"the goal was refused ({refusal.reason}): the log folds to {wanted}")

    def _folded(self) -> tuple[bool, dict[str, object] | None]:
        """Fold the committed goal messages; unknown where an id stands for several values."""
        goals: list[v.Message] = []
        for seen in self.view.messages_shown():
            versions = [] if seen.id is None else self.view.messages.get(seen.id, [])
            if len(versions) > 1:
                return False, None
            if versions and versions[0].source.kind == "goal":
                goals.append(attrs.evolve(versions[0], text=versions[0].text if seen.text is None else seen.text))
        return True, goal_state(goals)


class References(WindowMonitor):
    """A snapshot travels in its prompt's own admission, or beside steering; the log holds two plain messages."""

    rule = "W-XREF-1"
    needs = frozenset({"log", "inbox", "command"})

    def _start(self) -> None:
        self.pairs: dict[str, str] = {}
        """Snapshot id -> the prompt it goes with, outside the window."""

    @before(v.Reference)
    def _referred(self, issued: Issued[v.Reference]) -> None:
        if self.view.window() is False and self.view.disposing is False:
            self.pairs[issued.op.snapshot.id] = issued.op.message.id
        else:
            self.pairs.pop(issued.op.snapshot.id, None)

    @before(v.Send)
    def _again(self, issued: Issued[v.Send]) -> None:
        self.pairs.pop(issued.op.message.id, None)

    @before(Unsure)
    def _perhaps_again(self, _: Unsure[v.Operation]) -> None:
        self.pairs.clear()

    @before(v.Release)
    def _supplied(self, issued: Issued[v.Release]) -> None:
        for item_id in supplied(issued.op):
            self.pairs.pop(item_id, None)

    @before(e.Enqueue)
    def _entered(self, event: e.Enqueue) -> None:
        send, view = self.view.next_send(event.id), self.view
        if send is None or not isinstance(send.op, v.Reference) or view.disposing is not False:
            return
        inside = view.window()
        if inside is not None:
            wanted = "steering" if inside else "queued"
            self.expect(event.placement == wanted, f"prompt {event.id!r} entered as {event.placement}: it is {wanted}")

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        opening = self.view.opening
        if opening is not None and opening.prompt is not None and opening.prompt.id == event.id:
            return  # the prompt itself may be meant, or context of its id
        prompt = self.pairs.pop(event.id, None)
        if prompt is None or event.id in self.view.direct:
            return
        with_it = opening is not None and opening.prompt is not None and opening.prompt.id == prompt
        written = with_it and opening is not None and prompt in opening.written
        self.expect(written, f"snapshot {event.id!r} wasn't written behind {prompt!r}, in the turn that prompt opened")


MONITORS: tuple[type[WindowMonitor], ...] = (SameValue, OneKindOfInput, HistoryKept, NumbersGoOn, Goals, References)
"""The monitors of this family, in the order of their rules."""
