"""
Hold the facts that a view folds out of the stream: turns, steps, batches of calls, gates, cancels, pending entries.

These are records of what was seen, not a state to be predicted; they are changed only by the view.
"""

from __future__ import annotations

from attrs import define, field

from turnproof_model.events import AgentError, Event, ToolResult, TurnReason
from turnproof_model.vocabulary import GateKind, Message, Outcome, Seen


@define(eq=False)
class Entry:
    """
    Be one message that entered a list.

    ``list`` is ``queued`` or ``steering`` (window), ``next-turn`` or ``next-step`` (claim). ``waking`` is None where
    the send that made the entry wasn't seen. ``snapshot`` travels with a prompt's own admission.
    ``loose`` says that its place in the list can't be told.
    """

    id: str
    list: str
    position: int
    waking: bool | None = None
    message: Message | None = None
    snapshot: Message | None = None
    loose: bool = False
    inside: Event | None = None


@define(eq=False)
class Calls:
    """Be the tool calls of one assistant message: ids in call order, and what was recorded of each."""

    ids: tuple[str, ...]
    position: int
    called: list[str] = field(factory=list)
    results: dict[str, ToolResult] = field(factory=dict)

    @property
    def open(self) -> bool:
        """Whether a result is missing."""
        return len(self.results) < len(self.ids)


@define(eq=False)
class Step:
    """Be one step: its number in the turn, the length of the history when it opened, what happened in it."""

    number: int
    position: int
    lines: int
    requests: int = 0
    spoken: bool = False
    calls: Calls | None = None


@define(eq=False)
class Cancelled:
    """
    Be a cancel that was published.

    ``keep`` is None where the command behind it can't be told; ``sure`` says that it came in a stack of its own and
    not some scheduler breaks after an event.
    """

    cause: str
    keep: bool | None
    position: int
    sure: bool = True


@define(eq=False)
class Turn:
    """
    Be one turn, open or ended (``reason`` set).

    The ``last_`` fields are positions of events in this turn, -1 where there was none: ``last_input`` is steering or a
    prompt, ``last_context`` any other committed message. ``concluded`` is None where the outcome of a tool isn't known,
    ``max_tokens`` where that of a model isn't.
    """

    number: int
    position: int
    trigger: str | None = None
    steps: int = 0
    step: Step | None = None
    cancels: list[Cancelled] = field(factory=list)
    disposed: int | None = None
    error: AgentError | None = None
    max_tokens: bool | None = False
    concluded: bool | None = False
    commits: list[str] = field(factory=list)
    last_request: int = -1
    last_input: int = -1
    last_context: int = -1
    last_result: int = -1
    reason: TurnReason | None = None
    ended: int | None = None

    @property
    def aborted(self) -> bool:
        """Whether a cancel or a disposal of this turn was seen."""
        return bool(self.cancels) or self.disposed is not None


@define(eq=False)
class Gate:
    """Be one gate; ``outcome`` is what it was released with, ``aborted`` whether an abort reached it."""

    id: str
    kind: GateKind
    position: int
    aborted: bool = False
    call_id: str | None = None
    message: str | None = None
    outcome: Outcome | None = None


@define(eq=False)
class Line:
    """Be one line of the derived history: a message with its turn (None between turns), or a mark of a turn."""

    turn: int | None
    seen: Seen | None = None
