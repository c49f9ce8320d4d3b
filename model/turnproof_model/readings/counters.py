"""
Count queues of any length: the algebra in which contracts are proved for unboundedly many messages.

A queue is its length, how many of its items carry each flag that somebody asks about, and where two tagged messages,
A and B, stand in it (-1: not there). Tags are arbitrary, so what holds for them holds for every message and every
pair. What the counters can't tell is left open as a fresh unknown with the facts that bind it, so every real queue is
among those that a term describes: a proof carries over, a counterexample may be spurious.

What a flag says is fixed for tagged messages where ``RIGID`` says so: the item of A that is pushed and the one that is
popped agree. Snapshots attached to a prompt are some number of untagged messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import evolve, field, frozen

from turnproof_model.readings.execute import fresh, require
from turnproof_model.readings.letters import Letter, Name
from turnproof_model.readings.terms import Number, Truth, both, choice, either, implies, negate, number, var

FLAGS = ("waking", "steering", "late")
"""The flags of items that can be counted."""

RIGID = {flag: (var(f"A.{flag}", "bool"), var(f"B.{flag}", "bool")) for flag in ("steering",)}
"""What these flags of A and B are, from acceptance on."""


class UncountedError(LookupError):
    """Say that a rule asked a queue for a flag that isn't counted there."""

    def __init__(self, flag: str) -> None:
        super().__init__(f"items with flag {flag!r} must be counted in this queue; add it to its shape")
        self.flag = flag


# ------------------------------------------------------------------------------------------------ items and queues
@frozen(eq=False)
class Bunch:
    """
    Be any number of messages of no flag, in order, where a rule has a tuple of messages.

    ``a``, ``b``: the positions of the tagged ones. A rule may ask whether it is empty, and lay it out as a queue.
    """

    n: Number = 0
    a: Number = -1
    b: Number = -1

    def __bool__(self) -> bool:
        return bool(self.n != 0)

    def __iter__(self) -> Iterator[Bunch]:
        return iter((self,))

    def laid_out(self) -> Queue:
        """Make a queue of them: a tagged one among them carries no flag either."""
        for a, b in RIGID.values():
            require(negate(either(both(self.a >= 0, a), both(self.b >= 0, b))))
        return Queue(n=self.n, a=self.a, b=self.b, base=(self,))


@frozen(eq=False)
class Item:
    """Hold one pending message with what its acceptance fixed."""

    message: Letter
    waking: Truth = False
    steering: Truth = False
    retained: Truth = False
    late: Truth = False
    attached: Any = ()

    @property
    def id(self) -> Name:
        """The caller's id, with what only the inbox knows of it."""
        return evolve(self.message.id, waking=self.waking)

    def renewed(self, message: Letter) -> Item:
        """Put another message in its place: that inherits whether it wakes and is late, but no snapshots."""
        return evolve(self, message=message, attached=())

    def flag(self, name: str) -> Truth:
        """Look a flag up by its name."""
        return getattr(self, name)  # type: ignore[no-any-return]  # every flag is a truth


def _shift(position: Number, by: Number) -> Number:
    """Move a position towards the head; one that falls off is gone."""
    return choice(position >= by, position - by, -1)  # type: ignore[return-value]


def _behind(position: Number, length: Number) -> Number:
    """Move a position behind a queue of this length; one that isn't there stays so."""
    return choice(position >= 0, length + position, -1)  # type: ignore[return-value]


