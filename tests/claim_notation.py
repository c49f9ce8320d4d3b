"""
Write scenarios of contract ``claim`` as one line each, and show what happened as a line of short tokens.

Operations are parted by ``;``: ``followup a; enter; text; stop``. ``[a; b]`` is one synchronous stack, and
``on EVENT FIELD=VALUE #NTH +DEFER { a; b }`` arms operations inside an event. An id stands for a message of that text;
what ``inject`` and tools bring along comes from a plugin, the rest from a person. ``reset tool!`` parks on an abort.

Tokens: ``next-turn[1]+a`` is a splice that inserts ``a`` at position 1, ``next-step[0]-2`` one that claims two, with
``!`` behind it one that discards them; ``?model`` and ``!model`` are a gate that opens and one that an abort settled;
``request(a,>hi,<c1!)`` shows the model ``a``, the assistant's text or calls, and the failed result of ``c1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import define, field

from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.claim import BOOK
from turnproof_model.claim_state import ClaimState
from turnproof_model.machine import Machine
from turnproof_model.observation import Observation
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Chooser, Setting

PLUGIN = v.Source("plugin")


@define
class Lives(Chooser):
    """Live by the named values of some freedoms and by the observed ones of the others; take these ways in order."""

    by: Mapping[str, str] = field(factory=dict)
    ways: list[int] = field(factory=list)
    asked: set[str] = field(factory=set)

    def policy(self, policy: Policy) -> str:
        """Take the named value, else the observed one."""
        self.asked.add(policy.name)
        return self.by.get(policy.name, policy.default)

    def once(self, what: str, options: int) -> int:
        """Take the next way, or the first when none is left."""
        return self.ways.pop(0) if self.ways else 0


@define
class Run:
    """Hold a machine that has performed a scenario; call it to go on, and get what the last operation showed."""

    machine: Machine[ClaimState]
    chooser: Lives
    now: Observation = field(factory=Observation)
    cited: set[str] = field(factory=set)
    log: list[e.Event] = field(factory=list)

    def __call__(self, scenario: str) -> str:
        """Perform operations, and show the events of the last one."""
        for command in parse(scenario):
            self.now = self.machine.ask(command)
            self.log.extend(self.now.events)
            self.cited.update(self.machine.cited, *(demand.rules for demand in self.machine.demands))
        return self.last

    @property
    def last(self) -> str:
        """The events of the last operation."""
        return line(self.now.events)

    @property
    def all(self) -> str:
        """The events of all operations."""
        return line(tuple(self.log))

    @property
    def pending(self) -> tuple[str, str]:
        """The pending ids of both lists, next-turn first."""
        assert self.now.inbox is not None
        return " ".join(self.now.inbox.next_turn), " ".join(self.now.inbox.next_step)

    @property
    def gates(self) -> str:
        """The open gates, ``!`` behind those that an abort has reached."""
        return " ".join(gate.kind + "!" * gate.aborted for gate in self.now.gates)


def play(scenario: str, *ways: int, can: str = "reference", **lives: str) -> Run:
    """
    Perform a scenario on a new machine.

    Args:
        scenario: operations of the notation.
        ways: of the choices that are made once, in order; the first way where none is left.
        can: declared capabilities, parted by spaces.
        lives: value by freedom, ``_`` for ``-`` in its name.
    """
    by = {name.replace("_", "-"): value for name, value in lives.items()}
    setting = Setting(dict.fromkeys(can.split(), True))
    chooser = Lives(by, list(ways))
    run = Run(Machine(BOOK, setting, chooser), chooser)
    run(scenario)
    return run


def person(message_id: str) -> v.Message:
    """Make the prompt of that id."""
    return v.Message(message_id, message_id)


def plugin(message_id: str) -> v.Message:
    """Make the supplementary input of that id."""
    return v.Message(message_id, message_id, PLUGIN)


def parse(scenario: str) -> list[v.Command]:
    """Read a scenario: operations parted by ``;`` outside brackets."""
    return [_command(part) for part in _split(scenario)]


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "[{") - (char in "]}")
        if char == ";" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _command(text: str) -> v.Command:
    if text.startswith("["):
        return v.Batch(_operations(text.strip()[1:-1]))
    word, *rest = text.split()
    if word == "reset":
        names = [name.rstrip("!") for name in rest]
        return v.Reset(tuple(names) or None, {name[:-1]: "park" for name in rest if name.endswith("!")})  # type: ignore[arg-type,misc]
    if word == "inspect":
        return v.Inspect()
    if word == "resume":
        return v.Resume(rest[0])  # type: ignore[arg-type]
    return _operation(text)


def _operations(text: str) -> tuple[v.Operation, ...]:
    return tuple(_operation(part) for part in _split(text))


def _operation(text: str) -> v.Operation:
    if text.startswith("on "):
        return _arm(text)
    word, *rest = text.split()
    match word:
        case "followup":
            return v.followup(person(rest[0]))
        case "steer":
            return v.steer(person(rest[0]))
        case "inject":
            return v.inject(plugin(rest[0]))
        case "quiet":
            return v.Send(person(rest[0]), "next-turn", wakeup=False)
        case "cancel":
            return v.Cancel("parent" if "parent" in rest else "user", keep_inbox="keep" in rest)
        case "dispose":
            return v.Dispose()
        case "remove":
            return v.Remove(rest[0])
        case "replace":
            return v.Replace(rest[0], person(rest[1]))
        case "prepend":
            return v.Prepend(rest[0], person(rest[1]))  # type: ignore[arg-type]
        case "reference":
            return v.Reference(person(rest[0]), plugin(rest[1]))
    return _release(word, rest)


def _arm(text: str) -> v.Arm:
    head, body = text.split("{", 1)
    _, event, *options = head.split()
    where: dict[str, object] = {}
    nth, defer = 1, 0
    for option in options:
        if option.startswith("#"):
            nth = int(option[1:])
        elif option.startswith("+"):
            defer = int(option[1:])
        else:
            name, value = option.split("=")
            where[name] = int(value) if value.isdigit() else value
    return v.Arm(event, _operations(body.strip()[:-1]), where, nth, defer)


def _release(word: str, rest: list[str]) -> v.Release:
    """Settle the oldest gate of a kind, or the one that ``@gN`` names."""
    gate = next((part[1:] for part in rest if part.startswith("@")), None)
    words = [part for part in rest if not part.startswith("@")]
    kind, outcome = _outcome(word, words)
    return v.Release(outcome, gate, None if gate else kind)


def _outcome(word: str, words: list[str]) -> tuple[v.GateKind, v.Outcome]:
    contexts = tuple(plugin(part[1:]) for part in words if part.startswith("+"))
    calls = tuple(v.Call(*part.split(":")) for part in words if ":" in part)
    match word:
        case "enter":
            return "pre-step", v.Enter(_entered(words))
        case "reject":
            return "pre-step", v.Reject()
        case "text":
            return "model", v.Text(*words)
        case "tools":
            return "model", v.Tools(calls)
        case "max":
            return "model", v.MaxTokens(calls=calls)
        case "error":
            return "model", v.Error()
        case "partial":
            return "model", v.Partial(words[0])
        case "result":
            return "tool", v.Result(contexts, concludes="concludes" in words)
        case "fault":
            return "tool", v.Error(additional_contexts=contexts, concludes="concludes" in words)
        case "retry":
            return "request-error", v.Retry()
        case "give-up":
            return "request-error", v.GiveUp()
        case "stop":
            return "turn-stopping", v.Continue()
        case "throw":
            return words[0], v.Throw()  # type: ignore[return-value]
    raise ValueError(f"an operation of the notation is expected (got {word!r})")


def _entered(words: list[str]) -> tuple[v.Message | str, ...] | None:
    """Read a batch: nothing said is the claimed one, ``-`` is the empty one, ``+x`` a new message."""
    if not words:
        return None
    return tuple(plugin(word[1:]) if word.startswith("+") else word for word in words if word != "-")


# ------------------------------------------------------------------------------------------------ what happened
def line(events: tuple[e.Event, ...]) -> str:
    """Show events as one line."""
    return " ".join(_token(event) for event in events)


def words(text: str) -> str:
    """Bring an expected line into the same form, however it is broken."""
    return re.sub(r"\s+", " ", text).strip()


def _token(event: e.Event) -> str:
    match event:
        case e.StatusChanged(status=status):
            return status
        case e.TurnStart(turn=turn):
            return f"turn({turn})"
        case e.TurnEnd(turn=turn, reason=reason, cause=cause):
            return f"end({turn},{reason}{':' + cause if cause else ''})"
        case e.StepStart(turn=turn, step=step):
            return f"step({turn}.{step})"
        case e.StepEnd(turn=turn, step=step):
            return f"step-end({turn}.{step})"
        case e.UserMessage(id=message_id):
            return f"user({message_id})"
        case e.AssistantMessage(tool_calls=calls, interrupted=interrupted, text=text):
            return f"{'interrupted' if interrupted else 'assistant'}({','.join(calls) or text})"
        case e.ToolCall(call_id=call):
            return f"call({call})"
        case e.ToolResult(call_id=call, is_error=is_error, code=code):
            return f"result({call}{':' + (code or 'error') if is_error else ''})"
        case e.Spliced(target=target, start=start, removed_count=removed, inserted=inserted, outcome=outcome):
            change = (f"-{removed}" if removed else "") + (f"+{','.join(inserted)}" if inserted else "")
            return f"{target}[{start}]{change}{'!' if outcome else ''}"
        case e.Inserted(id=message_id):
            return f"inserted({message_id})"
        case e.Claimed(id=message_id, turn=turn):
            return f"claimed({message_id},{turn})"
        case e.Discarded(id=message_id):
            return f"discarded({message_id})"
        case e.AgentError(turn=turn, step=step):
            return f"error({turn}.{step})"
        case e.RequestMade(messages=messages):
            return f"request({','.join(_shown(seen) for seen in messages)})"
        case e.GateOpened(gate_kind=kind):
            return f"?{kind}"
        case e.GateAborted(gate_kind=kind):
            return f"!{kind}"
        case e.OpThrew(method=method):
            return f"refused({method})"
        case e.Disposed():
            return "disposed"
        case e.DisposeResolved():
            return "dispose-resolved"
    return event.type


def _shown(seen: v.Seen) -> str:
    if seen.id is not None:
        return seen.id
    if seen.tool_result is not None:
        return f"<{seen.tool_result}{'!' if seen.is_error else ''}"
    return f">{'.'.join(seen.tool_calls or ()) or seen.text}"
