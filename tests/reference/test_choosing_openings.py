"""Openings are chosen by what mutants show and by what schedules reach, and by nothing else."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from mutants import book, openings, rating
from mutants.book import Pool, Taken, training
from mutants.openings import Drawer, Opening, Raw
from mutants.rating import NEVER, marks

from turnproof.notation import read_schedule
from turnproof.score import schedule_text
from turnproof_model.contracts import CONTRACTS


def pooled(*rows, lengths, reached=()):
    """Make a pool of schedules of so many commands from marks, one row for each mutant."""
    drawn = []
    for number, length in enumerate(lengths):
        new = dict(reached).get(number, {})
        steps = tuple(frozenset(new.get(at, ())) for at in range(1, length + 1))
        drawn.append(Opening(tuple(range(length)), (), steps))
    pool = Pool(drawn, np.array(rows, dtype=np.int8))
    pool.weights[:] = 1
    return pool


@pytest.fixture
def short_book(monkeypatch):
    monkeypatch.setattr(book, "COMMANDS", 8)


@pytest.mark.usefixtures("short_book")
def test_what_shows_most_for_its_commands_is_taken_first_and_cut_where_it_has_shown_it():
    pool = pooled((3, NEVER, 9), (3, NEVER, 2), (NEVER, 5, NEVER), lengths=(6, 5, 12))

    assert pool.chosen() == [Taken(0, 3), Taken(1, 5)]
    assert pool.cut(Taken(0, 3)) == (0, 1, 2)


@pytest.mark.usefixtures("short_book")
def test_what_is_shown_already_counts_no_more():
    """The second schedule shows two mutants late, of which the first one has shown one soon."""
    pool = pooled((2, 4, NEVER), (NEVER, 4, NEVER), (NEVER, NEVER, 3), lengths=(2, 4, 3))

    assert pool.chosen() == [Taken(0, 2), Taken(2, 3), Taken(1, 4)]


@pytest.mark.usefixtures("short_book")
def test_transitions_decide_where_no_mutant_is_left():
    first_time = {1: {2: ("here",)}, 2: {3: ("here", "there", "elsewhere")}}
    pool = pooled((1, NEVER, NEVER), lengths=(1, 5, 5), reached=first_time)

    assert pool.chosen()[:2] == [Taken(0, 1), Taken(2, 3)]


def test_a_mutant_that_nearly_every_schedule_shows_counts_little():
    pool = Pool([], np.array([[1, 1, 1, NEVER], [1, NEVER, NEVER, NEVER]], dtype=np.int8))

    assert list(pool.weights) == [0.25, 0.75]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_is_drawn_depends_on_the_seed_alone_and_can_be_written_and_played_again(contract):
    drawn = Drawer(contract, random.Random(5)).some(6)

    assert drawn == Drawer(contract, random.Random(5)).some(6)
    assert len({one.commands for one in drawn}) == 6
    for one in drawn:
        assert read_schedule(schedule_text(one.commands)) == one.commands
        assert Raw(contract).answers(one.commands) == one.answers
        assert len(one.reached) == len(one.commands)


def test_a_schedule_shows_a_mutant_where_an_answer_differs_and_nowhere_else():
    """What changes nothing is the foil."""
    drawn = Drawer("claim", random.Random(1)).some(8)
    mutants = training("claim")[::40]
    unchanged = evolve(mutants[0], after=mutants[0].before)

    shown = marks("claim", [*mutants, unchanged], drawn, jobs=1)

    lengths = np.array([len(one.commands) for one in drawn])
    assert (shown[-1] == NEVER).all()
    assert (shown[:-1] < NEVER).any(axis=1).sum() > len(mutants) / 2
    assert ((shown == NEVER) | ((shown >= 1) & (shown <= lengths))).all()


@pytest.mark.parametrize("contract", CONTRACTS)
def test_one_mutant_stands_for_all_that_change_the_same_lines(contract):
    places = [(mutant.module, mutant.function, mutant.before) for mutant in training(contract)]

    assert len(places) > 300
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("module", [book, openings, rating])
def test_the_deliberate_defects_have_no_part_in_it(module):
    """The suite is measured with them."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)} | {
        keyword.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords
    }

    assert not {name for name in imported if "killmatrix" in name or "prove" in name}
    assert "fault" not in words
