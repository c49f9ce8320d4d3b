"""
Judge cross-session references.

Rules: C-XREF-1.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.monitors.base import Issued, after, before
from turnproof_model.monitors.claim_base import ClaimMonitor
from turnproof_model.observation import Observation


class References(ClaimMonitor):
    """
    See that a snapshot travels beside its prompt: in the prompt's own pre-step, or injected before the steering.

    Rules: C-XREF-1
    """

    rule = "C-XREF-1"
    needs = frozenset({"log", "command"})

    def _start(self) -> None:
        """Forget the reference under way."""
        self.idle: v.Reference | None = None
        self.running: tuple[v.Reference, list[str]] | None = None

    @before(v.Reference)
    def sent(self, issued: Issued[v.Reference]) -> None:
        """Each reference is an occasion; whether the agent runs decides the way."""
        self.exercised()
        self.running = None
        surely_idle = self.view.idle and self.view.placed and not self.view.doubt
        self.idle = issued.op if surely_idle else None
        if self.view.status == "running" and self.view.aborted is False and self.view.placed:
            self.running = (issued.op, [])

    @after(e.Spliced)
    def inserted(self, event: e.Spliced) -> None:
        """Running, the snapshot enters next-step before the prompt; idle, it doesn't enter the inbox."""
        splice = self.view.splice
        told = splice.told if splice is not None else None
        op: Any = told.op if told is not None else None
        if op is None and self.idle is not None and self.idle.snapshot.id in event.inserted:
            self.violated(f"the snapshot {self.idle.snapshot.id} entered the inbox, sent to an idle agent")
        if not isinstance(op, v.Reference) or self.running is None or self.running[0] is not op:
            return
        entered = self.running[1]
        entered += event.inserted
        if op.message.id in event.inserted:
            message = f"{op.message.id} entered without its snapshot {op.snapshot.id} before it"
            self.expect(entered[:1] == [op.snapshot.id], message)

    @before(e.StepEnd)
    def complete(self, _: e.StepEnd) -> None:
        """Idle, the snapshot stands right behind the batch of its prompt."""
        boundary = self.view.boundary
        if boundary is None or boundary.entering is None or not boundary.snapshots:
            return
        message = f"the step opened with {', '.join(boundary.written)} instead of {', '.join(boundary.entering)}"
        self.expect(boundary.written == boundary.entering, message, boundary.entered or -1)

    @before(Observation)
    def ends(self, _: Observation) -> None:
        """A reference is sent within its request."""
        self.idle = self.running = None


MONITORS: tuple[type[ClaimMonitor], ...] = (References,)
