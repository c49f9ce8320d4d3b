"""
Count the calls of a tool batch of any size: what the proof knows of ``algebra.ToolBatch``.

Calls are logged, asked and committed in call order, so a batch is four numbers::

    0 ... committed ... asked ... logged ... size
          └ of these, running haven't returned ┘

and one truth, ``head``: the next call to commit has returned. What a slot holds (its tool, its outcome) is left open
until somebody looks; what a look at a slot may find is at least what it holds. ``cut``: an abort has reached the batch,
so a result may stand for a tool that wasn't asked, or for one that the abort made return. ``ends``: a committed success
concludes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof_model.readings.counters import Bunch
from turnproof_model.readings.execute import choose, fresh, require
from turnproof_model.readings.terms import Number, Truth, both, choice, either, implies, minus, negate, number
from turnproof_model.vocabulary import Error, Outcome, Result


# ------------------------------------------------------------------------------------------------ calls and slots
@frozen(eq=False)
class CallId:
    """Name calls by their place: ``count`` of them from ``number`` on."""

    number: Number
    count: Number = 1


@frozen(eq=False)
class Tool:
    """Be the name of a tool, as the model gave it."""


@frozen(eq=False)
class AnyCall:
    """Be a call of a batch."""

    id: CallId
    name: Tool = field(factory=Tool)


@frozen(eq=False)
class Calls:
    """Be the calls of one assistant message, any number of them, where a rule has a tuple of calls."""

    count: Number

    def __bool__(self) -> bool:
        return bool(self.count != 0)

    def __iter__(self) -> Iterator[AnyCall]:
        return iter((AnyCall(CallId(0, self.count)),))


@frozen(eq=False)
class Index:
    """Be the answer to a search for a call: its place, if there is one. Rules compare it with 0 only."""

    kind: str
    at: Number
    found: Truth

    def __ge__(self, zero: int) -> Truth:
        return self.found

    def __lt__(self, zero: int) -> Truth:
        return negate(self.found)


@define(eq=False)
class Slot:
    """Be a call of the batch as a rule looks at it; what isn't known of it is chosen when it is asked for."""

    place: Number
    logged: Truth
    cut: Truth
    make: Callable[[], Bunch]
    _found: dict[str, Any] = field(factory=dict)

    @property
    def call(self) -> AnyCall:
        """Which call it is."""
        return AnyCall(CallId(self.place))

    @property
    def mode(self) -> str:
        """How its tool runs, as far as rules ask: nobody runs an unknown one, so none succeeds."""
        succeeded = isinstance(self._found.get("outcome"), Result)
        return "exclusive" if succeeded else str(self._look("mode", ("exclusive", "unknown")))

    @property
    def state(self) -> str:
        """How far it is; rules ask whether it waits."""
        return "called" if self.logged else "waiting"

    @property
    def early(self) -> Truth:
        """Whether it had returned when the turn was aborted."""
        if "early" not in self._found:
            self._found["early"] = fresh("early", "bool")
        return self._found["early"]  # type: ignore[no-any-return]  # a truth

    @property
    def outcome(self) -> Outcome | None:
        """What its tool returned."""
        if "outcome" not in self._found:
            self._found["outcome"] = self._outcome()
        return self._found["outcome"]  # type: ignore[no-any-return]  # an outcome

    def _outcome(self) -> Outcome | None:
        kind = self._look("outcome", ("result", "error", "none"))
        if kind == "none":
            require(self.cut)
            return None
        concludes: Any = fresh("concludes", "bool")
        contexts: Any = self.make()
        return (Result if kind == "result" else Error)(additional_contexts=contexts, concludes=concludes)

    def _look(self, what: str, options: tuple[str, ...]) -> str:
        if what not in self._found:
            self._found[what] = choose(f"slot.{what}", options)
        return str(self._found[what])


