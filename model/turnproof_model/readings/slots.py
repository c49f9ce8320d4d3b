"""
Look at a tool batch lazily, call by call: the ``ToolBatch`` of the readings with terms.

Its questions are those of ``algebra.ToolBatch`` itself, asked of calls whose fields are chosen when first read;
only the changes are written anew here, since they must read nothing. What no rule will ask of a call any more is
forgotten, so that calls which behave the same are the same:

- a committed call is asked only whether its result concludes the turn, and that by ``claim`` alone (``window`` notes it
  at the commit);
- a call whose tool was asked is never asked again how its tool runs, nor is one that an abort kept from being asked;
- an outcome made by an abort concludes nothing, and that is all that its origin tells;
- once the loop has left a batch, only that there was one counts.

Ids and names of calls show in events only. A call is in the group of the one before it, or begins a group.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from attrs import evolve, field, frozen

from turnproof_model import algebra as concrete
from turnproof_model.algebra import SlotState, ToolMode
from turnproof_model.readings import pieces, queues
from turnproof_model.vocabulary import Call, Outcome, Result

CALLS = "calls"
"""The control field that tells how many calls the batch has."""

FRESH: Mapping[str, Hashable] = {
    "state": "waiting",
    "mode": "exclusive",
    "joined": False,
    "outcome": None,
    "early": False,
    "told": False,
}
"""The fields of a call, and what they are where there is none. ``told``: its open gate has heard an abort."""

CONCLUDING = Result(concludes=True)

WHERE_CALLS_RUN = frozenset({"tools", "contexts"})
"""The phases of either contract at which the calls of a batch are told apart."""


KINDS: Mapping[str, Mapping[Hashable, str]] = {
    "state": {
        "running": "running",
        "finished": "finished",
        "waiting": "other",
        "called": "other",
        "committed": "other",
    },
    "mode": {"unknown": "unknown", "parallel": "known", "exclusive": "known"},
}
"""How facts that rules compare with one value are sorted: a path that asks for the kind alone doesn't fix more."""


def kind_asked(name: str) -> str:
    """Name the question for the kind of a fact."""
    return f"{name}?"


def value_asked(name: str, kind: Hashable) -> str:
    """Name the question for a fact whose kind is known."""
    return f"{name}={kind}"


@cache
def field_asked(question: str) -> str:
    """Tell which control field a question is about."""
    return question.partition("=")[0].removesuffix("?")


