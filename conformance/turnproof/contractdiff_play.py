"""
Play one scenario under a contract: what is the same by meaning is spelled as each contract has it.

A *move* is a command that both contracts have, or the decision on a prompt: ``prompt-submit`` of ``window`` is asked
before a turn, ``pre-step`` of ``claim`` at its first boundary. What only ``claim`` asks, the decision at each later
boundary, is entered as it comes. After the last move every gate takes its default outcome until nothing is left to
do, so that two contracts are compared by whole stories and not command by command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from turnproof.score import command_text
from turnproof_model import vocabulary as v
from turnproof_model.contracts import rule_book
from turnproof_model.machine import Machine
from turnproof_model.observation import GateView, Observation
from turnproof_model.surroundings import Chooser, MisuseError, Setting

Verdict: TypeAlias = Literal["enter", "refuse", "throw"]

DECISIONS: Mapping[v.Contract, Mapping[Verdict, v.Outcome]] = {
    "window": {"enter": v.Allow(), "refuse": v.Block(), "throw": v.Throw()},
    "claim": {"enter": v.Enter(), "refuse": v.Reject(), "throw": v.Throw()},
}
"""How each contract spells a decision on a prompt."""

ASKS: Mapping[v.Contract, v.GateKind] = {"window": "prompt-submit", "claim": "pre-step"}
"""The gate that asks for the decision on a prompt."""

MANY_GATES = 60
"""Gates that no scenario of a few moves comes near; beyond them the rules would not settle."""


class ScenarioError(ValueError):
    """Say which move of a scenario means nothing where it stands."""


@frozen
class Decision:
    """Decide on a prompt, by whatever gate the contract asks."""

    verdict: Verdict


Move: TypeAlias = v.Operation | v.Batch | v.Resume | Decision


def move_text(move: Move) -> str:
    """Write a move; a gate is called by its kind."""
    return move.verdict if isinstance(move, Decision) else command_text(move)


@frozen
class Exchange:
    """Hold one command with what was answered, and the rules that demand each event where a machine answered."""

    command: v.Command
    observation: Observation
    rules: tuple[tuple[str, ...], ...] = ()
    cited: tuple[str, ...] = ()
    given: bool = field(default=True, kw_only=True)  # False: a gate that took its default after the last move


Ask: TypeAlias = Callable[[v.Command], Exchange]


def new_machine(contract: v.Contract, chooser: Chooser | None = None) -> Machine[Any]:
    """Make a machine of a contract whose candidate can do everything."""
    setting = Setting(dict.fromkeys(v.CAPABILITIES, True))
    return Machine(rule_book(contract), setting, chooser or Chooser())


def by_machine(machine: Machine[Any]) -> Ask:
    """Let a machine of the rules answer."""

    def ask(command: v.Command) -> Exchange:
        observation = machine.ask(command)
        return Exchange(command, observation, tuple(d.rules for d in machine.demands), tuple(machine.cited))

    return ask


def spelled(move: Move, contract: v.Contract, gates: tuple[GateView, ...]) -> v.Command | None:
    """Spell a move for a contract; ``None`` where nothing asks for it now."""
    if isinstance(move, Decision):
        gate = next((g for g in gates if g.kind == ASKS[contract]), None)
        return None if gate is None else v.Release(DECISIONS[contract][move.verdict], gate=gate.id)
    if isinstance(move, v.Release):
        gate = next((g for g in gates if g.kind == move.kind), None)
        return None if gate is None else v.Release(move.outcome, gate=gate.id)
    return move


def later_boundary(gate: GateView) -> bool:
    """Tell whether a decision is asked for that ``window`` doesn't ask for: any but a turn's first."""
    return gate.kind == "pre-step" and gate.step != 1


def enter_later_boundaries(ask: Ask, observation: Observation) -> tuple[Exchange, ...]:
    """Enter what the agent asks for at later boundaries, as it comes."""
    return _released(ask, observation, later_boundary, given=True)


def finish(ask: Ask, observation: Observation) -> tuple[Exchange, ...]:
    """Let every gate take its default outcome until nothing is open."""
    return _released(ask, observation, lambda _: True, given=False)


def _released(
    ask: Ask, observation: Observation, chosen: Callable[[GateView], bool], *, given: bool
) -> tuple[Exchange, ...]:
    done: list[Exchange] = []
    while (gate := next(filter(chosen, observation.gates), None)) is not None:
        if len(done) == MANY_GATES:
            raise RuntimeError(f"a short scenario must come to rest (it still asks for {gate.kind!r})")
        told = ask(v.Release(v.DEFAULT_OUTCOME[gate.kind], gate=gate.id))
        observation = told.observation
        done.append(Exchange(told.command, observation, told.rules, told.cited, given=given))
    return tuple(done)


def make_move(ask: Ask, contract: v.Contract, move: Move, observation: Observation) -> tuple[Exchange, ...] | None:
    """Make one move and enter later boundaries; ``None`` where the move means nothing now."""
    command = spelled(move, contract, observation.gates)
    if command is None:
        return None
    try:
        told = ask(command)
    except MisuseError:
        return None
    return (told, *enter_later_boundaries(ask, told.observation))


def perform(ask: Ask, contract: v.Contract, moves: tuple[Move, ...]) -> tuple[Exchange, ...]:
    """
    Play a whole scenario from a new agent to its rest.

    Raises:
        ScenarioError: one of the moves means nothing where it stands.
    """
    story: list[Exchange] = [ask(v.Reset())]
    for move in moves:
        made = make_move(ask, contract, move, story[-1].observation)
        if made is None:
            raise ScenarioError(f"move {move_text(move)!r} must mean something to {contract} where it stands")
        story.extend(made)
    story.extend(finish(ask, story[-1].observation))
    return tuple(story)


def copied(machine: Machine[Any]) -> Machine[Any]:
    """Copy a machine; every freedom is taken as it was observed."""
    return machine.copy(Chooser())
