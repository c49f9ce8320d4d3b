"""
Draw values of the vocabulary for Hypothesis: whatever the types allow, and a little that only the prose says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
from hypothesis import strategies as st

from turnproof_model import vocabulary as v
from turnproof_model.events import EVENTS, Event, PluginEvent
from turnproof_model.wire import carried

NAMES = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
ATOMS = {str: NAMES, bool: st.booleans(), int: st.integers(0, 99), object: JSON, NoneType: st.none()}


def values(cls: Any) -> st.SearchStrategy[Any]:
    """Draw instances of a type of the vocabulary."""
    if cls in SPECIAL:
        return SPECIAL[cls]
    if cls in ATOMS:
        return ATOMS[cls]
    if attrs.has(cls):
        return _instances(cls)
    origin, args = get_origin(cls), get_args(cls)
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        return st.lists(values(args[0]), max_size=2).map(tuple)
    if origin in (Union, UnionType):
        return st.one_of([values(arg) for arg in args])
    assert origin is Mapping
    return st.dictionaries(values(args[0]), values(args[1]), max_size=2)


def _instances(cls: type[Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    drawn = {a.name: values(hints[a.name]) for a in carried(cls)}
    drawn |= {a.name: st.integers(a.metadata["minimum"], 9) for a in carried(cls) if "minimum" in a.metadata}
    return st.builds(cls, **drawn)


def _sources() -> st.SearchStrategy[v.Source]:
    details = st.dictionaries(NAMES.filter(lambda key: key != "kind"), JSON, max_size=2)
    return st.builds(v.Source, NAMES, details)


def _sends() -> st.SearchStrategy[v.Send]:
    presets = st.one_of([st.builds(preset, values(v.Message)) for preset in (v.followup, v.steer, v.inject)])
    return presets | _instances(v.Send)


def _operations() -> st.SearchStrategy[Any]:
    """Draw operations; arms nest at most once, so that values stay small."""
    flat = [values(cls) for cls in get_args(v.Operation) if cls is not v.Arm]
    arms = st.builds(
        v.Arm,
        on=NAMES,
        ops=st.lists(st.one_of(flat), max_size=2).map(tuple),
        where=st.dictionaries(NAMES, JSON, max_size=2),
        nth=st.integers(1, 3),
        defer=st.integers(0, 3),
    )
    return st.one_of(*flat, arms)


def _plugin_events() -> st.SearchStrategy[PluginEvent]:
    kinds = st.sampled_from(["session", "live", "driver"]).map(lambda kind: {"kind": kind})
    fields = st.dictionaries(NAMES.filter(lambda key: key not in ("kind", "type")), JSON, max_size=2)
    names = NAMES.filter(lambda name: all(name != known for _, known in EVENTS))
    return st.builds(lambda name, kind, rest: PluginEvent(name, kind | rest), names, kinds, fields)


def _events() -> st.SearchStrategy[Event]:
    return st.one_of([_instances(cls) for cls in EVENTS.values()]) | _plugin_events()


SPECIAL: dict[Any, st.SearchStrategy[Any]] = {}
SPECIAL[v.Source] = _sources()
SPECIAL[v.Send] = st.deferred(_sends)
SPECIAL[v.Operation] = st.deferred(_operations)
SPECIAL[Event] = st.deferred(_events)
