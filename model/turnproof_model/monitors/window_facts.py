"""
Hold the facts of contract ``window``: what is staged, one admission, the opening of a turn.
"""

from __future__ import annotations

from typing import Literal

from attrs import define, field

from turnproof_model import vocabulary as v
from turnproof_model.monitors.facts import Cancelled, Entry
from turnproof_model.surroundings import messages_in


@define(eq=False)
class Staged:
    """Be one item of the outbox; ``loose`` where its place among its neighbours can't be told."""

    id: str
    kind: Literal["steering", "context"]
    position: int
    loose: bool = False


@define(eq=False)
class Admission:
    """
    Be one admission: the claimed prompt, what was retained when it was claimed, what its hook decided.

    ``known`` says whether ``retained`` is certain. ``decision`` is None while undecided, and where the kind isn't gated
    or its release can't be told.
    """

    entry: Entry
    position: int
    retained: tuple[str, ...] = ()
    known: bool = True
    decision: v.Outcome | None = None
    cancelled: Cancelled | None = None

    @property
    def refused(self) -> bool:
        """Whether the hook is known to have blocked or failed."""
        return isinstance(self.decision, v.Block | v.Throw)


@define(eq=False)
class Opening:
    """
    Be the opening of a turn, from ``turn/start`` to its first step.

    ``retained`` and then ``rest`` (the prompt, the decision's contexts) list the ids that must still be written, in
    order. ``own`` holds what was accepted during the admission.
    """

    retained: list[str]
    rest: list[str]
    own: tuple[str, ...]
    known: bool
    prompt: Entry | None = None
    admission: Admission | None = None
    written: list[str] = field(factory=list)

    @property
    def head(self) -> list[str]:
        """What must still be written, in order."""
        return [*self.retained, *self.rest]


def supplied(release: v.Release) -> tuple[str, ...]:
    """List the ids of the contexts that an outcome brings along."""
    return tuple(message.id for message in getattr(release.outcome, "additional_contexts", ()))


def brought(op: v.Operation) -> tuple[str, ...]:
    """List the ids of the messages that an operation brings along, those of what it arms among them."""
    if isinstance(op, v.Arm):
        return tuple(message for inner in op.ops for message in brought(inner))
    return tuple(message.id for message in messages_in(op.outcome if isinstance(op, v.Release) else op))


def enters(send: v.Send) -> bool:
    """Tell whether a send enters a FIFO, wherever the window stands."""
    return send.target == "next-turn" or send.wakeup
