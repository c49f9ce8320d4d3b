"""
Turn the vocabulary into JSON values and back, with cattrs: camelCase names, unions told by a tag.

``to_wire`` and ``from_wire`` are the two doors. What is at its default is left out, unless the field is marked
``always``. Reading a request fills in what was left out; reading an answer doesn't, so a driver that forgets a field is
told. Bad input raises ``WireError`` naming the place and what came.

Values are read by a converter that only tells good from bad; a second one, slower, reads bad values again to say where.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import GenericAlias, NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.cols import list_structure_factory, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from turnproof_model import events, observation
from turnproof_model import vocabulary as v
from turnproof_model.events import EVENTS, Event, PluginEvent
from turnproof_model.observation import Observation, Profile, WhenIdle

T = TypeVar("T")
Hook: TypeAlias = Callable[[Any, Any], Any]


class WireError(ValueError):
    """Say that a JSON value is not what the protocol asks for; nothing was changed."""


def camel(name: str) -> str:
    """Spell a field name as on the wire."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def carried(cls: type[Any]) -> tuple[Any, ...]:
    """List the attrs fields of a class that stand on the wire."""
    return tuple(a for a in attrs.fields(cls) if a.metadata.get("wire") is not False)


def obligatory(attribute: Any) -> bool:
    """Tell whether the wire must carry the field."""
    return attribute.default is attrs.NOTHING or attribute.metadata.get("wire") == "always"


_NO_MESSAGE = v.Message("", "")

PRESETS: Mapping[str, v.Send] = {
    send.method: send for send in (v.followup(_NO_MESSAGE), v.steer(_NO_MESSAGE), v.inject(_NO_MESSAGE))
}
"""The abbreviations of ``send`` by their names, before they are given a message."""

REQUESTS: Mapping[str, type[Any]] = {
    **{
        cls.method: cls
        for cls in (
            *(v.Cancel, v.Dispose, v.Release, v.Remove, v.Replace, v.Prepend, v.Reference, v.Arm),
            *(v.Batch, v.Reset, v.Resume, v.Goal, v.Inspect, v.Initialize, v.Shutdown),
        )
    },
    **dict.fromkeys(("send", *PRESETS), v.Send),
}
"""The request class of each method."""

OUTCOME_BY_KIND: Mapping[str, type[v.Outcome]] = {cls.kind: cls for cls in get_args(v.Outcome)}

EVENT_KINDS = frozenset(get_args(events.EventKind))


# ------------------------------------------------------------------------------------------------ the converters
def _converter(*, detailed: bool) -> Converter:
    """Build one converter; ``detailed`` makes it say where a value is bad."""
    c = Converter(detailed_validation=detailed)
    c.register_unstructure_hook_factory(attrs.has, functools.partial(_unstructure_class, c))
    c.register_structure_hook_factory(attrs.has, functools.partial(_structure_class, c))
    c.register_structure_hook_factory(_is_list, functools.partial(_structure_list, c))
    c.register_structure_hook_factory(_is_mapping, functools.partial(_structure_mapping, c))
    c.register_structure_hook_factory(_is_literal, _structure_literal)
    c.register_structure_hook_factory(_is_optional, functools.partial(_structure_optional, c))
    c.register_structure_hook(v.Source, _structure_source)
    c.register_unstructure_hook(v.Source, lambda s: {"kind": s.kind, **s.details})
    _union(c, v.Outcome, functools.partial(_structure_outcome, c), functools.partial(_unstructure_tagged, c))
    _union(c, v.Operation, functools.partial(_structure_request, c), functools.partial(_unstructure_request, c))
    _union(
        c,
        v.Message | str,
        lambda x, _: x if isinstance(x, str) else c.structure(x, v.Message),
        lambda x: x if isinstance(x, str) else c.unstructure(x),
    )
    _union(c, WhenIdle, _structure_when_idle, lambda x: x)
    plain_seen = _structure_class(c, v.Seen)
    c.register_structure_hook(v.Seen, lambda x, cls: plain_seen(_older_tool_result(x), cls))
    for atom, words in ((bool, "true or false"), (int, "a whole number"), (str, "text")):
        c.register_structure_hook(atom, _structure_atom(atom, words))
    c.register_structure_hook_func(lambda cls: cls is object, lambda x, _: x)
    hooks = {tag: c.get_structure_hook(cls) for tag, cls in EVENTS.items()}
    _union(c, Event, functools.partial(_structure_event, hooks), functools.partial(_unstructure_event, c))
    return c


def _union(c: Converter, union: Any, structure: Any, unstructure: Any) -> None:
    """Register both directions for a union, which cattrs finds by equality of the whole type."""
    c.register_structure_hook_func(lambda cls: cls == union, structure)
    c.register_unstructure_hook_func(lambda cls: cls == union, unstructure)


