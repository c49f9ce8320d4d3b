"""
Prune guesses until those that are left are invariants: every step from states where all hold leads to such states.

A step is asked whether it can lead from the lemmas of its position to a state where one of those behind it fails. If
so, the solver shows such a state; every lemma that it breaks falls, and new ones are guessed that it doesn't break. A
step is asked again where lemmas have fallen that its answer rested on. What is left when no step is to be asked is the
strongest set that the guesses allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from turnproof_model.prove.solver import Translator, interruptible, joined, told, z3
from turnproof_model.prove.spacer_lemmas import HIDING, Guesses, Lemma
from turnproof_model.prove.spacer_steps import Place, Step, Steps
from turnproof_model.prove.spacer_walks import Rows
from turnproof_model.readings.terms import Term, is_true

Limit: TypeAlias = Any
"""Is called before each question; raises where there is no time left."""


AGAIN = 2
"""How often more is guessed when nothing is left to be asked: what followed once may not any more."""


@define(eq=False)
class Room:
    """
    Hold what is believed of the states at one position.

    ``rows``: states that were met, or shown by the solver. ``lemmas``: by the keys of their terms. ``literals``: what
    stands for them in the solver. ``fallen``: the keys of those that don't hold.
    """

    rows: Rows
    solver: Any
    lemmas: dict[int, Lemma] = field(factory=dict)
    literals: dict[int, Any] = field(factory=dict)
    fallen: set[int] = field(factory=set)


@define(eq=False)
class Pruning:
    """
    Prune the lemmas of a contract.

    ``steps``: the contract. ``translate``: says terms to the solver. ``seed``: of the solver. ``limit``: see above.
    """

    steps: Steps
    translate: Translator
    limit: Limit
    seed: int = 0
    rooms: dict[Place, Room] = field(factory=dict)
    _todo: dict[Step, None] = field(factory=dict)
    _rests: dict[Step, set[int]] = field(factory=dict)
    _shown: dict[Step, set[int]] = field(factory=dict)
    _behind: dict[tuple[int, Place, int], Any] = field(factory=dict)

    def run(self, met: Mapping[Place, Rows]) -> Mapping[Place, tuple[Lemma, ...]]:
        """
        Guess and prune.

        Args:
            met: states that were met, by position.
        """
        for place, rows in met.items():
            self._open(place, rows)
        self._todo = dict.fromkeys(sorted(self._todo, key=lambda step: step.before == step.after))
        self._ask_all()
        for _ in range(AGAIN):
            for place, room in self.rooms.items():
                self._believe(place, Guesses(self.steps).at(place, room.rows))
            self._ask_all()
        return {place: tuple(room.lemmas.values()) for place, room in sorted(self.rooms.items())}

    def _ask_all(self) -> None:
        """Ask until no step is to be asked."""
        while self._todo:
            step = next(iter(self._todo))
            del self._todo[step]
            if step.before in self.rooms:
                self._ask(step)

    # -------------------------------------------------------------------------------------------- rooms
    def _open(self, place: Place, rows: Rows) -> None:
        """Believe of a position what its first states show."""
        solver = interruptible(self.seed)
        for one in self.steps.properties:
            solver.add(self.translate(self.steps.at(place, one.condition)))
        self.rooms[place] = Room(rows, solver)
        guesses = Guesses(self.steps)
        self._believe(place, [*guesses.types(place), *guesses.at(place, rows)])
        self._todo.update((step, None) for step in self.steps.steps if step.before == place)

    def _believe(self, place: Place, lemmas: Iterable[Lemma]) -> None:
        """Take lemmas up that haven't fallen; the steps that lead here must be asked about them."""
        room = self.rooms[place]
        new = [one for one in lemmas if one.says.key not in room.lemmas and one.says.key not in room.fallen]
        for one in new:
            key = one.says.key
            room.lemmas[key] = one
            if key not in room.literals:
                room.literals[key] = z3().Bool(f"lemma {key}")
                room.solver.add(z3().Implies(room.literals[key], self.translate(one.says)))
        if new:
            self._todo.update((step, None) for step in self.steps.steps if step.after == place)

    def _drop(self, place: Place, keys: set[int]) -> None:
        """Let lemmas fall; the steps from here that rested on them must be asked again."""
        room = self.rooms[place]
        for key in keys:
            del room.lemmas[key]
        room.fallen |= keys
        for step in [step for step, rests in self._rests.items() if step.before == place and rests & keys]:
            self._todo[step] = None
            del self._rests[step], self._shown[step]

    # -------------------------------------------------------------------------------------------- questions
    def _ask(self, step: Step) -> None:
        """Ask a step until nothing behind it can fail."""
        while True:
            open_ = self._open_questions(step)
            if not open_:
                return
            broken, hiding = self._break(step, open_)
            place = step.after
            if place not in self.rooms:
                if not hiding:
                    return
                self._open(place, np.array(broken))
                continue
            room = self.rooms[place]
            if broken:
                room.rows = np.concatenate([room.rows, np.array(broken)])
            if not hiding:
                return
            self._believe(place, Guesses(self.steps).at(place, room.rows))

    def _open_questions(self, step: Step) -> dict[int, Any]:
        """List what is to be shown behind a step, by lemma; a place that nobody knows yet must not be reached."""
        if step.after not in self.rooms:
            return {0: z3().BoolVal(False)}  # a constant of the solver
        shown = self._shown.setdefault(step, set())
        found: dict[int, Any] = {}
        for key, lemma in self.rooms[step.after].lemmas.items():
            if key not in shown:
                says = self._after(step, lemma.says)
                if says is None:
                    shown.add(key)
                else:
                    found[key] = says
        return found

    def _after(self, step: Step, says: Term) -> Any:
        """Say a lemma of the state behind a step; nothing where that goes without saying."""
        key = (step.path, step.after, says.key)
        if key not in self._behind:
            then = self.steps.after(step, says)
            kept = step.before == step.after and isinstance(then, Term) and then.key == says.key
            self._behind[key] = None if kept or is_true(then) else self.translate(then)
        return self._behind[key]

    def _break(self, step: Step, questions: dict[int, Any]) -> tuple[list[list[int]], bool]:
        """Let fall what can fail behind a step; return the states that show it where new guesses are due."""
        z, room = z3(), self.rooms[step.before]
        guard = self.translate(step.guard)
        states: list[list[int]] = []
        hiding = False
        while questions:
            self.limit()
            literals = [room.literals[key] for key in room.lemmas]
            room.solver.push()  # cheaper than an assumption, which would stay known to the solver
            room.solver.add(guard, z.Not(joined(list(questions.values()))))
            answer = room.solver.check(*literals)
            if answer == z.unsat:
                core = {str(one) for one in room.solver.unsat_core()}
                room.solver.pop()
                names = {key for key in room.lemmas if f"lemma {key}" in core}
                self._rests[step] = self._rests.get(step, set()) | names
                self._shown.setdefault(step, set()).update(questions)
                break
            if answer != z.sat:
                raise Undecided(step)
            model = room.solver.model()
            room.solver.pop()
            failed = {key for key, says in questions.items() if not told(model, says)}
            questions = {key: says for key, says in questions.items() if key not in failed}
            if step.after not in self.rooms:
                return [self._behind_state(step, model)], True
            lemmas = self.rooms[step.after].lemmas
            hiding = hiding or any(lemmas[key].kind in HIDING for key in failed)
            states.append(self._behind_state(step, model))
            self._drop(step.after, failed)
        return states, hiding

    def _behind_state(self, step: Step, model: Any) -> list[int]:
        """Read the state behind a step from a model."""
        after = self.steps.paths[step.path].after
        return [
            step.after if name == "at" else self._read(model, after.get(name, part))
            for name, part in self.steps.parts.items()
        ]

    def _read(self, model: Any, value: object) -> int:
        found = model.eval(self.translate(value), model_completion=True)
        return int(z3().is_true(found)) if z3().is_bool(found) else int(found.as_long())


class Undecided(RuntimeError):  # noqa: N818  # an answer of the solver, not a mistake
    """Say that the solver didn't answer whether a step keeps the lemmas."""

    def __init__(self, step: Step) -> None:
        super().__init__(f"the solver must say whether path {step.path} keeps the lemmas (it didn't)")
