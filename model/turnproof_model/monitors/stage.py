"""
Run monitors over a stream: one view, folded once, with a table of who wants to see what.

The operations of one stack are told one by one. Where the view knows the event that an operation publishes before it
returns (its *mark*), the next operation waits for it, so that both are told in the order in which they happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from attrs import define, frozen

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import (
    Finish,
    Issued,
    Item,
    Mark,
    Monitor,
    Origin,
    Phase,
    Refused,
    Report,
    Resumed,
    Sight,
    Unsure,
    operations,
)
from turnproof_model.monitors.view import View
from turnproof_model.observation import Observation, Profile

_Method = Callable[[Any], None]

PHASES: tuple[Phase, Phase] = ("before", "after")

SYNCHRONOUS = (
    *(e.Enqueue, e.Discard, e.CancelRequested, e.GateAborted),
    *(e.Spliced, e.Inserted, e.Discarded),
    *(e.OpThrew, e.Warned, e.PluginEvent),
)
"""What a caller's operation publishes before it returns; any other event says that the open stacks have ended."""


@define(eq=False)
class _Stack:
    """Be the operations of one stack that are still to come, the one told last, and the mark it waits for."""

    ops: deque[Issued[Any] | Unsure[Any]]
    told: Issued[Any] | None = None
    awaited: Mark | None = None
    begun: bool = False


@frozen(eq=False)
class _Hearing:
    """Hold who hears of items of one class, in order; ``moves``: whether such an item is an event."""

    moves: bool
    before: list[_Method]
    folds: list[_Method]
    after: list[_Method]


def thrown(observation: Observation | None) -> frozenset[str]:
    """Name the methods that the agent refused inside a request."""
    if observation is None or e.OpThrew not in map(type, observation.events):
        return frozenset()
    return frozenset([event.method for event in observation.events if type(event) is e.OpThrew])


