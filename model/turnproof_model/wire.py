"""
Turn the vocabulary into JSON values and back, with cattrs: camelCase names, defaults left out, unions told by a tag.

``to_wire`` and ``from_wire`` are the two doors. Bad input raises ``WireError`` naming the class and what came.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from turnproof_model import vocabulary as v
from turnproof_model.events import EVENTS, Event, PluginEvent
from turnproof_model.observation import GateView, Observation, Profile, WhenIdle

T = TypeVar("T")


class WireError(ValueError):
    """Say that a JSON value is not what the protocol asks for; nothing was changed."""


def camel(name: str) -> str:
    """Spell a field name as on the wire."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


SEND_PRESETS: Mapping[str, tuple[v.Target, bool]] = {
    "followup": ("next-turn", True),
    "steer": ("next-step", True),
    "inject": ("next-step", False),
}

REQUESTS: Mapping[str, type[Any]] = {
    **{
        cls.method: cls
        for cls in (
            *(v.Cancel, v.Dispose, v.Release, v.Remove, v.Replace, v.Prepend, v.Reference, v.Arm),
            *(v.Batch, v.Reset, v.Resume, v.Goal, v.Inspect, v.Initialize, v.Shutdown),
        )
    },
    **dict.fromkeys(("send", *SEND_PRESETS), v.Send),
}
"""The request class of each method."""

OUTCOME_BY_KIND: Mapping[str, type[v.Outcome]] = {cls.kind: cls for cls in get_args(v.Outcome)}


def _converter() -> Converter:
    """Build the converter once; every attrs class gets camelCase names and loses fields at their default."""
    c = Converter()

    def unstructure_factory(cls: type[Any]) -> Any:
        names: dict[str, Any] = {a.name: override(rename=camel(a.name)) for a in attrs.fields(cls)}
        for a in attrs.fields(cls):
            if a.metadata.get("wire") is False:
                names[a.name] = override(omit=True)
        return make_dict_unstructure_fn(cls, c, _cattrs_omit_if_default=True, **names)

    def structure_factory(cls: type[Any]) -> Any:
        names: dict[str, Any] = {a.name: override(rename=camel(a.name)) for a in attrs.fields(cls)}
        for a in attrs.fields(cls):
            if a.metadata.get("wire") is False:
                names[a.name] = override(omit=True)
        return make_dict_structure_fn(cls, c, _cattrs_forbid_extra_keys=False, **names)

    c.register_unstructure_hook_factory(attrs.has, unstructure_factory)
    c.register_structure_hook_factory(attrs.has, structure_factory)
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
    _union(c, Event, functools.partial(_structure_event, c), functools.partial(_unstructure_event, c))
    plain_seen = structure_factory(v.Seen)
    c.register_structure_hook(v.Seen, lambda x, cls: plain_seen(_older_tool_result(x), cls))
    c.register_structure_hook(bool, _structure_bool)
    c.register_structure_hook(int, _structure_int)
    c.register_structure_hook(str, _structure_str)
    c.register_structure_hook_func(lambda cls: cls is object, lambda x, _: x)
    return c


def _union(c: Converter, union: Any, structure: Any, unstructure: Any) -> None:
    """Register both directions for a union, which cattrs finds by equality of the whole type."""
    c.register_structure_hook_func(lambda cls: cls == union, structure)
    c.register_unstructure_hook_func(lambda cls: cls == union, unstructure)


def _structure_bool(value: Any, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"true or false expected (got {value!r})")


def _structure_when_idle(value: Any, _: object) -> WhenIdle:
    if value is None or isinstance(value, bool) or value == "would-spin":
        return value  # type: ignore[no-any-return]  # narrowed by the test above
    raise ValueError(f"true, false, null or 'would-spin' expected (got {value!r})")


def _structure_int(value: Any, _: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"a whole number expected (got {value!r})")


def _structure_str(value: Any, _: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"text expected (got {value!r})")


def _structure_source(value: Any, _: object) -> v.Source:
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise ValueError(f"a source is an object with a text 'kind' (got {value!r})")
    return v.Source(value["kind"], {key: item for key, item in value.items() if key != "kind"})


def _structure_outcome(c: Converter, value: Any, _: object) -> v.Outcome:
    kind = value.get("kind") if isinstance(value, Mapping) else None
    cls = OUTCOME_BY_KIND.get(str(kind))
    if cls is None:
        raise ValueError(f"an outcome is an object whose kind is one of {sorted(OUTCOME_BY_KIND)} (got {value!r})")
    return c.structure(value, cls)