def answers(question: str, values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """List the answers to a question where its field can have these values."""
    name, _, kind = question.partition("=")
    if kind:
        sort = _sort_of(name)
        return tuple(value for value in values if sort[value] == kind)
    if name.endswith("?"):
        sort = _sort_of(name[:-1])
        return tuple(dict.fromkeys(sort[value] for value in values))
    return tuple(values)


def values_with(question: str, answer: Hashable, values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """List the values of a field on which a question has this answer."""
    if not question.endswith("?"):
        return (answer,)
    sort = _sort_of(question[:-1])
    return tuple(value for value in values if sort[value] == answer)


def _sort_of(name: str) -> Mapping[Hashable, str]:
    return KINDS[name.rpartition(".")[2]]


@cache
def field_of(position: int, name: str) -> str:
    """Name the control field that holds one fact about one call."""
    return f"call{position}.{name}"


def call_fields(calls: int) -> dict[str, Hashable]:
    """List the control fields of a batch with at most so many calls, and their initial values."""
    each = {field_of(i, name): value for i in range(calls) for name, value in FRESH.items()}
    return {CALLS: 0, **each}


@frozen(eq=False)
class Unsure:
    """
    Be a fact that is known no better than it has been asked for.

    ``name``: its control field. ``look``: reads a field. Comparing it with one value tells its kind first.
    """

    name: str
    look: Callable[[str], Any]

    def __eq__(self, other: object) -> bool:
        kind = self.look(kind_asked(self.name))
        if _sort_of(self.name)[other] != kind:
            return False
        return kind == other or bool(self.sure() == other)

    def __hash__(self) -> int:
        return hash(self.sure())

    def sure(self) -> Any:
        """Find out exactly."""
        kind = self.look(kind_asked(self.name))
        return kind if kind in _sort_of(self.name) else self.look(value_asked(self.name, kind))


@frozen(eq=False)
class Slot:
    """Be one call of a batch; ``now``: what is known of it, ``first``: finds what was so when the path began."""

    position: int
    before: Slot | None
    now: Mapping[str, Any]
    first: Callable[[str], Any]

    def look(self, name: str) -> Any:
        """Look at one fact."""
        return self.now[name] if name in self.now else self.first(field_of(self.position, name))

    @property
    def call(self) -> Call:
        """The call itself: its position says all."""
        return Call(f"call-{self.position}", "")

    def unsure(self, name: str) -> Any:
        """Look at one fact only as closely as it will be asked for."""
        return self.now[name] if name in self.now else Unsure(field_of(self.position, name), self.first)

    @property
    def state(self) -> SlotState:
        """How far it is."""
        state: SlotState = self.unsure("state")
        return state

    @property
    def mode(self) -> ToolMode:
        """How its tool runs."""
        mode: ToolMode = self.unsure("mode")
        return mode

    @property
    def group(self) -> int:
        """Its group, counted from 0."""
        return 0 if self.before is None else self.before.group + int(not self.look("joined"))

    @property
    def outcome(self) -> Outcome | None:
        """What it returned."""
        outcome: Outcome | None = self.look("outcome")
        return outcome

    @property
    def early(self) -> bool:
        """Whether it had returned when the turn was aborted."""
        return bool(self.look("early"))

    @property
    def told(self) -> bool:
        """Whether its open gate has heard an abort."""
        return bool(self.look("told"))

    settled_by_abort = False

    def changed(self, **facts: Any) -> Slot:
        """Know something else of it."""
        return evolve(self, now={**self.now, **facts})


@frozen(eq=False)
class Batch:
    """Hold the calls of one assistant message in call order; the interface is that of ``algebra.ToolBatch``."""

    slots: tuple[Slot, ...] = ()
    laid_out: bool = field(default=True)

    @classmethod
    def at_first(cls, first: Callable[[str], Any], written: Mapping[str, Any], calls: int | None) -> Batch:
        """Look at the batch of a state: fields as they were, or as they have been written since."""
        slots: list[Slot] = []
        for i in range(first(CALLS) if calls is None else calls):
            now = {name: written[field_of(i, name)] for name in FRESH if field_of(i, name) in written}
            slots.append(Slot(i, slots[-1] if slots else None, now, first))
        return cls(tuple(slots), laid_out=False)

    @classmethod
    def of(cls, calls: tuple[Call, ...], modes: Mapping[str, ToolMode]) -> Batch:
        """Lay out a batch."""
        slots: list[Slot] = []
        laid = concrete.ToolBatch.of(calls, modes).slots
        for i, slot in enumerate(laid):
            joined = i > 0 and slot.group == laid[i - 1].group
            now = {**FRESH, "mode": slot.mode, "joined": joined}
            slots.append(Slot(i, slots[-1] if slots else None, now, now.__getitem__))
        return cls(tuple(slots))

    at = concrete.ToolBatch.at
    startable = concrete.ToolBatch.startable
    dispatchable = concrete.ToolBatch.dispatchable
    committable = concrete.ToolBatch.committable
    next_open = concrete.ToolBatch.next_open
    _busy = concrete.ToolBatch._busy
    empty = concrete.ToolBatch.empty
    parallel = concrete.ToolBatch.parallel
    running = concrete.ToolBatch.running
    done = concrete.ToolBatch.done
    unanswered = concrete.ToolBatch.unanswered
    concluded = concrete.ToolBatch.concluded
    owed = concrete.ToolBatch.owed

    def call(self, i: int) -> Batch:
        """Mark a call as logged."""
        return self._with(i, state="called")

    def start(self, i: int) -> Batch:
        """Mark a call as started."""
        return self._with(i, state="running")

    def finish(self, i: int, outcome: Outcome | None, *, by_abort: bool = False) -> Batch:
        """Store what a started call returned, or that an abort came before the tool was asked."""
        if by_abort and isinstance(outcome, Result):
            outcome = evolve(outcome, concludes=False)
        mode = {"mode": "exclusive"} if outcome is None else {}
        return self._with(i, state="finished", outcome=outcome, told=False, **mode)

    def tell(self, i: int) -> Batch:
        """Note that the open gate of a call has heard an abort."""
        return self._with(i, told=True)

    def sealed(self) -> Batch:
        """Mark what has returned and isn't committed as early."""
        batch = self
        for i, slot in enumerate(self.slots):
            if slot.state == "finished":
                batch = batch._with(i, early=True)
        return batch

    def commit(self, i: int) -> Batch:
        """Mark a call as committed to the log."""
        return self._with(i, state="committed")

    def _with(self, i: int, **facts: Any) -> Batch:
        return evolve(self, slots=(*self.slots[:i], self.slots[i].changed(**facts), *self.slots[i + 1 :]))


def fields_of(batch: Batch | concrete.ToolBatch) -> dict[str, Any]:
    """List what has become known of the fields of a batch, by field; a new state has an empty one of its own."""
    if isinstance(batch, concrete.ToolBatch):
        batch = Batch.of(tuple(slot.call for slot in batch.slots), {})
    known = {field_of(i, name): value for i, slot in enumerate(batch.slots) for name, value in slot.now.items()}
    return {CALLS: len(batch.slots), **known} if batch.laid_out else known


def tidied(
    s: Any, initial: Mapping[str, Hashable], *, remembers: bool, written: Mapping[str, Any]
) -> dict[str, Hashable]:
    """
    Forget what no rule will ask of the batch any more.

    Args:
        s: the state at the end of a path.
        initial: the fields of a batch without calls.
        remembers: whether the batch is asked later if a committed result concluded the turn.
        written: what the path wrote.
    """
    stays = s.first("at") not in WHERE_CALLS_RUN or s.at in WHERE_CALLS_RUN
    if stays and not any(name in written for name in initial):
        return {}
    if s.at not in WHERE_CALLS_RUN:
        left = written.get(CALLS, 1) != 0
        return {**initial, CALLS: 1, field_of(0, "state"): "committed"} if left else dict(initial)
    forgotten: dict[str, Hashable] = {}
    for slot in s.batch.slots:
        if "state" in slot.now:
            forgotten.update(_forgotten(slot, len(s.batch.slots), remembers=remembers))
    if written.get(CALLS) is not None:
        forgotten.update({name: value for name, value in initial.items() if name != CALLS and name not in written})
    return forgotten


def _forgotten(slot: Slot, calls: int, *, remembers: bool) -> dict[str, Hashable]:
    """List the facts about a call that its state makes irrelevant."""
    here = slot.position
    if slot.state in {"running", "finished"}:
        before = Unsure(field_of(here, "state"), slot.first)
        unasked = before != "running" and before != "finished"  # noqa: PLR1714  # each comparison asks its own question
        asked = unasked and slot.mode != "unknown"
        return {field_of(here, "mode"): "exclusive"} if asked else {}
    if slot.state != "committed":
        return {}
    outcome = slot.outcome if remembers else None
    concludes = isinstance(outcome, Result) and outcome.concludes
    facts = {**FRESH, "state": "committed", "outcome": CONCLUDING if concludes else None}
    after = {field_of(here + 1, "joined"): False} if here + 1 < calls else {}
    return {**{field_of(here, name): value for name, value in facts.items()}, **after}


NO_BATCH = Batch()

TERMS = SimpleNamespace(
    Queue=queues.Queue,
    EMPTY=queues.EMPTY,
    Item=pieces.Item,
    entered=queues.entered,
    ToolBatch=Batch,
    NO_BATCH=NO_BATCH,
    Slot=Slot,
    ToolMode=ToolMode,
    contexts_of=concrete.contexts_of,
)
"""What rule modules import from ``algebra`` in the readings with terms (``loading.load_rules``)."""