# ------------------------------------------------------------------------------------------------ the batch
@frozen(eq=False)
class ToolBatch:
    """
    Count the calls of one assistant message.

    ``make``: makes the contexts that a result brings along; ``whole``: the next operation on the first open call is on
    all open calls (crash repair). ``looked``: what has been looked at in this state of the batch, by place.
    """

    size: Number = 0
    logged: Number = 0
    asked: Number = 0
    committed: Number = 0
    out: Number = 0
    head: Truth = False
    cut: Truth = False
    ends: Truth = False
    make: Any = Bunch
    whole: bool = False
    last: Slot | None = None
    looked: dict[str, Any] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, calls: Calls, modes: Mapping[Tool, str]) -> ToolBatch:  # noqa: ARG003  # a slot is asked for its own
        """Lay out a batch."""
        return cls(size=calls.count)

    @property
    def empty(self) -> Truth:
        """Whether there is no call in it."""
        return self.size == 0

    # -------------------------------------------------------------------------------------------- searching
    def startable(self) -> Index:
        """Find the next call that may start now: it waits, and is the first open one or shares their group."""
        grouped = self._unknown("grouped")
        return Index(
            "start", self.logged, both(self.logged < self.size, either(self.committed == self.logged, grouped))
        )

    def dispatchable(self) -> Index:
        """Find the first call that is logged and whose tool hasn't been asked."""
        return Index("dispatch", self.asked, self.asked < self.logged)

    def committable(self, *, together: bool = False) -> Index:
        """Find the next call in call order whose result can be committed now; its group may have to wait together."""
        ready = both(self.head, self._unknown("group is complete")) if together else self.head
        return Index("commit", self.committed, ready)

    def next_open(self) -> Index:
        """Find the first call that isn't committed."""
        return Index("open", self.committed, self.committed < self.size)

    def at(self, i: Index) -> Slot:
        """Look at a call; the same look for the same place."""
        if i.kind not in self.looked:
            cut = self.cut if i.kind == "commit" else False
            untold = {"outcome": None} if i.kind == "open" else {}  # one that waits has returned nothing
            self.looked[i.kind] = Slot(i.at, i.at < self.logged, cut, self.make, untold)
        slot: Slot = self.looked[i.kind]
        return slot

    @property
    def parallel(self) -> Truth:
        """Whether a group has more than one call."""
        return self._unknown("parallel")

    @property
    def running(self) -> Truth:
        """Whether a started call hasn't settled."""
        return self.out > 0

    @property
    def done(self) -> Truth:
        """Whether every call is committed."""
        return self.committed == self.size

    @property
    def concluded(self) -> Truth:
        """Whether a successful result concludes the turn."""
        return self.ends

    @property
    def owed(self) -> Truth:
        """Whether the model has yet to answer the results."""
        return both(self.size > 0, negate(self.ends))

    @property
    def unanswered(self) -> tuple[tuple[CallId, Truth], ...]:
        """The calls without a result, as one; whether they were started is left open."""
        if self.committed == self.size:
            return ()
        return ((CallId(self.committed, minus(self.size, self.committed)), fresh("started", "bool")),)

    def _unknown(self, what: str) -> Truth:
        if what not in self.looked:
            self.looked[what] = fresh(what, "bool")
        return self.looked[what]  # type: ignore[no-any-return]  # a truth

    # -------------------------------------------------------------------------------------------- moving
    def call(self, i: Index) -> ToolBatch:  # noqa: ARG002  # it is the next one that waits
        """Mark a call as logged."""
        return self._moved(logged=self.logged + 1)

    def start(self, i: Index) -> ToolBatch:
        """Mark a call as started, and as logged where that comes with it."""
        logged = self.logged + 1 if i.kind == "start" else self.logged
        return self._moved(logged=logged, asked=self.asked + 1, out=self.out + 1)

    def finish(self, i: Index, outcome: Outcome | None, *, by_abort: bool = False) -> ToolBatch:  # noqa: ARG002
        """Store what a call returned that was started last, or that is given up before it is asked."""
        head = either(self.head, i.at == self.committed)
        cut = True if outcome is None else self.cut
        if i.kind == "dispatch":
            return self._moved(asked=self.asked + 1, head=head, cut=cut)
        return self._moved(out=self.out - 1, head=head, cut=cut)

    def returned(self) -> ToolBatch:
        """Let any started call return."""
        is_head = fresh("is_head", "bool")
        waits = self._head_waits()
        require(choice(is_head, waits, self.out > number(waits)))
        return self._moved(out=self.out - 1, head=either(self.head, is_head))

    def interrupted(self) -> ToolBatch:
        """Let any of the started calls settle because of an abort."""
        left, head = fresh("left", "int"), fresh("head", "bool")
        settled = self._moved(out=left, head=head, cut=True)
        require(both(left >= 0, left <= self.out, implies(self.head, head)))
        require(implies(both(head, negate(self.head)), both(left < self.out, self._head_waits())))
        require(implies(settled._head_waits(), left > 0))
        require(left <= settled.asked - settled.committed - number(head))
        return settled

    def commit(self, i: Index) -> ToolBatch:
        """Mark a call as committed to the log; of crash repair, all that are open."""
        if self.whole:
            return self._moved(committed=self.size, logged=self.size, asked=self.size, out=0, head=False)
        if i.kind == "open":
            return self._moved(
                logged=self.logged + 1, asked=self.asked + 1, committed=self.committed + 1, last=self.at(i)
            )
        slot = self.at(i)
        outcome = slot.outcome
        ends = self.ends
        if isinstance(outcome, Result):
            ends = either(ends, both(outcome.concludes, negate(both(self.cut, fresh("by_abort", "bool")))))
        head = fresh("head", "bool")
        after = self._moved(committed=self.committed + 1, head=head, ends=ends, last=slot)
        require(well_formed(after))
        return after

    def sealed(self) -> ToolBatch:
        """Mark what has returned and isn't committed as early; a look leaves that open."""
        return self

    def _head_waits(self) -> Truth:
        """Tell whether the next call to commit has been asked and hasn't returned."""
        return both(self.committed < self.asked, negate(self.head))

    def _moved(self, **changes: Any) -> ToolBatch:
        return evolve(self, **{"last": None, **changes}, looked={})


NO_BATCH = ToolBatch()


def well_formed(batch: ToolBatch) -> Truth:
    """Tell whether the numbers describe any batch at all."""
    ordered = both(batch.committed >= 0, batch.committed <= batch.asked, batch.asked <= batch.logged)
    open_ = batch.asked - batch.committed
    return both(
        ordered,
        batch.logged <= batch.size,
        batch.out >= number(batch._head_waits()),
        batch.out <= open_ - number(batch.head),
        implies(batch.head, open_ > 0),
    )
