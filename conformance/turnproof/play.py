"""
Step through the machine of a contract by hand: a line of words in, lines of text out.

``Play.take`` reads one line: a command (or several joined by `` · ``) in the words of a score, or one of the words
about the play itself (``undo``, ``rules``, ``save FILE``, …). A line that can't be taken raises ``PlayError`` and
changes nothing. Nothing here reads or writes a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from turnproof.capsule import Capsule
from turnproof.notation import Reader
from turnproof.notation_words import NotationError
from turnproof.play_freedoms import Lives, freedoms
from turnproof.play_text import HELP, rules_lines, state_lines, turn_lines
from turnproof.score import schedule_text
from turnproof_model import vocabulary as v
from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.observation import Implementation, Observation, Profile
from turnproof_model.policies import Policy
from turnproof_model.surroundings import Demand, MisuseError, Setting
from turnproof_model.wire import to_wire


class PlayError(ValueError):
    """Say why a line can't be taken; nothing has changed."""


@frozen
class Turn:
    """Hold one command with what was observed and demanded."""

    command: v.Command
    observation: Observation
    demands: tuple[Demand, ...]
    cited: tuple[str, ...]


@frozen
class Position:
    """Hold where a play stands: machine, message values, and the turns that led here."""

    machine: Machine[Any]
    known: Mapping[str, v.Message] = field(factory=dict)
    turns: tuple[Turn, ...] = ()
    by: Mapping[str, str] = field(factory=dict)


@define
class Play:
    """
    Play one contract.

    Attributes:
        now: the position; ``before``: those that ``undo`` goes back to, oldest first.
        over: whether ``quit`` was said.
    """

    contract: v.Contract
    now: Position = field(init=False)
    before: list[Position] = field(factory=list, init=False)
    over: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.now = self._played(Position(self._machine()), v.Reset())

    @property
    def profile(self) -> Profile:
        """What the agent played declares: all that the contract's operations need."""
        every = (*v.TURN_GATES[self.contract], *v.OPTIONAL_GATES[self.contract])
        lists = self.contract == "claim"
        able = {name: lists or not name.startswith("inbox.") for name in v.CAPABILITIES}
        by_hand = Implementation("by hand", version("turnproof"), "python")
        return Profile(by_hand, self.contract, capabilities=able, gates=every, tools=Setting().tools)  # type: ignore[arg-type]  # the modes are those of the protocol

    def _machine(self) -> Machine[Any]:
        return Machine(rule_book(self.contract), Setting(dict(self.profile.capabilities)), Lives())

    def take(self, line: str) -> list[str]:
        """
        Take one line.

        Returns:
            What to show, one line each.

        Raises:
            PlayError: the line can't be taken now.
        """
        word, _, rest = line.strip().partition(" ")
        if not word:
            return []
        about = _ABOUT.get(word)
        return about(self, rest.strip()) if about else self._commands(line)

    # -------------------------------------------------------------------------------------------- commands
    def _commands(self, line: str) -> list[str]:
        reader = Reader(dict(self.now.known))
        try:
            schedule = reader.schedule(line)
            after = self.now
            for command in schedule:
                after = self._played(after, command)
        except (NotationError, MisuseError) as error:
            raise PlayError(str(error)) from error
        shown = [line for turn in after.turns[len(self.now.turns) :] for line in turn_lines(turn)]
        self._go(evolve(after, known=reader.known))
        return [*shown, *self.state()]

    def _played(self, position: Position, command: v.Command) -> Position:
        """Give a command to a copy of the machine: one that meets a misuse is not to be used again."""
        machine = position.machine.copy(Lives(position.by))
        observation = machine.ask(command)
        turn = Turn(command, observation, tuple(machine.demands), tuple(machine.cited))
        return evolve(position, machine=machine, turns=(*position.turns, turn))

    def _go(self, position: Position) -> None:
        self.before.append(self.now)
        self.now = position

    def possible(self, command: v.Command) -> bool:
        """Tell whether a command would be performed now, by asking a copy of the machine."""
        try:
            return self._played(self.now, command).turns[-1].observation.refused is None
        except MisuseError:
            return False

    # -------------------------------------------------------------------------------------------- about the play
    def state(self, _: str = "") -> list[str]:
        """Show the state and what can be done."""
        return state_lines(self)

    def undo(self, _: str = "") -> list[str]:
        """Go back one line."""
        if not self.before:
            raise PlayError("undo needs a line to take back (none has been taken)")
        self.now = self.before.pop()
        return self.state()

    def rules(self, _: str = "") -> list[str]:
        """Show the rules behind the last events."""
        return rules_lines(self.now.turns[-1])

    def freedom(self, words: str) -> list[str]:
        """Live by another value of a freedom from here on, or list the freedoms of the contract."""
        name, _, value = words.partition(" ")
        if not name:
            return [_choices(policy) for policy in freedoms(self.contract)]
        policy = next((policy for policy in freedoms(self.contract) if policy.name == name), None)
        if policy is None:
            known = ", ".join(policy.name for policy in freedoms(self.contract))
            raise PlayError(f"a freedom of {self.contract} is one of {known} (got {name!r})")
        if value not in policy.values:
            raise PlayError(f"freedom {name!r} takes {' or '.join(policy.values)} (got {value!r})")
        self._go(evolve(self.now, by={**self.now.by, name: value}))
        return self.state()

    def save(self, name: str) -> list[str]:
        """Write the play to a file: ``.json`` is a capsule for any agent, any other name a recording."""
        if not name:
            raise PlayError("save needs the name of a file (got none)")
        path = Path(name)
        text = self._capsule() if path.suffix == ".json" else self._recording()
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise PlayError(f"{name}: can't be written: {error}") from error
        how = f"turnproof replay {name} AGENT" if path.suffix == ".json" else f"turnproof replay --recorded {name}"
        return [f"saved {len(self.now.turns)} commands; to replay them: {how}"]

    def _recording(self) -> str:
        opening = {"request": to_wire(v.Initialize()), "observation": to_wire(self.profile)}
        exchanges = [
            {"request": to_wire(turn.command), "observation": to_wire(turn.observation)} for turn in self.now.turns
        ]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (opening, *exchanges))

    def _capsule(self) -> str:
        commands = tuple(turn.command for turn in self.now.turns)
        text = schedule_text(commands)
        player = self.profile.implementation
        capsule = Capsule(self.contract, (), commands, None, None, "events", 0, player, text)
        return json.dumps(capsule.to_json(), indent=1, ensure_ascii=False) + "\n"

    def help(self, _: str = "") -> list[str]:
        """Show the words that can be typed."""
        return HELP.splitlines()

    def quit(self, _: str = "") -> list[str]:
        """End the play."""
        self.over = True
        return []


def _choices(policy: Policy) -> str:
    return f"{policy.name}: {' or '.join(policy.values)}: {policy.meaning}"


_ABOUT: Mapping[str, Callable[[Play, str], list[str]]] = {
    "state": Play.state,
    "undo": Play.undo,
    "rules": Play.rules,
    "freedom": Play.freedom,
    "save": Play.save,
    "help": Play.help,
    "quit": Play.quit,
}
