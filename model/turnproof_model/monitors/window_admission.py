"""
Judge admissions: one prompt at a time, decided before its turn, written as decided.

Rules: W-ADM-1 to -4, W-ADM-9; what a rejected admission leaves is judged in ``window_rejection``.
"""

from __future__ import annotations

from collections import Counter

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import before
from turnproof_model.monitors.window_facts import Admission
from turnproof_model.monitors.window_monitor import WindowMonitor, ids
from turnproof_model.observation import Observation


class OnePrompt(WindowMonitor):
    """An admission claims one prompt, and the agent is running meanwhile."""

    rule = "W-ADM-1"
    needs = frozenset({"inbox", "gates", "status"})

    @before(e.Dequeue)
    def _claimed(self, event: e.Dequeue) -> None:
        if event.placement == "queued":
            others = [gate for gate in self.view.open_gates("prompt-submit") if gate.message not in (None, event.id)]
            self.expect(not others, f"{event.id!r} was claimed while the admission of another prompt is open")

    @before(Observation)
    def _shown(self, observation: Observation) -> None:
        view = self.view
        asked = [gate for gate in observation.gates if gate.kind == "prompt-submit"]
        if len(asked) > 1:
            self.violated("two admissions are open at once")
        elif asked:
            self._judge(asked[0].message, observation.status)
        elif view.admission is not None and self._unasked(view.admission):
            self.violated(f"{view.admission.entry.id!r} was claimed, but prompt-submit isn't asked about it")

    def _judge(self, message: str | None, status: v.Status) -> None:
        admission = self.view.admission
        if admission is None:
            self.violated(f"prompt-submit is asked about {message!r}, which wasn't dequeued")
        elif message not in (None, admission.entry.id):
            self.violated(f"prompt-submit is asked about {message!r}, but {admission.entry.id!r} was claimed")
        elif status != "running":
            self.violated(f"the status is {status} while the admission of {admission.entry.id!r} is open")

    def _unasked(self, admission: Admission) -> bool:
        view = self.view
        undecided = admission.decision is None and admission.cancelled is None and view.disposing is False
        return undecided and "prompt-submit" in view.gates_named and not view.unsure and view.turn is None


class BeforeTheTurn(WindowMonitor):
    """Until prompt-submit allows, no turn opens and nothing of the prompt is written."""

    rule = "W-ADM-2"
    needs = frozenset({"inbox", "log", "gates"})

    @before(e.TurnStart)
    def _opened(self, event: e.TurnStart) -> None:
        view = self.view
        if event.trigger == "retry" or (event.trigger is None and view.retry == "due"):
            return
        if view.admission is None:
            self.violated(f"turn {event.turn} opened without an admitted prompt")
            return
        asked = [gate for gate in view.open_gates("prompt-submit") if not gate.aborted]
        self.expect(
            not asked, f"turn {event.turn} opened while prompt-submit of {view.admission.entry.id!r} is undecided"
        )

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        view = self.view
        admission = view.admission
        if admission is None or view.turn is not None or event.id in view.direct or event.id in view.supplementary:
            return
        if event.id == admission.entry.id:
            self.violated(f"{event.id!r} was written before its turn opened")


class OpeningOrder(WindowMonitor):
    """An opened turn takes what was retained, the prompt, the decision's contexts, then what came meanwhile."""

    rule = "W-ADM-3"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.UserMessage, e.SteeringMessage)
    def _written(self, event: e.UserMessage | e.SteeringMessage) -> None:
        opening = self.view.opening
        if opening is None or not opening.known or opening.prompt is None or not opening.head:
            return
        turn = self.view.turn
        skipped = opening.head[: opening.head.index(event.id)] if event.id in opening.head else opening.head
        if (turn is not None and turn.aborted) or self.view.disposing is not False:  # what was retained may be dropped
            skipped = [item for item in skipped if item not in opening.retained]
        if skipped:
            self.violated(
                f"{event.id!r} was written before {skipped[0]!r}: a turn opens with what was retained, the prompt and"
                " its contexts"
            )

    @before(e.StepStart)
    def _stepped(self, _: e.StepStart) -> None:
        view = self.view
        opening = view.opening
        aborted = view.turn is not None and view.turn.aborted
        if opening is None or not opening.known or opening.prompt is None or aborted:
            return
        staged = [item.id for item in view.outbox]
        owed = Counter(opening.own) - Counter(opening.written)  # an id may be staged again once it was written
        missing = [*opening.head, *(item for item in owed if item in staged)]
        self.expect(not missing, f"the first step opened without {missing}, which belong before it")


class DecisionContent(WindowMonitor):
    """A decision replaces content only; its contexts are messages of their own."""

    rule = "W-ADM-4"
    needs = frozenset({"command", "inbox", "log"})

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        opening = None if self.view.leaving(event) is not None else self.view.opening
        decision = opening.admission.decision if opening is not None and opening.admission is not None else None
        if opening is None or not isinstance(decision, v.Allow) or event.id not in opening.head:
            return
        if opening.prompt is not None and event.id in ids(self.view.claimed):
            either = event.id in ids(self.view.outbox)  # a context of the same id may be meant
            if decision.content is not None and opening.prompt.message is not None and not either:
                self._replaced(event, opening.prompt.message, decision.content)
            return
        if opening.prompt is not None and event.id == opening.prompt.id:  # which of the two it is can't be told
            return
        for context in decision.additional_contexts:
            if context.id == event.id:
                same = event.source in (None, context.source.kind) and event.text in (None, context.text)
                self.expect(same, f"context {event.id!r} of the decision was written with another source or content")

    def _replaced(self, event: e.UserMessage, message: v.Message, content: str) -> None:
        text = message.text if event.text is None else event.text
        self.expect(
            text == content and event.source in (None, message.source.kind),
            f"{event.id!r} was written with text {text!r} and source {event.source!r}: the decision replaces the"
            f" content by {content!r} and nothing else",
        )


class DecisionPreserved(WindowMonitor):
    """What the inner decision said arrives whole: its content and all of its contexts."""

    rule = "W-ADM-9"
    needs = frozenset({"command", "inbox", "log"})

    def _start(self) -> None:
        self.text: dict[str, str | None] = {}

    @before(e.TurnStart)
    def _opened(self, _: e.TurnStart) -> None:
        self.text = {}

    @before(e.UserMessage)
    def _written(self, event: e.UserMessage) -> None:
        if self.view.opening is not None and self.view.leaving(event) is None:
            self.text.setdefault(event.id, event.text)

    @before(e.StepStart)
    def _stepped(self, _: e.StepStart) -> None:
        opening, text = self.view.opening, self.text
        self.text = {}
        admission = None if opening is None else opening.admission
        if opening is None or admission is None or not opening.known or not isinstance(admission.decision, v.Allow):
            return
        decision, accepted = admission.decision, admission.entry.message
        if decision.content is None and not decision.additional_contexts:
            return
        lost = [context.id for context in decision.additional_contexts if context.id not in opening.written]
        written = text.get(admission.entry.id) or (accepted.text if accepted is not None else None)
        if decision.content is not None and written != decision.content:
            lost.append("content")
        self.expect(not lost, f"{lost} of the decision about {admission.entry.id!r} didn't reach its turn")


MONITORS: tuple[type[WindowMonitor], ...] = (OnePrompt, BeforeTheTurn, OpeningOrder, DecisionContent, DecisionPreserved)
"""The monitors of this family, in the order of their rules."""