@frozen(eq=False)
class Queue:
    """
    Count pending items, head first.

    ``base`` and ``added``: which unknown items these were once, and what has joined them since. An id that is no
    tagged one is among the former or not, the same whenever it is asked.
    """

    n: Number = 0
    counts: Mapping[str, Number] = field(factory=lambda: dict.fromkeys(FLAGS, 0))
    a: Number = -1
    b: Number = -1
    base: tuple[object, ...] = ()
    added: tuple[Name, ...] = ()

    # -------------------------------------------------------------------------------------------- changing
    def push(self, item: Item) -> Queue:
        """Append at the tail."""
        self._agree(item)
        return self._grown(item, choice(item.message.id.a, self.n, self.a), choice(item.message.id.b, self.n, self.b))

    def unshift(self, item: Item) -> Queue:
        """Put in front of the head."""
        self._agree(item)
        a = choice(item.message.id.a, 0, _behind(self.a, 1))
        return self._grown(item, a, choice(item.message.id.b, 0, _behind(self.b, 1)))

    def _grown(self, item: Item, a: Any, b: Any) -> Queue:
        counts = {flag: count + number(item.flag(flag)) for flag, count in self.counts.items()}
        return Queue(self.n + 1, counts, a, b, self.base, (*self.added, item.message.id))

    def _agree(self, item: Item) -> None:
        """Keep to what is fixed about the tagged messages."""
        for flag, (a, b) in RIGID.items():
            require(implies(item.message.id.a, a == item.flag(flag)))
            require(implies(item.message.id.b, b == item.flag(flag)))

    def pop(self) -> tuple[Item, Queue]:
        """Take the head; call only on a queue that is not empty."""
        require(self.n > 0)
        item = self._some(self.a == 0, self.b == 0)
        self._agree(item)
        rest = self._less(item, self.n - 1, _shift(self.a, 1), _shift(self.b, 1))
        require(well_formed(rest))
        return item, rest

    def _some(self, a: Truth, b: Truth) -> Item:
        """Make an item that may be in here, with any flag that the counts allow."""
        flags = {flag: fresh(flag, "bool") for flag in self.counts}
        for flag, count in self.counts.items():
            require(choice(flags[flag], count > 0, count < self.n))
        require(implies(flags.get("late", False), flags.get("waking", True)))
        snapshots = fresh("attached", "int")
        require(snapshots >= 0)
        return Item(Letter(Name(a, b)), **flags, attached=Bunch(snapshots))

    def _less(self, item: Item, n: Number, a: Number, b: Number) -> Queue:
        counts = {flag: count - number(item.flag(flag)) for flag, count in self.counts.items()}
        return Queue(n, counts, a, b, (object(),))

    def join(self, other: Queue) -> Queue:
        """Append all of another queue."""
        counts = {flag: count + other.counts[flag] for flag, count in self.counts.items() if flag in other.counts}
        a = choice(other.a >= 0, self.n + other.a, self.a)
        b = choice(other.b >= 0, self.n + other.b, self.b)
        base, added = (*self.base, *other.base), (*self.added, *other.added)
        return Queue(self.n + other.n, counts, a, b, base, added)  # type: ignore[arg-type]  # a choice of numbers

    @classmethod
    def of(cls, messages: Iterable[Any]) -> Queue:
        """Lay out supplementary input in order."""
        laid = cls()
        for part in messages:
            laid = laid.join(part.laid_out()) if isinstance(part, Bunch) else laid.push(Item(part))
        return laid

    def steering(self) -> Queue:
        """Keep the steering items only, in order."""
        kept = self._count("steering")
        steers_a, steers_b = RIGID["steering"]
        a, b = fresh("a", "int"), fresh("b", "int")
        for position, before, steers in ((a, self.a, steers_a), (b, self.b, steers_b)):
            require(choice(both(before >= 0, steers), both(position >= 0, position < kept), position == -1))
            require(position <= before)
        require(implies(both(a >= 0, b >= 0), (a < b) == (self.a < self.b)))
        require(implies(both(a >= 0, b >= 0), a != b))
        return Queue(kept, {**dict.fromkeys(FLAGS, 0), "waking": kept, "steering": kept}, a, b, (object(),))

    def punctual(self) -> Queue:
        """Take lateness from every item."""
        return evolve(self, counts={**self.counts, "late": 0})

    def restored(self) -> Queue:
        """Keep what a log tells of the items: neither lateness nor snapshots."""
        return self.punctual()

    def head(self) -> Queue:
        """Keep the first item only, if there is one; nobody asks for its flags."""
        first = number(self.n > 0)
        return Queue(first, {}, choice(self.a == 0, 0, -1), choice(self.b == 0, 0, -1), (object(),))  # type: ignore[arg-type]

    def tail(self) -> Queue:
        """Drop the first item, if there is one."""
        gone = {flag: fresh(flag, "bool") for flag in self.counts}
        for flag, count in self.counts.items():
            require(choice(gone[flag], count > 0, either(self.n == 0, count < self.n)))
        require(implies(gone.get("late", False), gone.get("waking", True)))
        counts = {flag: count - number(gone[flag]) for flag, count in self.counts.items()}
        rest = Queue(self.n - number(self.n > 0), counts, _shift(self.a, 1), _shift(self.b, 1), (object(),))
        require(well_formed(rest))
        return rest

    # -------------------------------------------------------------------------------------------- by id
    def has(self, name: Name) -> Truth:
        """Whether an item of that id is pending; the same answer whenever it is asked of the same items."""
        tagged = either(both(name.a, self.a >= 0), both(name.b, self.b >= 0))
        among = either(*(name == other for other in self.added), self._was_among(name))
        return either(tagged, both(negate(name.tagged), among))

    def _was_among(self, name: Name) -> Truth:
        if not self.base:
            return False
        if self.base not in name.placed:
            name.placed[self.base] = fresh("has", "bool")
            others = self.n - number(self.a >= 0) - number(self.b >= 0)
            require(implies(name.placed[self.base], others > 0))
        return name.placed[self.base]  # type: ignore[no-any-return]  # a truth

    def index(self, name: Name) -> Number:
        """Find the position of the item of that id; one that another operation has found."""
        unknown = self._ask(name, "index", "int")
        require(either(both(unknown >= 0, unknown < self.n), name.tagged))
        require(implies(negate(name.tagged), both(unknown != self.a, unknown != self.b)))
        return choice(name.a, self.a, choice(name.b, self.b, unknown))  # type: ignore[return-value]

    def get(self, name: Name) -> Item | None:
        """Find the item of that id."""
        if not self.has(name):
            return None
        key = (id(self), "item")
        if key not in name.placed:
            name.placed[key] = evolve(self._some(name.a, name.b), message=Letter(name), attached=())
        item: Item = name.placed[key]
        return item

    def without(self, name: Name) -> Queue:
        """Drop the item of that id, which is there."""
        i, item = self.index(name), self.get(name)
        if item is None:
            return self
        rest = self._less(item, self.n - 1, _closed(self.a, i), _closed(self.b, i))
        require(well_formed(rest))
        return rest

    def swap(self, name: Name, item: Item) -> Queue:
        """Put another item in the place of the one of that id, which is there."""
        i, old = self.index(name), self.get(name)
        if old is None:
            return self
        rest = self._less(old, self.n, self.a, self.b)
        new = item.message.id
        a = choice(new.a, i, choice(name.a, -1, self.a))
        return rest._grown(item, a, choice(new.b, i, choice(name.b, -1, self.b)))._shortened()

    def _shortened(self) -> Queue:
        return evolve(self, n=self.n - 1)

    def _ask(self, name: Name, what: str, sort: Any) -> Any:
        """Leave open what isn't known of an id here, once for each id and queue."""
        key = (id(self), what)
        if key not in name.placed:
            name.placed[key] = fresh(what, sort)
        return name.placed[key]

    # -------------------------------------------------------------------------------------------- asking
    def _count(self, flag: str) -> Number:
        if flag not in self.counts:
            raise UncountedError(flag)
        return self.counts[flag]

    @property
    def empty(self) -> Truth:
        """Whether nothing is pending."""
        return self.n == 0

    @property
    def occupied(self) -> Truth:
        """Whether something is pending."""
        return self.n != 0

    @property
    def only_context(self) -> Truth:
        """Whether something is pending, and none of it is steering."""
        return both(self.n != 0, self._count("steering") == 0)

    @property
    def size(self) -> Number:
        """How many items are pending."""
        return self.n

    @property
    def has_waking(self) -> Truth:
        """Whether a waking item is pending."""
        return self._count("waking") > 0

    @property
    def has_steering(self) -> Truth:
        """Whether steering is pending."""
        return self._count("steering") > 0

    @property
    def has_context(self) -> Truth:
        """Whether something is pending that is no steering."""
        return self.n > self._count("steering")

    @property
    def has_late(self) -> Truth:
        """Whether a late waking item is pending."""
        return self._count("late") > 0

    @property
    def ids(self) -> Queue:
        """The pending ids in order: known by the same counters."""
        return self