def _names(cls: type[Any], *, spelled_out: bool) -> dict[str, Any]:
    """Spell the fields of a class; ``spelled_out`` says which are written even at their default."""
    return {
        a.name: override(omit=True)
        if a.metadata.get("wire") is False
        else override(rename=camel(a.name), omit_if_default=not obligatory(a) if spelled_out else None)
        for a in attrs.fields(cls)
    }


def _unstructure_class(c: Converter, cls: type[Any]) -> Callable[[Any], dict[str, Any]]:
    return make_dict_unstructure_fn(cls, c, **_names(cls, spelled_out=True))


def _structure_class(c: Converter, cls: type[Any]) -> Hook:
    """Read an object; of an answer, every field that the wire must carry."""
    read: Hook = make_dict_structure_fn(cls, c, **_names(cls, spelled_out=False))
    answered = cls.__module__ in (events.__name__, observation.__name__)
    must = frozenset(camel(a.name) for a in carried(cls) if answered and obligatory(a))

    def structure(value: Any, cls: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"{cls.__name__} is an object (got {shorten(value)})")
        if must and not must <= value.keys():
            raise ValueError(f"{cls.__name__} must carry {', '.join(sorted(must - value.keys()))}")
        return read(value, cls)

    return structure


def _is_list(cls: Any) -> bool:
    origin: Any = get_origin(cls)
    return origin is tuple and get_args(cls)[1:] == (...,)


def _structure_list(c: Converter, cls: Any) -> Hook:
    """Read a list; text, which can be iterated over too, is none."""
    as_list: Any = GenericAlias(list, get_args(cls)[:1])
    read = list_structure_factory(as_list, c)

    def structure(value: Any, _: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"a list expected (got {shorten(value)})")
        return tuple(read(value, as_list)) if value else ()

    return structure


def _is_mapping(cls: Any) -> bool:
    return get_origin(cls) is Mapping


def _structure_mapping(c: Converter, cls: Any) -> Hook:
    as_dict: Any = GenericAlias(dict, get_args(cls))
    read: Hook = mapping_structure_factory(as_dict, c)

    def structure(value: Any, _: Any) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"an object expected (got {shorten(value)})")
        return dict(read(value, as_dict))

    return structure


def _structure_atom(atom: type[Any], words: str) -> Hook:
    def structure(value: Any, _: Any) -> Any:
        if type(value) is atom:  # true is an int to Python, not to JSON
            return value
        raise ValueError(f"{words} expected (got {shorten(value)})")

    return structure


def _is_optional(cls: Any) -> bool:
    args = get_args(cls) if get_origin(cls) in (Union, UnionType) else ()
    return len(args) == 2 and NoneType in args


def _structure_optional(c: Converter, cls: Any) -> Hook:
    """Read a value or null; cattrs looks the hook of the value up each time."""
    inner = next(arg for arg in get_args(cls) if arg is not NoneType)
    read = c.get_structure_hook(inner)

    def structure(value: Any, _: Any) -> Any:
        return None if value is None else read(value, inner)

    return structure


def _is_literal(cls: Any) -> bool:
    origin: Any = get_origin(cls)
    return origin is Literal


def _structure_literal(cls: Any) -> Hook:
    values = get_args(cls)

    def structure(value: Any, _: Any) -> Any:
        if value in values:
            return value
        raise ValueError(f"one of {', '.join(values)} expected (got {shorten(value)})")

    return structure


def _structure_when_idle(value: Any, _: object) -> WhenIdle:
    if value is None or isinstance(value, bool) or value == "would-spin":
        return value  # type: ignore[no-any-return]  # narrowed by the test above
    raise ValueError(f"true, false, null or 'would-spin' expected (got {shorten(value)})")


def _structure_source(value: Any, _: object) -> v.Source:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise ValueError(f"a source is an object with a text 'kind' (got {shorten(value)})")
    return v.Source(value["kind"], {key: item for key, item in value.items() if key != "kind"})


def _structure_outcome(c: Converter, value: Any, _: object) -> v.Outcome:
    kind = value.get("kind") if isinstance(value, dict) else None
    cls = OUTCOME_BY_KIND.get(str(kind))
    if cls is None:
        raise ValueError(
            f"an outcome is an object whose kind is one of {sorted(OUTCOME_BY_KIND)} (got {shorten(value)})"
        )
    return c.structure(value, cls)


def _unstructure_tagged(c: Converter, value: Any) -> dict[str, Any]:
    return {"kind": value.kind, **c.unstructure(value, type(value))}


