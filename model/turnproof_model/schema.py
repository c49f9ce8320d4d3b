"""
Generate the JSON Schema of the driver protocol from the classes of the vocabulary.

The classes are the truth; the schema is printed for whoever writes a driver in another language. Docstrings become
descriptions. Requests are closed, because turnproof sends exactly what stands here; answers are open, because a driver
may add fields, and because types that the contract doesn't name belong to plugins.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from turnproof_model import vocabulary as v
from turnproof_model.events import EVENTS, Event, EventKind, PluginEvent
from turnproof_model.observation import Observation, Profile
from turnproof_model.wire import PRESETS, REQUESTS, camel, carried, obligatory

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

ATOMS: Mapping[type[Any], Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    object: {},
}


def protocol_schema() -> Schema:
    """
    Generate the schema of one line of a conversation, request or response.

    Returns:
        A JSON value in a fixed order; every class of the vocabulary is one of its ``$defs``.
    """
    return {
        "$schema": DIALECT,
        "$id": f"urn:turnproof:driver-protocol:{v.Initialize().protocol}",
        "title": f"turnproof driver protocol, version {v.Initialize().protocol}",
        "description": "One line of a conversation between turnproof and a driver: a request or its response.",
        "oneOf": [_ref("Request"), _ref("Response")],
        "$defs": dict(sorted(_definitions().items())),
    }


def _definitions() -> dict[str, Schema]:
    """Define every class, and what JSON-RPC puts around them."""
    return {
        **{cls.__name__: _described(cls, _object(cls)) for cls in _plain_classes()},
        **{cls.__name__: _described(cls, _tagged(cls, {"kind": cls.kind})) for cls in get_args(v.Outcome)},
        **{cls.__name__: _event(cls) for cls in EVENTS.values()},
        "PluginEvent": _plugin_event(),
        "Event": {"oneOf": [_ref(cls.__name__) for cls in (*EVENTS.values(), PluginEvent)]},
        "Source": _described(v.Source, _open({"kind": ATOMS[str]}, ["kind"])),
        "Outcome": {"oneOf": [_ref(cls.__name__) for cls in get_args(v.Outcome)]},
        "GateOutcomes": _gate_outcomes(),
        "Operation": {
            "description": "What may be performed in a batch or inside an event.",
            "oneOf": [_operation(method) for method, cls in REQUESTS.items() if cls in get_args(v.Operation)],
        },
        "Request": {"oneOf": [_request(method) for method in REQUESTS]},
        "Response": {"oneOf": [_response("result", {}), _response("error", _ref("RpcError"))]},
        "RpcError": _open({"code": ATOMS[int], "message": ATOMS[str]}, ["code", "message"]),
        "Preset": _closed({"message": _ref("Message")}, ["message"]),
    }


def _plain_classes() -> Iterable[type[Any]]:
    """List the classes that stand on the wire without a tag: whatever can be reached from requests and answers."""
    seen: dict[type[Any], None] = {}
    found = [*dict.fromkeys(REQUESTS.values()), Observation, Profile]
    tagged = {*get_args(v.Outcome), *EVENTS.values(), Event, v.Source}
    for cls in (*EVENTS.values(), *get_args(v.Outcome)):
        found += _classes_in(_hints(cls).values())
    while found:
        cls = found.pop()
        if cls not in seen and cls not in tagged:
            seen[cls] = None
            found += _classes_in(_hints(cls).values())
    return seen


def _classes_in(types: Iterable[Any]) -> list[type[Any]]:
    return [cls for each in types for cls in ([each] if attrs.has(each) else _classes_in(get_args(each)))]


def _hints(cls: type[Any]) -> dict[str, Any]:
    """Resolve the types of the fields that the wire carries."""
    hints = get_type_hints(cls)
    return {a.name: hints[a.name] for a in carried(cls)}


# ---------------------------------------------------------------------------------------------------- classes
def _object(cls: type[Any]) -> Schema:
    """Describe an object of a class: closed when turnproof sends it, open when a driver does."""
    properties, required = _fields(cls)
    schema = _open(properties, required) if cls.__module__ != v.__name__ else _closed(properties, required)
    if cls is v.Release:
        schema["oneOf"] = [{"required": ["gate"]}, {"required": ["kind"]}]
    return schema


def _tagged(cls: type[Any], tags: Mapping[str, str]) -> Schema:
    schema = _object(cls)
    schema["properties"] = {name: {"const": value} for name, value in tags.items()} | schema["properties"]
    schema["required"] = [*tags, *schema.get("required", [])]
    return schema


def _fields(cls: type[Any]) -> tuple[dict[str, Schema], list[str]]:
    """Describe the fields of a class, and name those that must be there."""
    properties, required = {}, []
    hints = _hints(cls)
    for a in carried(cls):
        hint = hints[a.name] if obligatory(a) else _without_none(hints[a.name])
        limit = {"minimum": a.metadata["minimum"]} if "minimum" in a.metadata else {}
        properties[camel(a.name)] = _type(hint) | limit
        if obligatory(a):
            required.append(camel(a.name))
    return properties, required


def _type(hint: Any) -> Schema:
    """Describe a value of a type."""
    if hint in ATOMS:
        return ATOMS[hint]
    if hint is NoneType:
        return {"type": "null"}
    if attrs.has(hint):
        return _ref(hint.__name__)
    if hint in (v.Outcome, v.Operation):
        return _ref("Outcome" if hint == v.Outcome else "Operation")
    return _generic(get_origin(hint), get_args(hint))


def _generic(origin: Any, args: tuple[Any, ...]) -> Schema:
    if origin is Literal:
        return {"enum": list(args)}
    if origin is tuple:
        return {"type": "array", "items": _type(args[0])}
    if origin in (Union, UnionType):
        return {"anyOf": [_type(arg) for arg in args]}
    keys, values = args
    names = {} if keys is str else {"propertyNames": _type(keys)}
    return {"type": "object", **names, "additionalProperties": _type(values)}


def _without_none(hint: Any) -> Any:
    """Describe an optional field as its value: a field that isn't there is left out, not null."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return Union[tuple(arg for arg in get_args(hint) if arg is not NoneType)]  # noqa: UP007 - the arguments are values


