"""
Read the words that ``score`` writes, so that a counterexample can be pasted and a schedule typed by hand.

``followup a``, ``g1 text``, ``cancel keep``, ``{ a; b }``, ``on EVENT { … }``, ``reset gates model,tool``: one command
each; a schedule joins commands by `` · ``. A score leaves out what a reader doesn't need: the text of a message is its
id, supplementary input is a plugin's, and an id that is known already means the message value of before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from attrs import define, evolve, field

from turnproof.making import PLUGIN
from turnproof.notation_words import NotationError, call, made, plain, quoted, tokens
from turnproof.score import JOIN
from turnproof_model import vocabulary as v
from turnproof_model.surroundings import messages_in
from turnproof_model.wire import OUTCOME_BY_KIND

_GATE_ID = re.compile(r"g[1-9][0-9]*")
GATE_KINDS: frozenset[str] = frozenset(get_args(v.GateKind))
ENDS = ("}", ";", JOIN.strip())


@define
class Reader:
    """
    Read commands of one schedule, in order.

    Attributes:
        known: message values by id; what a command brings along is added when it has been read whole.
    """

    known: dict[str, v.Message] = field(factory=dict)
    _rest: list[str] = field(factory=list, init=False)
    _new: dict[str, v.Message] = field(factory=dict, init=False)

    def command(self, line: str) -> v.Command:
        """
        Read one command.

        Raises:
            NotationError: the line is no command; nothing is learned from it.
        """
        found = self.schedule(line)
        if len(found) != 1:
            raise NotationError(f"one command is read at a time (got {len(found)} in {line.strip()!r})")
        return found[0]

    def schedule(self, line: str) -> tuple[v.Command, ...]:
        """
        Read commands joined by `` · ``.

        Raises:
            NotationError: one of them is no command; nothing is learned from the line.
        """
        self._rest, self._new = tokens(line), {}
        found: list[v.Command] = []
        while self._rest:
            found.append(self._command())
            if self._rest:
                self._expect(JOIN.strip())
        self.known.update(self._new)
        return tuple(found)

    # -------------------------------------------------------------------------------------------- words
    def _ended(self) -> bool:
        return not self._rest or self._rest[0] in ENDS

    def _next(self) -> str | None:
        return None if self._ended() else self._rest[0]

    def _word(self, what: str) -> str:
        if self._ended():
            raise NotationError(f"{what} must follow (got {self._got()}); see 'help'")
        return self._rest.pop(0)

    def _got(self) -> str:
        return repr(self._rest[0]) if self._rest else "the end"

    def _took(self, word: str) -> bool:
        """Take the next word if it is this one."""
        if self._next() != word:
            return False
        self._rest.pop(0)
        return True

    def _expect(self, word: str) -> None:
        if not self._rest or self._rest[0] != word:
            raise NotationError(f"{word!r} must follow (got {self._got()})")
        self._rest.pop(0)

    def _one_of(self, options: Iterable[str], what: str) -> Any:
        word = self._word(what)
        known = tuple(options)
        if word not in known:
            raise NotationError(f"{what} is one of {', '.join(known)} (got {word!r})")
        return word

    # -------------------------------------------------------------------------------------------- commands
    def _command(self) -> v.Command:
        if self._rest and self._rest[0] == "{":
            self._rest.pop(0)
            return v.Batch(self._ops())
        name = self._word("a command")
        if _GATE_ID.fullmatch(name):
            return v.Release(self._outcome(), gate=name)
        if name in GATE_KINDS:
            return v.Release(self._outcome(), kind=name)  # type: ignore[arg-type]  # it is one of the kinds
        maker = _COMMANDS.get(name)
        if maker is None:
            known = ", ".join(_COMMANDS)
            raise NotationError(f"a command is one of {known}, GATE OUTCOME or {{ … }} (got {name!r})")
        command = maker(self)
        self._new.update({message.id: message for message in messages_in(command)})
        return command

    def _ops(self) -> tuple[v.Operation, ...]:
        """Read operations up to the closing brace."""
        ops: list[v.Operation] = []
        while not self._rest or self._rest[0] != "}":
            if ops:
                self._expect(";")
            op = self._command()
            if not isinstance(op, v.Operation):
                raise NotationError(f"{{ … }} takes operations only (got {op.method!r}); give it by itself")
            ops.append(op)
        self._rest.pop(0)
        return tuple(ops)

    def _message(self, usual: v.Source = v.USER) -> v.Message:
        """Read an id, and perhaps the kind of a source other than the usual one."""
        name = self._name("the id of a message")
        return self._sourced(self._known(name) or v.Message(name, name, usual))

    def _sourced(self, message: v.Message) -> v.Message:
        """Read the kind of a source, where one stands in parentheses."""
        kind = self._next()
        if kind is None or not re.fullmatch(r"\(.+\)", kind):
            return message
        self._rest.pop(0)
        return message if message.source.kind == kind[1:-1] else evolve(message, source=v.Source(kind[1:-1]))

    def _known(self, name: str) -> v.Message | None:
        return self._new.get(name) or self.known.get(name)

    def _name(self, what: str) -> str:
        name = self._word(what)
        if name[0] in "[('\"":
            raise NotationError(f"{what} is a word (got {name!r})")
        return name

    def send(self) -> v.Send:
        """Read ``send a next-step quiet``."""
        message = self._message()
        target = self._one_of(get_args(v.Target), "a list")
        wakeup = not self._took("quiet")
        return v.Send(self._sourced(message), target, wakeup=wakeup)

    def cancel(self) -> v.Cancel:
        """Read ``cancel keep (parent)``."""
        keep = self._took("keep")
        cause: v.Cause = "parent" if self._took("(parent)") else "user"
        return v.Cancel(cause, keep_inbox=keep)

    def arm(self) -> v.Arm:
        """Read ``on EVENT[field=value] #nth +defer { … }``."""
        on, where = self._name("an event"), {}
        while (box := self._next()) is not None and box.startswith("["):
            self._rest.pop(0)
            name, equals, value = box[1:-1].partition("=")
            if not (name and equals):
                raise NotationError(f"a condition is [field=value] (got {box!r})")
            where[name] = plain(value)
        nth = self._number("#", 1)
        defer = self._number("+", 0)
        self._expect("{")
        return v.Arm(on, self._ops(), where, nth, defer)

    def _number(self, sign: str, usual: int) -> int:
        word = self._next()
        if word is None or not re.fullmatch(re.escape(sign) + "[0-9]+", word):
            return usual
        number = int(self._rest.pop(0)[1:])
        if number < usual:
            raise NotationError(f"{sign}N takes a whole number ≥ {usual} (got {word!r})")
        return number

    def reset(self) -> v.Reset:
        """Read ``reset gates KIND,… parking KIND,…``."""
        gates: tuple[v.GateKind, ...] | None = None
        if self._took("gates"):
            gates = self._kinds() if self._next() not in (None, "parking") else ()
        parked = self._kinds() if self._took("parking") else ()
        return v.Reset(gates, dict.fromkeys(parked, "park"))

    def _kinds(self) -> tuple[v.GateKind, ...]:
        kinds = self._word("kinds of gates").split(",")
        for kind in kinds:
            if kind not in GATE_KINDS:
                raise NotationError(f"a kind of gate is one of {', '.join(sorted(GATE_KINDS))} (got {kind!r})")
        return tuple(kinds)  # type: ignore[arg-type]  # each is one of the kinds

    def replace(self) -> v.Replace:
        """Read ``replace a by b``."""
        old = self._name("the id of a pending message")
        self._expect("by")
        return v.Replace(old, self._message())

    def prepend(self) -> v.Prepend:
        """Read ``prepend b next-turn``."""
        message = self._message()
        return v.Prepend(self._one_of(get_args(v.Target), "a list"), message)

    def reference(self) -> v.Reference:
        """Read ``reference a with b``."""
        prompt = self._message()
        self._expect("with")
        return v.Reference(prompt, self._message(v.Source("session", {"session": "s0"})))

    def resume(self) -> v.Resume:
        """Read ``resume crash``."""
        return v.Resume(self._one_of(get_args(v.ResumeMode), "a way to resume"))

    # -------------------------------------------------------------------------------------------- outcomes
    def _outcome(self) -> v.Outcome:
        """Read an outcome with what it brings along."""
        kind = self._one_of(OUTCOME_BY_KIND, "an outcome")
        brought: dict[str, Any] = {}
        calls: list[v.Call] = []
        contexts: list[v.Message] = []
        while (word := self._next()) is not None:
            self._rest.pop(0)
            if word.startswith("+") and len(word) > 1:
                contexts.append(self._known(word[1:]) or v.Message(word[1:], word[1:], PLUGIN))
            elif word.startswith("["):
                brought["messages"] = self._batch(word)
            elif word.startswith(("content=", "'", '"')):
                name, value = quoted(word)
                brought[name] = value
            elif word == "concludes":
                brought["concludes"] = True
            else:
                calls.append(call(word))
        if contexts:
            brought["additional_contexts"] = tuple(contexts)
        if calls or kind == v.Tools.kind:
            brought["calls"] = tuple(calls)
        outcome = made(kind, brought)
        self._new.update({message.id: message for message in messages_in(outcome)})
        return outcome

    def _batch(self, box: str) -> tuple[v.Message | str, ...]:
        """Read the batch that enters: an id that is known names that message, another one is new."""
        return tuple(name if self._known(name) else v.Message(name, name, PLUGIN) for name in box[1:-1].split())


_COMMANDS: Mapping[str, Callable[[Reader], v.Command]] = {
    "followup": lambda r: v.followup(r._message()),
    "steer": lambda r: v.steer(r._message()),
    "inject": lambda r: v.inject(r._message(PLUGIN)),
    "send": Reader.send,
    "cancel": Reader.cancel,
    "dispose": lambda _: v.Dispose(),
    "on": Reader.arm,
    "replace": Reader.replace,
    "remove": lambda r: v.Remove(r._name("the id of a pending message")),
    "prepend": Reader.prepend,
    "reference": Reader.reference,
    "resume": Reader.resume,
    "reset": Reader.reset,
    "goal": lambda _: v.Goal(),
    "inspect": lambda _: v.Inspect(),
}


def read_schedule(text: str) -> tuple[v.Command, ...]:
    """
    Read a whole schedule as ``schedule_text`` writes it.

    Raises:
        NotationError: a part of it is no command.
    """
    return Reader().schedule(text)
