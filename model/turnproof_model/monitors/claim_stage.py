"""
Tell the operations of a ``claim`` candidate in the order in which they happened.

Here a waking send to an idle agent may run the loop before it returns, so that events of the loop lie between the
operations of one stack. After such a send the rest of the stack waits until an event shows that it was reached; what
stays silent is told when the stack has ended for certain, and its place is not relied on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from attrs import define

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, Mark, Monitor, Origin, Refused, Report, Unsure, operations
from turnproof_model.monitors.claim_facts import Told
from turnproof_model.monitors.claim_view import ClaimView
from turnproof_model.monitors.stage import Stage, thrown
from turnproof_model.observation import Observation

IN_STACK = (
    *(e.Spliced, e.Inserted, e.Discarded, e.Claimed, e.TurnStart, e.GateAborted),
    *(e.OpThrew, e.Warned, e.PluginEvent),
)


ENDING = (v.Cancel, v.Dispose)
"""Operations that end what is running."""


DROPPING = (v.Cancel, v.Dispose, v.Remove, v.Replace)
"""Operations behind a discard: with none of them told in a request, one that is due must have come."""


def in_stack(event: e.Event) -> bool:
    """Tell whether an event may be published before a caller's operation returns."""
    if isinstance(event, e.StatusChanged):
        return event.status == "running"
    if isinstance(event, e.GateOpened):
        return event.gate_kind == "pre-step"
    return isinstance(event, IN_STACK)


@define(eq=False)
class Frame:
    """
    Be one stack of operations: what is left of it, and the event it waits for.

    ``loose``: whether the loop may run in it, or before it. ``armed``: whether an event let it happen; an agent may
    hold back what is published inside an event, so that its listeners come behind the loop that runs there.
    """

    ops: deque[Told]
    awaited: Mark | None = None
    loose: bool = False
    armed: bool = False


class ClaimStage(Stage):
    """
    Run the monitors of contract ``claim``; ``held``: whether the loop runs inside an event that let it start.
    """

    view: ClaimView

    def __init__(self, view: ClaimView, kinds: Iterable[type[Monitor[Any]]], report: Report) -> None:
        super().__init__(view, kinds, report)
        self.frames: list[Frame] = []
        self.unsure: Counter[str] = Counter()
        self.dropping = False
        self.held = False

    def renew(self, report: Report) -> None:
        """Get ready for another stream, reporting to another report; nothing is remembered."""
        self.frames = []
        self.unsure.clear()
        self.dropping = self.held = False
        super().renew(report)

    def begin(self, request: v.Request, observation: Observation | None) -> None:
        """Take note of a request before its events; the observation tells only what was refused."""
        self.view.index += 1
        self.view.request = request
        self._threw = thrown(observation)
        if observation is not None and observation.refused is not None:
            self._tell(Refused(request, observation.refused))
            return
        origin: Origin = "batch" if isinstance(request, v.Batch) else "request"
        self.frames.append(Frame(deque(Issued(op, origin) for op in operations(request))))
        self._advance()

    def event(self, event: e.Event) -> None:
        """Take one event, between the operations that precede it and those that it lets happen."""
        if self.frames:
            self._catch_up(event)
        self.held = self.held and in_stack(event)
        self._tell(event)
        publisher = next((frame for frame in reversed(self.frames) if frame.awaited and frame.awaited(event)), None)
        if publisher is not None:
            publisher.awaited = None
        self._drop_finished()
        if self.view.arms and (fired := self.view.fired(event)):
            held_back = self.held or (publisher is not None and publisher.armed and publisher.loose)
            self.frames.append(Frame(deque(fired), loose=held_back, armed=True))
        if self.frames:
            self._advance()

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""
        self._end_frames(0)
        self.unsure.clear()
        self.dropping = self.held = False
        super().observe(observation)

    # -------------------------------------------------------------------------------------------- frames
    def _advance(self) -> None:
        """Perform what surely comes next: the innermost stack, up to an event that must be seen first."""
        while self.frames:
            frame = self.frames[-1]
            if frame.ops and not (frame.loose or frame.awaited is not None):
                self._perform_next(frame)
            elif not self._drop_finished():
                break
        self.view.untold = any(isinstance(item.op, ENDING) for frame in self.frames for item in frame.ops)

    def _drop_finished(self) -> bool:
        """Leave the stacks that have ended; what ran the loop ran it in the stack outside as well."""
        dropped = False
        while self.frames and not self.frames[-1].ops and self.frames[-1].awaited is None:
            ended = self.frames.pop()
            dropped = True
            if ended.loose and self.frames:
                self.frames[-1].loose = True
            self.held = self.held or (ended.loose and ended.armed)
        return dropped

    def _perform_next(self, frame: Frame) -> None:
        item = frame.ops.popleft()
        self.view.placed = not frame.loose and len(self.frames) == 1
        starts = item.origin != "deferred" and self.view.starts_driver(item)
        frame.awaited = self._perform(item)
        self.dropping = self.dropping or isinstance(item.op, DROPPING)
        if item.origin != "deferred" and item.op.method in self._threw:
            self.unsure[item.op.method] += 1
            starts = True  # what it publishes, if anything, comes before the rest of its stack
        frame.loose = frame.loose or starts
        self.view.placed = True

    def _catch_up(self, event: e.Event) -> None:
        """Perform what the event shows to have happened before it."""
        if isinstance(event, e.OpThrew) and self.unsure[event.method]:
            self.unsure[event.method] -= 1  # what threw has been told already
            return
        named = event.inserted if isinstance(event, e.Spliced) else ()
        told = next((item for name in named for item in self.view.awaiting.get(name, ())), None)
        late = type(told) is Unsure and told.origin == "deferred"
        if told is not None and not (late and self._waits(event)):
            self._took_effect(told)
            return
        unexplained = isinstance(event, e.Spliced) and event.outcome is not None and not self.dropping
        for depth in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[depth]
            reached = next((n for n, item in enumerate(frame.ops) if self.view.publishes(item.op, event)), None)
            if reached is not None and (named or unexplained or frame.loose or frame.awaited is None):
                self._end_frames(depth + 1)
                frame.loose = frame.loose or frame.awaited is not None
                for _ in range(reached + 1):
                    self._perform_next(frame)
                if isinstance(event, e.OpThrew):
                    self.unsure[event.method] -= 1
                return
        if not in_stack(event):
            self._end_frames(0)

    def _waits(self, event: e.Event) -> bool:
        """Tell whether an operation that is still to come in a stack may well publish this event."""
        return any(self.view.publishes(item.op, event) for frame in self.frames for item in frame.ops)

    def _took_effect(self, told: Told) -> None:
        """Leave the refusal to another operation of that method: what this one inserts is seen now."""
        if type(told) is Unsure and told.origin != "deferred" and self.unsure[told.op.method]:
            self.unsure[told.op.method] -= 1

    def _end_frames(self, depth: int) -> None:
        """Perform all that is left of the stacks from this depth on."""
        while len(self.frames) > depth:
            frame = self.frames[-1]
            frame.loose = frame.loose or frame.awaited is not None
            while frame.ops:
                self._perform_next(frame)
            self.frames.pop()