# ---------------------------------------------------------------------------------------------------- events, gates
def _event(cls: type[Event]) -> Schema:
    schema = _described(cls, _tagged(cls, {"kind": cls.kind, "type": cls.type}))
    if cls.kind == cls.type:  # a request is named by its kind; saying its type again is free
        schema["required"] = [name for name in schema["required"] if name != "type"]
    return schema


def _plugin_event() -> Schema:
    kinds: list[str] = [kind for kind in get_args(EventKind) if kind != "request"]
    named = [{"properties": {"kind": {"const": kind}, "type": {"const": name}}} for kind, name in EVENTS]
    schema = _open({"kind": {"enum": kinds}, "type": ATOMS[str]}, ["kind", "type"]) | {"not": {"anyOf": named}}
    return _described(PluginEvent, schema)


def _gate_outcomes() -> Schema:
    """Say which outcomes a gate of each kind takes, the default first."""
    return {
        "description": "The outcomes that a gate of each kind takes; the first is the default.",
        "type": "object",
        "properties": {
            kind: {"oneOf": [_ref(outcome.__name__) for outcome in outcomes]} for kind, outcomes in v.OUTCOMES.items()
        },
    }


# ---------------------------------------------------------------------------------------------------- JSON-RPC
def _operation(method: str) -> Schema:
    return _closed({"method": {"const": method}, "params": _params(method)}, ["method", "params"])


def _request(method: str) -> Schema:
    frame = {"jsonrpc": {"const": "2.0"}, "id": ATOMS[int]}
    properties = frame | {"method": {"const": method}, "params": _params(method)}
    lane = {} if method in ("initialize", "shutdown") else {"lane": ATOMS[int] | {"minimum": 0}}
    return _closed(properties | lane, list(properties))


def _params(method: str) -> Schema:
    return _ref("Preset" if method in PRESETS else REQUESTS[method].__name__)


def _response(part: str, schema: Schema) -> Schema:
    properties = {"jsonrpc": {"const": "2.0"}, "id": ATOMS[int], part: schema}
    return _closed(properties, list(properties))


# ---------------------------------------------------------------------------------------------------- small forms
def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _described(cls: type[Any], schema: Schema) -> Schema:
    return {"description": inspect.cleandoc(cls.__doc__ or "").replace("``", "`").replace("\n", " ")} | schema


def _open(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    return {"type": "object", "properties": dict(properties)} | ({"required": required} if required else {})


def _closed(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    return _open(properties, required) | {"additionalProperties": False}
