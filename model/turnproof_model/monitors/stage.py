"""
Run monitors over a stream: one view, folded once, with a table of who wants to see what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from turnproof_model import vocabulary as v
from turnproof_model.events import Event, OpThrew
from turnproof_model.monitors.base import (
    Finish,
    Issued,
    Item,
    Monitor,
    Phase,
    Refused,
    Report,
    Unsure,
    key_of,
    operations,
)
from turnproof_model.monitors.view import View
from turnproof_model.observation import Observation

_Method = Callable[[Any], None]


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
        self.view = view
        self.report = report
        self.monitors = [kind(view, report) for kind in self._applicable(kinds)]
        self._table: dict[type, tuple[list[_Method], list[_Method]]] = {}
        self._threw: frozenset[str] = frozenset()

    def _applicable(self, kinds: Iterable[type[Monitor[Any]]]) -> list[type[Monitor[Any]]]:
        applicable: list[type[Monitor[Any]]] = []
        missing: dict[str, str] = {}
        for kind in kinds:
            unseen = sorted(kind.needs - self.view.sees)
            lacking = kind.lacking(self.view.profile)
            if unseen or lacking:
                reason = f"the stream doesn't record {', '.join(unseen)}" if unseen else f"no capability {lacking}"
                missing.setdefault(kind.rule, reason)
            else:
                applicable.append(kind)
        judged = {kind.rule for kind in applicable}
        self.report.not_applicable |= {rule: why for rule, why in missing.items() if rule not in judged}
        return applicable

    # -------------------------------------------------------------------------------------------- feeding
    def begin(self, request: v.Request, observation: Observation | None) -> None:
        """Take note of a request before its events; the observation tells only what was refused."""
        view = self.view
        view.index += 1
        view.request = request
        self._threw = (
            frozenset(event.method for event in observation.events if type(event) is OpThrew)
            if observation
            else frozenset()
        )
        if observation is not None and observation.refused is not None:
            self._tell(Refused(request, observation.refused))
            return
        if isinstance(request, v.Batch):
            for op in operations(request):
                self._perform(Issued(op, "batch"))
        else:
            self._perform(Issued(request))

    def _perform(self, item: Issued[Any] | Unsure[Any]) -> None:
        if type(item) is Issued and item.origin != "request" and getattr(item.op, "method", None) in self._threw:
            item = Unsure(item.op, item.origin)
        self._tell(item)

    def event(self, event: Event) -> None:
        """Take one event, then the operations that arms perform inside of it."""
        self._tell(event)
        for item in self.view.fired(event):
            self._perform(item)

    def observe(self, observation: Observation) -> None:
        """Take the state that ends a request."""
        self._tell(observation)

    def finish(self) -> None:
        """Take note of the end of the schedule."""
        self._tell(Finish())

    def _tell(self, item: Item) -> None:
        key = key_of(item)
        plan = self._table.get(key)
        if plan is None:
            plan = self._table[key] = (self._wanting("before", key), self._wanting("after", key))
        for method in plan[0]:
            method(item)
        agents, sessions = self.view.agents, self.view.sessions
        self.view.fold(item)
        if self.view.agents != agents:
            for monitor in self.monitors:
                monitor.renewed() if self.view.sessions == sessions else monitor.start()
        for method in plan[1]:
            method(item)

    def _wanting(self, phase: Phase, key: type) -> list[_Method]:
        return [
            getattr(monitor, name)
            for monitor in self.monitors
            for wanted, kinds, name in monitor.marks
            if wanted == phase and issubclass(key, kinds)
        ]
