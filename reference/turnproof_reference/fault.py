"""A deliberate defect: a reference agent that breaks one rule, to see whether it is caught."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

A = TypeVar("A", bound=type)


@dataclass(frozen=True, slots=True)
class Fault:
    """
    Describe one defect.

    Args:
        name: short, in words joined by hyphens.
        contract: `window` or `claim`.
        rule: id of the rule that must catch it.
        story: what goes wrong and whom it hurts, in two sentences.
        agent: the defective subclass of the contract's agent.
        also: ids of rules that truly say the same of this behaviour; one of them may be named instead.
        origin: where it comes from: `case NAME` (a public bug, told as a trace), `dsh NAME` (a recorded deviation of
            that agent), `family: …` (a kind of bug that recurs) or `rejected: …` (an alternative that the design
            documents turn down).
    """

    name: str
    contract: str
    rule: str
    story: str
    agent: type
    also: tuple[str, ...] = ()
    origin: str = ""

    @property
    def rules(self) -> tuple[str, ...]:
        """Answer the rules that may be named, the one that must catch it first."""
        return (self.rule, *self.also)


class FaultBook(dict[str, Fault]):
    """
    Hold the defects of one contract by name.

    Args:
        contract: `window` or `claim`.
    """

    def __init__(self, contract: str) -> None:
        super().__init__()
        self.contract = contract

    def enter(self, name: str, rule: str, *also: str, origin: str) -> Callable[[A], A]:
        """
        Enter the class that follows; its docstring is the story.

        Raises:
            ValueError: when there is a defect of this name already.
        """

        def entered(agent: A) -> A:
            if name in self:
                raise ValueError(f"fault {name!r} must be entered once (it is there); choose another name")
            story = " ".join((inspect.getdoc(agent) or "").split())
            self[name] = Fault(name, self.contract, rule, story, agent, also, origin)
            return agent

        return entered
