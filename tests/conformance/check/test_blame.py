"""Who is to blame: a log that has lost, repeated or moved lines says so, with the smallest set that explains it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from attrs import frozen
from conformance.check.logs import TOOLS, TURN, Line, broken, checked, log
from hypothesis import given
from hypothesis import strategies as st

from turnproof.check.diagnosis import Diagnosis
from turnproof.check.results import FileResult

LAWFUL = TURN + TOOLS + TURN
COUNT = len(LAWFUL.split())


def edits(result: FileResult) -> set[str]:
    """Say what the blames name."""
    return {str(edit) for item in result.violations if item.blame is not None for edit in item.blame.edits}


def culprits(result: FileResult) -> set[str]:
    return {item.blame.culprit for item in result.violations if item.blame is not None}


def plain(words: str) -> list[Line]:
    return log("claim", words, numbered=False)


# ------------------------------------------------------------------------------------------------ with numbers
@pytest.mark.parametrize("place", range(1, COUNT))
def test_a_lost_line_leaves_a_hole_that_is_named_by_its_number(place: int) -> None:
    lines = log("claim", LAWFUL)
    del lines[place]
    result = checked(lines)

    assert [(damage.kind, damage.seq) for damage in result.damage] == [("hole", place - 1)]
    assert culprits(result) <= {"log"}
    assert result.verdict == "damaged"


@pytest.mark.parametrize("place", range(1, COUNT + 1))
def test_a_line_that_stands_twice_is_named_with_both_places(place: int) -> None:
    lines = log("claim", LAWFUL)
    lines.insert(place, lines[place])
    result = checked(lines)

    assert [(damage.kind, damage.line, damage.seq) for damage in result.damage] == [("duplicate", place + 2, place - 1)]
    assert result.damage[0].message.endswith(f"at line {place + 1}")
    assert result.verdict == "damaged"


@pytest.mark.parametrize("place", range(1, COUNT))
def test_a_line_out_of_place_is_named_with_where_it_belongs(place: int) -> None:
    lines = log("claim", LAWFUL)
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    result = checked(lines)

    (damage,) = result.damage
    assert (damage.kind, damage.line, damage.seq) == ("moved", place + 2, place - 1)
    assert damage.edit is not None
    assert damage.edit.to == place + 1
    assert result.verdict == "damaged"


def test_whole_numbers_prove_that_the_agent_broke_the_rule() -> None:
    result = checked(log("claim", "+a turn a step user:a say:c1 call:c1 step. turn."))

    assert set(broken(result)) >= {"K-BATCH", "C-STEP-2"}
    assert culprits(result) == {"agent"}
    assert result.verdict == "fails"


def test_a_hole_somewhere_else_is_no_excuse() -> None:
    lines = log("claim", TURN * 12 + "+a turn a step user:a say:c1 call:c1 step. turn. ")
    del lines[TURN.split().index("say") + 1]
    result = checked(lines)

    assert [damage.kind for damage in result.damage] == ["hole"]
    assert result.verdict == "fails"


# ------------------------------------------------------------------------------------------------ without numbers
LOST = {
    "turn/start 2": ("turn", 2),
    "turn/end 1": ("turn.", 1),
    "step/start 1 of turn 2": ("step", 2),
    "step/end 1 of turn 2": ("step.", 2),
    "tool/call c1": ("call:c1", 1),
    "tool/result c2": ("result:c2", 1),
    "assistant/message with c1, c2": ("say:c1,c2", 1),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_line_without_numbers_is_told_from_what_follows(name: str) -> None:
    word, nth = LOST[name]
    place = [place for place, other in enumerate(LAWFUL.split(), 1) if other == word][nth - 1]
    lines = plain(LAWFUL)
    del lines[place]
    result = checked(lines)

    (said,) = edits(result)
    assert said in {f"{name} is missing before line {line}" for line in (place + 1, place + 2)}
    assert culprits(result) == {"open"}


def test_a_line_twice_without_numbers_is_told() -> None:
    lines = plain(LAWFUL)
    place = LAWFUL.split().index("say:c1,c2") + 1
    lines.insert(place, lines[place])

    assert edits(checked(lines)) <= {
        f"assistant/message with c1, c2 at line {line} is one too many" for line in (place + 1, place + 2)
    }
    assert edits(checked(lines))


def test_two_lines_in_the_wrong_order_without_numbers_are_told() -> None:
    lines = plain(LAWFUL)
    place = LAWFUL.split().index("turn.") + 1
    lines[place - 1], lines[place] = lines[place], lines[place - 1]
    (said,) = edits(checked(lines))

    assert said in (
        f"turn/end 1 at line {place} belongs before line {place + 2}",
        f"step/end 1 of turn 1 at line {place + 1} belongs before line {place}",
    )


def test_the_lost_end_of_a_turn_takes_a_set_of_lines() -> None:
    lines = plain(TURN + TOOLS + TURN)
    words = (TURN + TOOLS + TURN).split()
    first = words.index("result:c2") + 1
    del lines[first : words.index("step.", first) + 2]
    result = checked(lines)

    assert len({edit.event for item in result.violations if item.blame for edit in item.blame.edits}) == 2
    assert any("tool/result c2" in said for said in edits(result))
    assert any("step/end 1 of turn 2" in said for said in edits(result))


def test_what_no_lost_line_explains_is_put_down_to_the_agent() -> None:
    lines = plain(TURN + "+b turn b step user:b say step. turn. ")
    lines[13]["data"]["content"] = [{"type": "text", "text": "other"}]
    result = checked(lines)

    assert broken(result) == {"K-SAME": 14}
    assert culprits(result) == {"agent"}


def test_far_apart_failures_are_explained_each_by_itself() -> None:
    words = TURN * 20
    lines = plain(words)
    places = [place for place, word in enumerate(words.split(), 1) if word == "step."]
    for place in (places[15], places[2]):
        del lines[place]
    result = checked(lines)

    assert edits(result) == {
        f"step/end 1 of turn 3 is missing before line {places[2] + 1}",
        f"step/end 1 of turn 16 is missing before line {places[15]}",
    }


def test_a_log_that_breaks_everywhere_is_not_asked_about_everywhere() -> None:
    result = checked(plain("turn " * 1500))

    assert result.silenced > 0
    assert len(result.violations) == 1000
    assert result.verdict == "fails"


# ------------------------------------------------------------------------------------------------ the search
@frozen
class Plain:
    number: int
    weight: int = 1


@given(st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_smallest_sets_are_those_that_a_search_of_all_sets_finds(marks: list[set[int]]) -> None:
    def first_unhit(chosen: frozenset[Plain]) -> frozenset[int] | None:
        numbers = {edit.number for edit in chosen}
        return next((frozenset(mark) for mark in marks if not mark & numbers), None)

    diagnosis: Diagnosis[Plain, Any] = Diagnosis(
        mark=first_unhit,
        suspects=lambda mark: map(Plain, sorted(mark)),
        key=lambda mark: mark,
        reached=lambda _: 0,
        most_edits=4,
        most_trials=2000,
        likely=1,
    )
    found = {frozenset(edit.number for edit in one) for one in diagnosis.smallest()}

    sets = (set(one) for size in range(1, 5) for one in itertools.combinations(range(8), size))
    hitting = [frozenset(one) for one in sets if all(one & mark for mark in marks)]
    smallest = min((len(one) for one in hitting), default=0)
    assert found == {one for one in hitting if len(one) == smallest}


def test_a_set_that_would_be_too_large_is_not_found() -> None:
    diagnosis: Diagnosis[Plain, int] = Diagnosis(
        mark=lambda chosen: next((n for n in range(4) if Plain(n) not in chosen), None),
        suspects=lambda mark: [Plain(mark)],
        key=lambda mark: mark,
        reached=lambda _: 0,
        most_edits=3,
        most_trials=100,
        likely=1,
    )

    assert diagnosis.smallest() == []


def test_nothing_is_sought_where_all_is_legal() -> None:
    diagnosis: Diagnosis[Plain, int] = Diagnosis(
        lambda _: None, lambda _: [], lambda mark: mark, lambda _: 0, 3, 100, 1
    )

    assert diagnosis.smallest() == []