def _closed(position: Number, gap: Number) -> Number:
    """Move a position up where the item at ``gap`` is taken out; that item itself is gone."""
    return choice(position == gap, -1, choice(position > gap, position - 1, position))  # type: ignore[return-value]


EMPTY = Queue()


def well_formed(queue: Queue) -> Truth:
    """Tell whether counters describe any queue at all."""
    there = (queue.a >= 0, queue.b >= 0)
    places = [both(p >= -1, p < queue.n) for p in (queue.a, queue.b)]
    apart = implies(both(*there), both(queue.a != queue.b, queue.n > 1))
    counted = [_counts(queue, flag, count, there) for flag, count in queue.counts.items()]
    woken = queue.counts["late"] <= queue.counts["waking"] if "late" in queue.counts else True
    return both(queue.n >= 0, *places, apart, *counted, woken)


def _counts(queue: Queue, flag: str, count: Number, there: tuple[Truth, Truth]) -> Truth:
    """Tell whether so many items may carry a flag, those among them that are known to, or not to."""
    if flag not in RIGID:
        return both(count >= 0, count <= queue.n)
    carriers = [number(both(here, says)) for here, says in zip(there, RIGID[flag], strict=True)]
    others = [number(both(here, negate(says))) for here, says in zip(there, RIGID[flag], strict=True)]
    return both(count >= carriers[0] + carriers[1], queue.n - count >= others[0] + others[1])
