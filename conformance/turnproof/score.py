"""
Write schedules and failures so that a person sees at a glance what happened.

A command is a few words (``followup a``, ``g1 text``, ``cancel keep``), a schedule is commands joined by `` · ``, an
event is its name without the common prefix and its fields (``~dequeue a queued``; ``~`` marks what isn't durable).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from turnproof_model import vocabulary as v
from turnproof_model.events import Event, PluginEvent, RequestMade
from turnproof_model.observation import InboxView
from turnproof_model.wire import to_wire

if TYPE_CHECKING:
    from turnproof.trial import RuleFailure

MARKS = {"session": "", "live": "~", "request": "", "driver": "!"}
JOIN = " · "


def command_text(command: v.Request) -> str:
    """Write one command in a few words."""
    match command:
        case v.Send(message, target, wakeup, preset):
            source = "" if message.source.kind in ("user", "plugin") else f" ({message.source.kind})"
            if preset is not None:
                return f"{preset} {message.id}{source}"
            return f"send {message.id} {target}{'' if wakeup else ' quiet'}{source}"
        case v.Cancel(cause, keep_inbox):
            return "cancel" + (" keep" if keep_inbox else "") + ("" if cause == "user" else f" ({cause})")
        case v.Release(outcome, gate, kind):
            return f"{gate or kind} {outcome_text(outcome)}"
        case v.Batch(ops):
            return "{ " + "; ".join(map(command_text, ops)) + " }"
        case v.Arm(on, ops, where, nth, defer):
            at = on + "".join(f"[{name}={value}]" for name, value in where.items()) + ("" if nth == 1 else f" #{nth}")
            later = f" +{defer}" if defer else ""
            return f"on {at}{later} {{ " + "; ".join(map(command_text, ops)) + " }"
        case v.Reset(gates, on_abort):
            words = ["reset"]
            if gates is not None:
                words.append("gates " + ",".join(gates))
            parked = [kind for kind, style in on_abort.items() if style == "park"]
            return " ".join([*words, *(["parking " + ",".join(parked)] if parked else [])])
        case v.Replace(message_id, message):
            return f"replace {message_id} by {message.id}"
        case v.Remove(message_id):
            return f"remove {message_id}"
        case v.Prepend(target, message):
            return f"prepend {message.id} {target}"
        case v.Reference(message, snapshot):
            return f"reference {message.id} with {snapshot.id}"
        case v.Resume(mode):
            return f"resume {mode}"
        case _:
            return command.method


def outcome_text(outcome: v.Outcome) -> str:
    """Write an outcome with what it brings along."""
    words = [outcome.kind]
    match outcome:
        case v.Tools(calls) | v.MaxTokens(_, calls):
            words.extend(f"{call.id}:{call.name}" for call in calls)
        case v.Allow(content) if content is not None:
            words.append(f"content={content!r}")
        case v.Partial(text):
            words.append(repr(text))
        case v.Enter(messages) if messages is not None:
            names = [item if isinstance(item, str) else item.id for item in messages]
            words.append("[" + " ".join(names) + "]")
        case v.Result(concludes=True) | v.Error(concludes=True):
            words.append("concludes")
        case _:
            pass
    words.extend(f"+{message.id}" for message in getattr(outcome, "additional_contexts", ()))
    return " ".join(words)


def schedule_text(commands: Iterable[v.Request]) -> str:
    """Write a schedule on one line."""
    return JOIN.join(map(command_text, commands))


def event_text(event: Event | None) -> str:
    """Write one event; nothing is ``(nothing)``."""
    if event is None:
        return "(nothing)"
    if isinstance(event, PluginEvent):
        return event.name
    if isinstance(event, RequestMade):
        return "request[" + " ".join(map(_seen_text, event.messages)) + "]"
    name = event.type.removeprefix("agent/inbox/").removeprefix("agent/")
    wire = to_wire(event)
    fields = [_field(key, value) for key, value in wire.items() if key not in ("kind", "type", "source", "message")]
    return MARKS[event.kind] + " ".join([name, *filter(None, fields)])


def _field(key: str, value: object) -> str:
    if isinstance(value, bool):
        return {"isError": "error"}.get(key, key) if value else ""
    if isinstance(value, list):
        return "[" + " ".join(map(str, value)) + "]" if value else ""
    if key in ("turn", "step"):
        return f"{key[0]}{value}"
    return str(value)


def _seen_text(seen: v.Seen) -> str:
    if seen.tool_result is not None:
        return f"={seen.tool_result}"
    if seen.role == "assistant":
        return "A" + ("(" + " ".join(seen.tool_calls) + ")" if seen.tool_calls else "")
    return f"{seen.id}"


def value_text(value: object) -> str:
    """Write what was expected or observed in one field."""
    if value is None or isinstance(value, Event):
        return event_text(value)
    if isinstance(value, InboxView):
        return f"next-turn [{' '.join(value.next_turn)}] next-step [{' '.join(value.next_step)}]"
    if isinstance(value, tuple):
        return "[" + ", ".join(_gate_text(item) for item in value) + "]"
    return str(value)


def _gate_text(item: object) -> str:
    return " ".join(str(part) for part in item[:2]) if isinstance(item, tuple) else str(item)


def failure_text(failure: RuleFailure) -> str:
    """Write a failure for a person: rules, schedule, and the first difference."""
    lines = [f"broke {', '.join(failure.rules)}", f"  schedule  {schedule_text(failure.schedule)}"]
    events = failure.observation.events
    lines.append(f"  then saw  {JOIN.join(map(event_text, events)) or '(no event)'}")
    if failure.difference is not None:
        where = failure.difference.where
        label = "" if where == "events" else f" ({where.replace('_', ' ')})"
        lines.append(f"  expected  {value_text(failure.difference.expected)}{label}")
        lines.append(f"  observed  {value_text(failure.difference.observed)}{label}")
    lines.extend(f"  {violation.rule}: {violation.message}" for violation in failure.violations)
    return "\n".join(lines)
