"""
Say what a state is searched for: a small language of predicates, read with Python's own parser and nothing else of it.

``at == 'idle' and pending('steering') >= 1``: fields of the control state, counts of what is pending, and what the last
transition did, joined by ``and``, ``or``, ``not``, comparisons and ``in``. Whatever isn't listed here is refused, and
so is a value that a field never has, since a search for it would come back empty whatever the rules do.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from attrs import define, field, frozen

from turnproof_model.readings.codegen import Transition
from turnproof_model.readings.forest import Forest
from turnproof_model.readings.packed import length_cell, plane_cell
from turnproof_model.readings.script import Shown
from turnproof_model.vocabulary import Contract

NAMED: Mapping[Contract, Mapping[str, str]] = {
    "window": {
        "steering retained after a blocked admission": "took('prompt-submit', 'block') and pending('steering') >= 1",
        "a prompt waits behind a running turn": "window and pending('queued') >= 1",
        "context is appended under an abort": "event('user/message') and abort != ''",
        "a window closes while input is staged": "not window and pending('staged') >= 1",
        "a failed request is asked again": "event('turn/start') and trigger == 'retry'",
        "a turn ends with steering unanswered": "event('turn/end') and pending('steering') >= 1",
        "an admission waits with two prompts behind it": "at == 'admission' and pending('queued') >= 2",
        "rest with context staged": "at == 'idle' and pending('context') >= 1",
    },
    "claim": {
        "a waking message is late": "pending('late') >= 1",
        "rest with a waking message pending": "at == 'idle' and pending('waking') >= 1",
        "a boundary is rejected with input waiting": "took('pre-step', 'reject') and pending('next-turn') >= 1",
        "a claim of two lists at once": "event('agent/inbox/claimed') and pending('claimed') >= 2",
        "steering arrives while tools run": "at == 'tools' and pending('next-step') >= 1",
        "an aborted turn leaves prompts": "at == 'ended' and cause != None and pending('next-turn') >= 1",
    },
}
"""Predicates that have a name, by contract."""

_SELECTED: Mapping[Contract, Mapping[str, tuple[tuple[str, ...], str, bool]]] = {
    "window": {
        "queued": (("queued",), "", True),
        "staged": (("due", "outbox"), "", True),
        "steering": (("due", "outbox"), "steering", True),
        "context": (("due", "outbox"), "steering", False),
        "waking": (("queued",), "waking", True),
    },
    "claim": {
        "next-turn": (("next_turn",), "", True),
        "next-step": (("next_step",), "", True),
        "waking": (("next_turn", "next_step"), "waking", True),
        "late": (("next_turn", "next_step"), "late", True),
        "claimed": (("claimed",), "", True),
    },
}
"""What may be counted as pending: the queues, and the mark that items have (or lack); no mark is every item."""


class PredicateError(ValueError):
    """Say that a text is no predicate of this contract."""


@frozen
class Moment:
    """Be a state as a predicate looks at it: how to read a cell there, and the transition that led to it, if any."""

    read: Callable[[str], Any]
    transition: Transition | None

    @property
    def shown(self) -> tuple[Shown, ...]:
        """What the transition showed."""
        script = None if self.transition is None else self.transition.script
        return () if script is None else script.shown


Part: TypeAlias = Callable[[Moment], Any]


@frozen
class Predicate:
    """Be a predicate: its text, what it says of a moment, and the cells that it reads."""

    text: str
    holds: Part
    cells: frozenset[str]


# ------------------------------------------------------------------------------------------------ words
def _action(moment: Moment) -> str:
    return "" if moment.transition is None else moment.transition.action


def _event(name: str) -> Part:
    return lambda moment: any(one.hook == "see" and one.told[0].type == name for one in moment.shown)


def _opened(kind: str) -> Part:
    def opened(moment: Moment) -> bool:
        return any(one.hook == "see" and getattr(one.told[0], "gate_kind", "") == kind for one in moment.shown)

    return opened


def _took(kind: str, outcome: str) -> Part:
    def took(moment: Moment) -> bool:
        return any(one.hook == "takes" and one.told[0] == kind and one.told[1].kind == outcome for one in moment.shown)

    return took


_FUNCTIONS: Mapping[str, tuple[str, Callable[..., Part]]] = {
    "event": ("event(TYPE): the last transition published such an event", _event),
    "opened": ("opened(KIND): the last transition opened or aborted such a gate", _opened),
    "took": ("took(KIND, OUTCOME): the loop has just taken this outcome of such a gate", _took),
}

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}


def words(forest: Forest) -> Iterator[str]:
    """List what a predicate may say of a contract."""
    yield from (text for text, _ in _FUNCTIONS.values())
    yield f"pending(WHAT): how many are pending, of {', '.join(_SELECTED[forest.contract])}"
    yield "action: the last command, or move, release, resume"
    yield f"fields: {', '.join(_fields(forest))}"


def _fields(forest: Forest) -> Iterator[str]:
    return (name for name in forest.shape.control if name.isidentifier())


# ------------------------------------------------------------------------------------------------ reading
@define(eq=False)
class Reader:
    """Read one predicate of a contract; ``cells``: those that it looks at."""

    forest: Forest
    cells: set[str] = field(factory=set)

    def read(self, text: str) -> Predicate:
        """
        Read a predicate, or the name of one.

        Raises:
            PredicateError: it is none.
        """
        source = NAMED[self.forest.contract].get(text, text)
        try:
            tree = ast.parse(source.strip(), mode="eval")
        except SyntaxError as error:
            raise PredicateError(f"a predicate must be an expression (got {text!r}): {error.msg}") from error
        return Predicate(source, self._part(tree.body), frozenset(self.cells))

    def _part(self, node: ast.expr) -> Part:
        match node:
            case ast.BoolOp(ast.And(), values):
                every = [self._part(value) for value in values]
                return lambda moment: all(part(moment) for part in every)
            case ast.BoolOp(ast.Or(), values):
                some = [self._part(value) for value in values]
                return lambda moment: any(part(moment) for part in some)
            case ast.UnaryOp(ast.Not(), operand):
                inner = self._part(operand)
                return lambda moment: not inner(moment)
            case ast.Compare():
                return self._compared(node)
            case ast.Constant(value) if isinstance(value, (bool, int, str)) or value is None:
                return lambda _: value
            case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
                parts = [self._part(element) for element in elements]
                return lambda moment: tuple(part(moment) for part in parts)
            case ast.Name(name):
                return self._named(name)
            case ast.Call(ast.Name(name), args, []):
                return self._called(name, args)
            case _:
                raise PredicateError(f"a predicate has no such part: {ast.unparse(node)!r}; see --list-predicates")

    def _compared(self, node: ast.Compare) -> Part:
        sides = [node.left, *node.comparators]
        for left, right in pairwise(sides):
            self._could_be(left, right)
            self._could_be(right, left)
        parts = [self._part(side) for side in sides]
        tests = [_COMPARE[type(op)] for op in node.ops if type(op) in _COMPARE]
        if len(tests) < len(node.ops):
            raise PredicateError(f"a predicate compares by ==, <, in and the like (got {ast.unparse(node)!r})")

        def compared(moment: Moment) -> bool:
            values = [part(moment) for part in parts]
            return all(test(left, right) for test, (left, right) in zip(tests, pairwise(values), strict=True))

        return compared

    def _could_be(self, name: ast.expr, value: ast.expr) -> None:
        """Refuse a value that a field never has."""
        if not isinstance(name, ast.Name) or name.id not in self.forest.shape.control:
            return
        constants = value.elts if isinstance(value, (ast.Tuple, ast.List, ast.Set)) else [value]
        known = self._values(name.id)
        for one in constants:
            if isinstance(one, ast.Constant) and one.value not in known:
                raise PredicateError(f"{name.id} is one of {', '.join(map(repr, known))} (got {one.value!r})")

    def _values(self, name: str) -> tuple[Hashable, ...]:
        return tuple(dict.fromkeys(value for fields in self.forest.values.values() for value in fields[name]))

    def _named(self, name: str) -> Part:
        if name == "action":
            return _action
        if name not in _fields(self.forest):
            known = ", ".join(("action", *_fields(self.forest)))
            raise PredicateError(f"a predicate knows the names {known} (got {name!r})")
        if name not in self.forest.place:
            self.cells.add(name)
        return lambda moment: moment.read(name)

    def _called(self, name: str, args: list[ast.expr]) -> Part:
        given = [arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if len(given) != len(args):
            raise PredicateError(f"{name} takes words in quotes (got {', '.join(map(ast.unparse, args))})")
        if name == "pending" and len(given) == 1:
            return self._pending(given[0])
        if name not in _FUNCTIONS:
            raise PredicateError(f"a predicate calls pending, {', '.join(_FUNCTIONS)} (got {name!r})")
        text, make = _FUNCTIONS[name]
        if len(given) != text.partition(":")[0].count(",") + 1:
            raise PredicateError(f"{text.partition(':')[0]} is how it is called (got {len(given)} words)")
        return make(*given)

    def _pending(self, what: str) -> Part:
        known = _SELECTED[self.forest.contract]
        if what not in known:
            raise PredicateError(f"what is pending is one of {', '.join(known)} (got {what!r})")
        queues, mark, has = known[what]
        self.cells.update(length_cell(queue) for queue in queues)
        self.cells.update(plane_cell(queue, mark) for queue in queues if mark)

        def pending(moment: Moment) -> int:
            all_of = sum(moment.read(length_cell(queue)) for queue in queues)
            if not mark:
                return int(all_of)
            with_mark = sum(moment.read(plane_cell(queue, mark)).bit_count() for queue in queues)
            return int(with_mark if has else all_of - with_mark)

        return pending