def _unstructure_tagged(c: Converter, value: Any) -> dict[str, Any]:
    return {"kind": value.kind, **c.unstructure(value, type(value))}


def _structure_request(c: Converter, value: Any, _: object) -> Any:
    method = value.get("method") if isinstance(value, Mapping) else None
    cls = REQUESTS.get(str(method))
    if cls is None:
        raise ValueError(f"a request names one of the methods {sorted(REQUESTS)} (got {value!r})")
    params = value.get("params") or {}
    if cls is v.Send:
        preset = None if method == "send" else method
        target, wakeup = SEND_PRESETS.get(str(method), ("next-turn", True))
        return c.structure({"target": target, "wakeup": wakeup, **params, "preset": preset}, v.Send)
    return c.structure(params, cls)


def _unstructure_request(c: Converter, value: Any) -> dict[str, Any]:
    if isinstance(value, v.Send):
        params: dict[str, Any] = {"message": c.unstructure(value.message)}
        if value.preset is None:
            params |= {"target": value.target, "wakeup": value.wakeup}
        return {"method": value.method, "params": params}
    params = c.unstructure(value, type(value))
    return {"method": value.method, "params": params}


def _older_tool_result(value: Any) -> Any:
    """Read a tool result in the older form ``{role: "tool", callId}`` too: recordings have it."""
    if isinstance(value, Mapping) and value.get("role") == "tool":
        return {"role": "user", "toolResult": value.get("callId"), "isError": value.get("isError")}
    return value


def _structure_event(c: Converter, value: Any, _: object) -> Event:
    if not isinstance(value, Mapping):
        raise ValueError(f"an event is an object (got {value!r})")
    kind = str(value.get("kind"))
    name = str(value.get("type", "request" if kind == "request" else ""))
    cls = EVENTS.get((kind, name))
    if cls is None:
        return PluginEvent(name, {key: item for key, item in value.items() if key != "type"})
    return c.structure(value, cls)


def _unstructure_event(c: Converter, value: Event) -> dict[str, Any]:
    if isinstance(value, PluginEvent):
        return {"type": value.name, **value.fields}
    required = {a.name: a for a in attrs.fields(type(value)) if a.metadata.get("wire") is not False}
    out = {"kind": value.kind, "type": value.type, **c.unstructure(value, type(value))}
    for name, attribute in required.items():  # judged fields are shown even at their default
        if attribute.eq and not attribute.metadata.get("optional") and camel(name) not in out:
            default = getattr(value, name)
            if default is not None and name != "interrupted":
                out[camel(name)] = c.unstructure(default)
    return out


CONVERTER = _converter()


def from_wire(value: object, cls: type[T]) -> T:
    """
    Read a JSON value as an instance of ``cls``.

    Raises:
        WireError: the value doesn't have the form; the message lists every place.
    """
    try:
        return CONVERTER.structure(value, cls)
    except BaseValidationError as error:
        places = "; ".join(transform_error(error, path=getattr(cls, "__name__", "request")))
        raise WireError(f"{places} (got {shorten(value)})") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WireError(f"{error} (got {shorten(value)})") from error


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
    if isinstance(value, get_args(v.Outcome)):
        return _unstructure_tagged(CONVERTER, value)
    if isinstance(value, get_args(v.Request)):
        return _unstructure_request(CONVERTER, value)
    if isinstance(value, Observation):
        return _observation_to_wire(value)
    return CONVERTER.unstructure(value)


def _observation_to_wire(value: Observation) -> dict[str, Any]:
    out = {
        "events": [to_wire(event) for event in value.events],
        "gates": [CONVERTER.unstructure(gate, GateView) for gate in value.gates],
        "status": value.status,
        "acceptsNextStep": value.accepts_next_step,
        "inbox": None if value.inbox is None else _inbox_to_wire(value.inbox),
        "whenIdle": value.when_idle,
    }
    for name in ("refused", "answer", "goal"):
        if getattr(value, name) is not None:
            out[name] = getattr(value, name)
    return out


def _inbox_to_wire(inbox: Any) -> dict[str, Any]:
    out = {"nextTurn": list(inbox.next_turn), "nextStep": list(inbox.next_step)}
    if inbox.next_step_kinds:
        out["nextStepKinds"] = list(inbox.next_step_kinds)
    return out


def shorten(value: object, limit: int = 200) -> str:
    """Show a value in a message without flooding it; ``limit`` in characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
