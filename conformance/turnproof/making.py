"""
Make the parts of commands: messages, contexts and calls, named so that a person can read a schedule.

Ids are short and in order of making: ``a``, ``b``, … for input, ``x1`` for contexts of hooks and tools, ``c1`` for
calls. Every choice is asked of ``pick``, so that Hypothesis, bytes or a random source can stand behind it. What is
open and pending is read from the machine of the rules, never decided here again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import Factory, define, field

from turnproof.habits import Habits, Pick, tables, usual
from turnproof_model import vocabulary as v
from turnproof_model.observation import Profile

PLUGIN = v.Source("plugin", {"plugin": "t"})
LETTERS = "abdefghijklmnopqrstuvwyz"  # without c and x, which number calls and contexts


def _usual(maker: Maker) -> Habits:
    return usual(tables(maker.profile))


@define
class Maker:
    """
    Make values for one schedule of one candidate.

    ``machine`` answers what is open and pending now; ``habits`` say how often each option is taken; ``taken`` are those
    taken so far.
    """

    profile: Profile
    machine: Callable[[], Any]
    pick: Pick
    habits: Habits = field(default=Factory(_usual, takes_self=True))
    made: list[v.Message] = field(factory=list, init=False)
    contexts: int = field(default=0, init=False)
    calls: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)
    taken: set[str] = field(factory=set, init=False)

    @property
    def window(self) -> bool:
        """Whether the candidate is of contract ``window``."""
        return self.profile.contract == "window"

    def choose(self, choice: str) -> str:
        """Take one option of a named choice."""
        option = self.habits.choose(self.pick, choice)
        self.taken.add(option)
        return option

    def chance(self, one_in: int) -> bool:
        """Decide yes once in so many times; no is the simpler choice."""
        return self.pick(range(one_in)) == one_in - 1  # type: ignore[no-any-return]  # pick is untyped by design

    def pending(self) -> tuple[str, ...]:
        """List the pending ids, next-turn first."""
        machine = self.machine()
        inbox = machine.book.inbox(machine.s)
        return inbox.next_turn + inbox.next_step  # type: ignore[no-any-return]  # machines are untyped here

    # -------------------------------------------------------------------------------------------- messages
    def message(self, source: v.Source = v.USER, text: str | None = None) -> v.Message:
        """Make a new message; its text is its id where none is given."""
        n = len(self.made)
        name = LETTERS[n % len(LETTERS)] + (str(n // len(LETTERS)) if n >= len(LETTERS) else "")
        message = v.Message(name, name if text is None else text, source)
        self.made.append(message)
        return message

    def known(self, message_id: str) -> v.Message:
        """Find a message value that was made before."""
        return self.machine().message(message_id)  # type: ignore[no-any-return]  # machines are untyped here

    def sent_message(self, source: v.Source = v.USER) -> v.Message:
        """Make a message to send; now and then one that is pending, or was made before."""
        match self.choose("message"):
            case "pending" if pending := self.pending():
                return self.known(self.pick(pending))
            case "made" if self.made:
                return self.pick(self.made)  # type: ignore[no-any-return]  # pick is untyped by design
            case _:
                return self.message(source)

    def some_contexts(self) -> tuple[v.Message, ...]:
        """Make none, one or two contexts of a hook or tool; rarely one that is pending, or was made before."""
        match self.choose("context"):
            case "one":
                return (self.context(),)
            case "two":
                return (self.context(), self.context())
            case "pending" if pending := self.pending():
                return (self.known(self.pick(pending)), self.context())
            case "made" if self.made:
                return (self.pick(self.made),)
            case _:
                return ()

    def context(self) -> v.Message:
        """Make a context as a hook or a tool returns it."""
        self.contexts += 1
        return v.Message(f"x{self.contexts}", f"x{self.contexts}", PLUGIN)

    def call(self, tool: str) -> v.Call:
        """Make a call of a tool."""
        self.calls += 1
        return v.Call(f"c{self.calls}", tool)