def _structure_request(c: Converter, value: Any, _: object) -> Any:
    method = value.get("method") if isinstance(value, dict) else None
    cls = REQUESTS.get(str(method))
    if cls is None:
        raise ValueError(f"a request names one of the methods {sorted(REQUESTS)} (got {shorten(value)})")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise ValueError(f"params of '{method}' are an object (got {shorten(params)})")
    if isinstance(method, str) and method in PRESETS:
        preset = PRESETS[method]
        return attrs.evolve(preset, message=c.structure(params.get("message"), v.Message))
    return c.structure(params, cls)


def _unstructure_request(c: Converter, value: Any) -> dict[str, Any]:
    if isinstance(value, v.Send) and value.preset is not None:
        return {"method": value.preset, "params": {"message": c.unstructure(value.message, v.Message)}}
    return {"method": value.method, "params": c.unstructure(value, type(value))}


def _older_tool_result(value: Any) -> Any:
    """Read a tool result in the older form ``{role: "tool", callId}`` too: recordings have it."""
    if isinstance(value, dict) and value.get("role") == "tool":
        return {"role": "user", "toolResult": value.get("callId"), "isError": value.get("isError")}
    return value


def _structure_event(hooks: Mapping[tuple[str, str], Hook], value: Any, _: object) -> Event:
    if not isinstance(value, dict) or value.get("kind") not in EVENT_KINDS:
        raise ValueError(f"an event is an object whose kind is one of {sorted(EVENT_KINDS)} (got {shorten(value)})")
    kind = value["kind"]
    name = value.get("type", "request" if kind == "request" else None)
    if not isinstance(name, str):
        raise ValueError(f"an event carries its type as text (got {shorten(value)})")
    hook = hooks.get((kind, name))
    if hook is None:
        return PluginEvent(name, {key: item for key, item in value.items() if key != "type"})
    return hook(value, EVENTS[kind, name])  # type: ignore[no-any-return]  # the class that its tag names


def _unstructure_event(c: Converter, value: Event) -> dict[str, Any]:
    if isinstance(value, PluginEvent):
        return {"type": value.name, **value.fields}
    return {"kind": value.kind, "type": value.type, **c.unstructure(value, type(value))}


BAD_VALUE = (ValueError, TypeError, KeyError)
"""What the hooks, or the code that cattrs generates around them, raise for a value of another form."""

CONVERTER = _converter(detailed=False)
_EXPLAINER = _converter(detailed=True)


# ------------------------------------------------------------------------------------------------ the doors
def from_wire(value: object, cls: type[T]) -> T:
    """
    Read a JSON value as an instance of ``cls``.

    Raises:
        WireError: the value doesn't have the form; the message lists every place.
    """
    try:
        return CONVERTER.structure(value, cls)
    except BAD_VALUE as error:
        raise WireError(f"{_places(value, cls) or _explain(error, None)} (got {shorten(value)})") from error


def _places(value: object, cls: type[Any]) -> str:
    """Read a bad value once more to say where it is bad."""
    try:
        _EXPLAINER.structure(value, cls)
    except BaseValidationError as error:
        return "; ".join(transform_error(error, path="$", format_exception=_explain))
    except BAD_VALUE as error:
        return _explain(error, None)
    return ""


def _explain(error: BaseException, _: object) -> str:
    """Say what one exception of the converter means."""
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def request_from_wire(value: object) -> v.Request:
    """
    Read ``{method, params}``.

    Raises:
        WireError: an unknown method or params that don't fit it.
    """
    return from_wire(value, v.Operation)  # type: ignore[arg-type]  # the hook covers every request


def event_from_wire(value: object) -> Event:
    """
    Read one event; a type that the contract doesn't name becomes a ``PluginEvent``.

    Raises:
        WireError: a named event whose fields don't fit.
    """
    return from_wire(value, Event)


def observation_from_wire(value: object) -> Observation:
    """
    Read one observation.

    Raises:
        WireError: a field is missing or has the wrong form.
    """
    return from_wire(value, Observation)


def profile_from_wire(value: object) -> Profile:
    """
    Read the answer to ``initialize``.

    Raises:
        WireError: a field is missing or has the wrong form.
    """
    return from_wire(value, Profile)


def to_wire(value: Any) -> Any:
    """Write any value of the vocabulary as a JSON value."""
    if isinstance(value, Event):
        return _unstructure_event(CONVERTER, value)
    if isinstance(value, _OUTCOMES):
        return _unstructure_tagged(CONVERTER, value)
    if isinstance(value, _REQUESTS):
        return _unstructure_request(CONVERTER, value)
    return CONVERTER.unstructure(value)


_OUTCOMES = get_args(v.Outcome)
_REQUESTS = get_args(v.Request)


def shorten(value: object, limit: int = 200) -> str:
    """Show a value in a message without flooding it; ``limit`` in characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
