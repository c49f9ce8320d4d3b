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

from turnproof_model.prove.solver import Translator, answered, brisk, denied, told, valued, z3
from turnproof_model.prove.spacer_lemmas import HIDING, Guesses, Lemma
from turnproof_model.prove.spacer_steps import Place, Step, Steps
from turnproof_model.prove.spacer_walks import Rows
from turnproof_model.readings.terms import Term, key_of

Limit: TypeAlias = Any
"""Is called before each question; raises where there is no time left."""


@define(eq=False)
class Room:
    """
    Hold what is believed of the states at one position.

    ``rows``: states that were met, or shown by the solver. ``lemmas``: by the keys of their terms. ``literals``: what
    stands for them in the solver, ``keys``: which one that is, by the solver's number of it. ``fallen``: the keys of
    those that don't hold.
    """

    rows: Rows
    solver: Any
    lemmas: dict[int, Lemma] = field(factory=dict)
    literals: dict[int, Any] = field(factory=dict)
    keys: dict[int, int] = field(factory=dict)
    fallen: set[int] = field(factory=set)


@define(eq=False)
class Answers:
    """
    Hold what was shown of a step.

    ``shown``: the keys of lemmas that hold behind it. ``rests``: which of them were shown together, and the keys of the
    lemmas before it that this rests on. ``carried``: by a lemma before it, which it becomes behind.
    """

    shown: set[int] = field(factory=set)
    rests: list[tuple[set[int], set[int]]] = field(factory=list)
    carried: dict[int, set[int]] = field(factory=dict)

    def add(self, shown: Iterable[int], rests: set[int]) -> None:
        """Note what was shown, and on what it rests."""
        self.shown.update(shown)
        self.rests.append((set(shown), rests))

    def carry(self, shown: int, rests: int) -> None:
        """Note that a lemma is one before the step that nothing but the step has changed, if that."""
        self.shown.add(shown)
        self.carried.setdefault(rests, set()).add(shown)

    def doubt(self, keys: set[int]) -> bool:
        """Forget what rests on lemmas that have fallen; tell whether that is anything."""
        gone = [self.carried.pop(key) for key in keys & self.carried.keys()]
        gone += [shown for shown, rests in self.rests if rests & keys]
        self.rests = [(shown, rests) for shown, rests in self.rests if not rests & keys]
        self.shown.difference_update(*gone)
        return bool(gone)


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
    _answers: dict[Step, Answers] = field(factory=dict)

    def run(self, met: Mapping[Place, Rows]) -> Mapping[Place, tuple[Lemma, ...]]:
        """
        Guess and prune until nothing more is guessed.

        Args:
            met: states that were met, by position.
        """
        for place, rows in met.items():
            self._open(place, rows)
        self._todo = dict.fromkeys(sorted(self._todo, key=lambda step: step.before == step.after))
        while self._todo:
            self._ask_all()
            for place, room in self.rooms.items():  # what followed once may not any more
                self._believe(place, Guesses(self.steps).at(place, room.rows))
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
        solver = brisk(self.seed)
        for one in self.steps.properties:
            solver.add(self.translate(self.steps.at(place, one.condition)))
        self.rooms[place] = Room(rows, solver)
        guesses = Guesses(self.steps)
        self._believe(place, [*guesses.types(place), *guesses.at(place, rows)])
        self._todo.update(dict.fromkeys(self.steps.leaving.get(place, ())))

    def _believe(self, place: Place, lemmas: Iterable[Lemma]) -> None:
        """Take lemmas up that haven't fallen; the steps that lead here must be asked about them."""
        room = self.rooms[place]
        new = [one for one in lemmas if one.says.key not in room.lemmas and one.says.key not in room.fallen]
        for one in new:
            key = one.says.key
            room.lemmas[key] = one
            if key not in room.literals:
                literal = z3().Bool(f"lemma {key}")
                room.literals[key], room.keys[literal.get_id()] = literal, key
                room.solver.add(z3().Implies(literal, self.translate(one.says)))
        if new:
            self._todo.update(dict.fromkeys(self.steps.entering.get(place, ())))

    def _drop(self, place: Place, keys: set[int]) -> None:
        """Let lemmas fall; the steps from here that rested on them must be asked again."""
        room = self.rooms[place]
        for key in keys:
            del room.lemmas[key]
        room.fallen |= keys
        for step in self.steps.leaving.get(place, ()):
            if step in self._answers and self._answers[step].doubt(keys):
                self._todo[step] = None

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
        answers, before = self._answers.setdefault(step, Answers()), self.rooms[step.before].lemmas
        stays = step.before == step.after
        found: dict[int, Any] = {}
        for key, lemma in self.rooms[step.after].lemmas.items():
            if key not in answers.shown:
                says = self.steps.after(step, lemma.says)
                if says is True or (stays and key_of(says) == key):  # it goes without saying
                    answers.shown.add(key)
                elif isinstance(says, Term) and says.key in before:
                    answers.carry(key, says.key)
                else:
                    found[key] = self.translate(says)
        return found

    def _break(self, step: Step, questions: dict[int, Any]) -> tuple[list[list[int]], bool]:
        """Let fall what can fail behind a step; return the states that show it where new guesses are due."""
        states: list[list[int]] = []
        hiding = False
        while questions:
            self.limit()
            model = self._counterexample(step, questions)
            if model is None:
                break
            states.append(self._behind_state(step, model))
            if step.after not in self.rooms:
                return states, True
            failed = {key for key, says in questions.items() if not told(model, says)}
            questions = {key: says for key, says in questions.items() if key not in failed}
            lemmas = self.rooms[step.after].lemmas
            hiding = hiding or any(lemmas[key].kind in HIDING for key in failed)
            self._drop(step.after, failed)
        return states, hiding

    def _counterexample(self, step: Step, questions: Mapping[int, Any]) -> Any:
        """Ask for a state from which something fails behind a step; note what was shown where there is none."""
        room = self.rooms[step.before]
        room.solver.push()  # cheaper than an assumption, which would stay known to the solver
        room.solver.add(self.translate(step.guard), denied(list(questions.values())))
        answer = answered(room.solver, (room.literals[key] for key in room.lemmas))
        model = room.solver.model() if answer == z3().sat else None
        if answer == z3().unsat:
            rests = {room.keys[one.get_id()] for one in room.solver.unsat_core()}
            self._answers.setdefault(step, Answers()).add(questions, rests)
        room.solver.pop()
        if answer == z3().unknown:
            raise Undecided(step)
        return model

    def _behind_state(self, step: Step, model: Any) -> list[int]:
        """Read the state behind a step from a model."""
        after = self.steps.paths[step.path].after
        return [
            step.after if name == "at" else int(valued(model, self.translate(after.get(name, part)), part.sort))
            for name, part in self.steps.parts.items()
        ]


class Undecided(RuntimeError):  # noqa: N818  # an answer of the solver, not a mistake
    """Say that the solver didn't answer whether a step keeps the lemmas."""

    def __init__(self, step: Step) -> None:
        super().__init__(f"the solver must say whether path {step.path} keeps the lemmas (it didn't)")
