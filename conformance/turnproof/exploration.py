"""
Explore a contract as a whole: count, check every rule, ask what can always go on, or look for a state; and say it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from attrs import frozen

from turnproof.score import command_text, event_text
from turnproof_model.explore.checks import Checked, Passed, check
from turnproof_model.explore.counterexample import Counterexample
from turnproof_model.explore.liveness import FAIRNESS, Property, liveness
from turnproof_model.explore.replay import Played, replay
from turnproof_model.explore.search import Found
from turnproof_model.explore.symmetry import Symmetry
from turnproof_model.explore.witness import Witness

MOST_STATES = 300_000
"""States up to which liveness is asked for: its graph is kept as a whole."""

Look = Callable[[str, int], None]


@frozen
class Alive:
    """Be a property of liveness with its violation as it was replayed, if there is one."""

    about: Property
    steps: tuple[Played, ...] = ()


@frozen
class Exploration:
    """
    Be all that came of exploring a contract; what wasn't asked for is ``None``.

    ``found``: the counts. ``checked``: what became of the rules. ``alive``: what can always go on. ``witness``: a way
    to a state that was searched for. ``symmetry``: the counts if messages had names.
    """

    found: Found
    checked: Checked | None = None
    alive: tuple[Alive, ...] | None = None
    witness: Witness | None = None
    symmetry: Symmetry | None = None

    @property
    def ended(self) -> str:
        """What ended it early, if anything did."""
        parts = (self.found, *(part for part in (self.checked, self.witness) if part is not None))
        return next((part.ended for part in parts if part.ended not in {"", "broken"}), "")

    @property
    def exit_code(self) -> int:
        """1 where a rule or a property is broken, 4 where not all was seen, else 0."""
        broken = self.checked is not None and self.checked.violation is not None
        if broken or any(not one.about.holds for one in self.alive or ()):
            return 1
        return 4 if self.ended and not (self.witness is not None and self.witness.reached) else 0


def judge(found: Found, *, memory: int | None, look: Look) -> tuple[Checked, tuple[Alive, ...] | None]:
    """
    Check the rules and ask for liveness.

    Args:
        found: a finished search.
        memory: the most that states may take, in MiB.
        look: is told how far it is.

    Returns:
        What became of the rules, and of liveness; ``None`` where there are more states than it is asked for.
    """
    checked = check(found.contract, found.bounds, memory=memory, look=look)
    if checked.ended or found.states > MOST_STATES:
        return checked, None
    look("liveness", found.states)
    layout = found.search.layout
    return checked, tuple(Alive(one, replay(layout, None, one.way)) for one in liveness(found.search))


# ------------------------------------------------------------------------------------------------ as words
def step_text(step: Played) -> str:
    """Write what was done in a step; the loop moves where nobody gave a command."""
    done = "(the loop moves)" if step.op is None else command_text(step.op)
    return done + "".join(f" [inside {event_text(event)}: {command_text(op)}]" for op, event in step.inside)


def score(steps: Sequence[Played]) -> list[tuple[str, str]]:
    """Write steps as lines: what was done, and what was seen; moves that show nothing are left out, save the last."""
    lines: list[tuple[str, str]] = []
    for step in steps:
        seen = " · ".join(map(event_text, step.events))
        if step.op is None and not seen and step is not steps[-1]:
            continue
        lines.append((step_text(step), seen))
    return lines


# ------------------------------------------------------------------------------------------------ as values
def to_json(exploration: Exploration) -> dict[str, object]:
    """Say it for programs."""
    found, checked = exploration.found, exploration.checked
    violation = None if checked is None else checked.violation
    return {
        "schema": "turnproof/explore/1",
        "contract": found.contract,
        "bounds": dict(found.bounds),
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
        "complete": not exploration.ended,
        "ended": exploration.ended or None,
        "violations": [] if violation is None else [_violation(violation)],
        "checked": [] if checked is None else list(checked.rules),
        "passes": [] if checked is None else [_pass(one) for one in checked.passes],
        "liveness": None if exploration.alive is None else _liveness(exploration.alive),
        "witness": None if exploration.witness is None else _witness(exploration.witness),
        "symmetry": None if exploration.symmetry is None else attrs.asdict(exploration.symmetry),
    }


def _pass(one: Passed) -> dict[str, object]:
    return {
        "name": one.name,
        "bounds": dict(one.within.bounds),
        "followed": list(one.within.tags),
        "freedoms": dict(one.within.policies),
        "pairs": one.pairs,
        "transitions": one.transitions,
        "seconds": round(one.seconds, 3),
        "rules": sorted(one.rules),
        "complete": not one.ended,
    }


def _violation(found: Counterexample) -> dict[str, object]:
    return {
        "rules": list(found.rules),
        "bounds": dict(found.within.bounds),
        "followed": list(found.within.tags),
        "freedoms": dict(found.within.policies),
        "begins": command_text(found.begins),
        "commands": found.commands,
        "steps": _steps(found.steps),
    }


def _steps(steps: Sequence[Played]) -> list[Mapping[str, object]]:
    return [{"done": step_text(step), "events": [event_text(event) for event in step.events]} for step in steps]


def _liveness(alive: Sequence[Alive]) -> dict[str, Any]:
    properties = [
        {
            "name": one.about.name,
            "says": one.about.says,
            "holds": one.about.holds,
            "violating": one.about.violating,
            "steps": _steps(one.steps),
        }
        for one in alive
    ]
    return {"fairness": FAIRNESS, "holds": all(one.about.holds for one in alive), "properties": properties}


def _witness(witness: Witness) -> dict[str, object]:
    return {
        "predicate": witness.predicate,
        "reached": witness.reached,
        "states": witness.states,
        "begins": None if witness.begins is None else command_text(witness.begins),
        "steps": _steps(witness.steps),
    }