class Stage:
    """Run monitors over one view."""

    def __init__(self, view: View, kinds: Iterable[type[Monitor[Any]]], report: Report) -> None:
        """
        Make the monitors that this stream can show to.

        Args:
            view: the view of the contract, new.
            kinds: monitor classes in the order of their rules.
            report: where they report; a rule that none of its monitors can judge is entered as not applicable.
        """
        chosen, self._missing = _choose(tuple(kinds), view.sees, _declared(view.profile))
        self.view = view
        self.report = report
        self.report.not_applicable |= self._missing
        self.kinds = chosen
        self.monitors = [kind(view, report) for kind in chosen]
        self._table: dict[type, _Hearing] = {}
        self._threw: frozenset[str] = frozenset()
        self._stacks: list[_Stack] = []

    def renew(self, report: Report) -> None:
        """Get ready for another stream, reporting to another report; nothing is remembered."""
        self.report = report
        self.report.not_applicable |= self._missing
        self._threw, self._stacks = frozenset(), []
        self.view.renew()
        for monitor in self.monitors:
            monitor.renew(report)

    # -------------------------------------------------------------------------------------------- feeding
    def begin(self, request: v.Request, observation: Observation | None) -> None:
        """Take note of a request before its events; the observation tells only what was refused."""
        self.view.index += 1
        self.view.request = request
        self._threw = thrown(observation)
        if observation is not None and observation.refused is not None:
            self._tell(Refused(request, observation.refused))
            return
        origin: Origin = "batch" if isinstance(request, v.Batch) else "request"
        self._stacks.append(_Stack(deque(Issued(op, origin) for op in operations(request))))
        self._go_on()

    def event(self, event: e.Event) -> None:
        """Take one event, then the operations that come next in the stacks that are open."""
        if self._stacks:
            self._catch_up(event)
        self._tell(event)
        for stack in reversed(self._stacks):
            if stack.awaited is not None and stack.awaited(event):
                stack.awaited = None
                break
        if self.view.arms and (fired := self.view.fired(event)):
            self._stacks.append(_Stack(deque(fired)))
        if self._stacks:
            self._go_on()

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""
        self._run_out()
        if isinstance(self.view.request, v.Resume) and observation.refused is None:
            self._tell(Resumed(self.view.request))
        self._tell(observation)

    def finish(self) -> None:
        """Take note of the end of the schedule."""
        self._tell(Finish())

    # -------------------------------------------------------------------------------------------- stacks
    def _go_on(self) -> None:
        """Perform what is next in the innermost stack, up to an operation whose mark must be seen first."""
        while self._stacks and self._stacks[-1].awaited is None:
            stack = self._stacks[-1]
            if stack.ops:
                self._next(stack)
            else:
                self._stacks.pop()

    def _catch_up(self, event: e.Event) -> None:
        """
        Perform what the event shows to have happened before it.

        An agent may keep what is published inside an event until that event is out, so that an outer stack goes on
        before the marks of an inner one are seen.
        """
        for stack in reversed(self._stacks):
            if stack.awaited is not None and (stack.awaited(event) or self._begins(stack, event)):
                return
            reached = self._reached(stack, event)
            if reached is not None:
                for _ in range(reached + 1):
                    self._next(stack)
                return
        if not isinstance(event, SYNCHRONOUS):
            self._run_out()

    def _begins(self, stack: _Stack, event: e.Event) -> bool:
        """Tell whether the event is the first that the operation told last publishes, ahead of its mark."""
        begins = not stack.begun and stack.told is not None and self.view.begins(stack.told, event)
        stack.begun = stack.begun or begins
        return begins

    def _next(self, stack: _Stack) -> None:
        item = stack.ops.popleft()
        stack.told, stack.begun = (item if type(item) is Issued else None), False
        stack.awaited = self._perform(item)

    def _reached(self, stack: _Stack, event: e.Event) -> int | None:
        """Find the operation of a waiting stack that publishes this event."""
        for place, item in enumerate(stack.ops):
            mark = self.view.mark(item) if type(item) is Issued else None
            if mark is not None and mark(event):
                return place
        return None

    def _run_out(self) -> None:
        """Perform all that is left: the stacks have ended, whatever marks were missing."""
        while self._stacks:
            self._stacks[-1].awaited = None
            self._go_on()

    def _perform(self, item: Issued[Any] | Unsure[Any]) -> Mark | None:
        if type(item) is Issued and item.origin != "request" and getattr(item.op, "method", None) in self._threw:
            item = Unsure(item.op, item.origin)
        mark = self.view.mark(item) if type(item) is Issued else None
        self._tell(item)
        return mark

    def _tell(self, item: Item) -> None:
        key = type(item.op) if type(item) is Issued else type(item)
        hearing = self._table.get(key) or self._hearing(key)
        view = self.view
        view.place = view.position + hearing.moves
        for method in hearing.before:
            method(item)
        view.position = view.place
        agents, sessions = view.agents, view.sessions
        for method in hearing.folds:
            method(item)
        if view.agents != agents:
            for monitor in self.monitors:
                monitor.renewed() if view.sessions == sessions else monitor.start()
        for method in hearing.after:
            method(item)

    def _hearing(self, key: type) -> _Hearing:
        before, after = (
            [getattr(self.monitors[place], name) for place, name in _plan(self.kinds, phase, key)] for phase in PHASES
        )
        hearing = _Hearing(issubclass(key, e.Event), before, self.view.folders(key), after)
        self._table[key] = hearing
        return hearing


_Kinds = tuple[type[Monitor[Any]], ...]


def _declared(profile: Profile) -> frozenset[str]:
    return frozenset(name for name, value in profile.capabilities.items() if value)


@cache
def _choose(kinds: _Kinds, sees: frozenset[Sight], capabilities: frozenset[str]) -> tuple[_Kinds, dict[str, str]]:
    """Choose the monitors that can judge, and say what the rules without one lack; the same for every new agent."""
    applicable: list[type[Monitor[Any]]] = []
    missing: dict[str, str] = {}
    for kind in kinds:
        unseen, lacking = sorted(kind.needs - sees), kind.lacking(capabilities)
        if unseen or lacking:
            reason = f"the stream doesn't record {', '.join(unseen)}" if unseen else f"no capability {lacking}"
            missing.setdefault(kind.rule, reason)
        else:
            applicable.append(kind)
    judged = {kind.rule for kind in applicable}
    return tuple(applicable), {rule: why for rule, why in missing.items() if rule not in judged}


@cache
def _plan(kinds: _Kinds, phase: Phase, key: type) -> tuple[tuple[int, str], ...]:
    """List who sees items of a class, as places among the monitors with the names of their methods."""
    return tuple(
        (place, name)
        for place, kind in enumerate(kinds)
        for wanted, classes, name in kind.marks
        if wanted == phase and issubclass(key, classes)
    )
