"""Session logs are read in the forms of both revisions and judged by what they show."""

from __future__ import annotations

import json

import pytest
from conformance.check.logs import TOOLS, TURN, WINDOW_TURN, broken, checked, log, rule, text


@pytest.mark.parametrize(("contract", "words"), [("claim", TURN + TOOLS), ("window", WINDOW_TURN * 2)])
def test_a_lawful_log_conforms_under_the_contract_that_its_events_tell(contract: str, words: str) -> None:
    result = checked(log(contract, words))

    assert (result.verdict, result.format, result.contract) == ("conforms", "deepseek-harness", contract)
    assert result.events == len(words.split())
    assert rule(result, "K-TURN") == "passed"


def test_a_header_may_state_the_contract() -> None:
    assert checked(log("claim", "turn turn.", contract="claim")).contract == "claim"


def test_a_log_that_shows_neither_contract_is_judged_by_core() -> None:
    result = checked(log("claim", "turn step say step. turn."))

    assert result.contract == "core"
    assert "nothing in the log tells its contract: it is judged by core" in result.notes
    assert {item.id[0] for item in result.rules} == {"K"}


def test_a_forced_contract_wins_and_the_note_says_under_which_it_was_recorded() -> None:
    result = checked(log("window", WINDOW_TURN), contract="claim")

    assert result.contract == "claim"
    assert any("recorded under contract window" in note for note in result.notes)


def test_a_log_that_a_later_revision_goes_on_with_is_judged_by_both() -> None:
    """W-TURN-1, C-TURN-1: the turn numbers go on."""
    both = log("window", WINDOW_TURN) + log("claim", "turn turn. " + TURN)[3:]
    result = checked([{key: value for key, value in line.items() if key != "seq"} for line in both])

    assert result.verdict == "conforms"
    assert any("recorded by two revisions" in note for note in result.notes)
    assert (rule(result, "W-TURN-1"), rule(result, "C-TURN-1")) == ("passed", "passed")


def test_what_the_log_does_not_record_is_not_applicable() -> None:
    result = checked(log("claim", TURN))

    assert rule(result, "K-REQ") == rule(result, "C-CAN-1") == "not-applicable"
    assert next(item.reason for item in result.rules if item.id == "K-REQ") == "the trace doesn't record request"


def test_lines_that_no_rule_speaks_of_are_passed_over_with_their_numbers() -> None:
    words = "+a turn a step user:a chunk plugin say chunk step. turn."
    result = checked(log("claim", words))

    assert result.verdict == "conforms"
    assert result.events == len(words.split()) - 3


def test_a_row_of_packed_chunks_has_as_many_numbers_as_chunks() -> None:
    lines = log("claim", "turn step chunk say step. turn.")
    packed = {"type": "text-chunks", "seq0": 2, "data": {"turn": 1, "step": 1, "dt": [1, 2], "texts": ["a", "b", "c"]}}
    lines[3] = packed
    for line in lines[4:]:
        line["seq"] += 2

    assert checked(lines).damage == ()
    packed["data"]["texts"] = ["a", "b"]
    assert [damage.seq for damage in checked(lines).damage] == [4]


def test_messages_in_the_form_before_they_had_ids_are_read() -> None:
    lines = log("window", "turn user:a step say:c1 call:c1 result:c1 step. step say step. turn.")
    del lines[2]["data"]["id"]
    lines[4]["data"] = {"turn": 1, "step": 1, "content": lines[4]["data"]["message"]["content"]}
    lines[6]["data"] = {"turn": 1, "step": 1, "callId": "c1", "isError": False, "content": []}
    result = checked(lines)

    assert result.verdict == "conforms"
    assert any("from line 3 on messages have the form of an earlier revision" in note for note in result.notes)


def test_an_unclosed_final_turn_is_a_crash_and_no_violation() -> None:
    """K-TURN: a log may stop inside a turn."""
    result = checked(log("claim", "+a turn a step user:a"))

    assert result.verdict == "conforms"
    assert any("turn 1, begun at line 3, is still open at the end" in note for note in result.notes)


@pytest.mark.parametrize("contract", ["claim", "window"])
def test_the_repair_of_a_crash_may_answer_calls_that_never_began(contract: str) -> None:
    """W-LOG-3, C-LOG-3: the turn is closed as interrupted."""
    begin = "+a turn a step user:a" if contract == "claim" else "turn user:a step"
    crashed = f"{begin} say:c1,c2 call:c1 result:c1! result:c2! step. "

    assert checked(log(contract, crashed + "turn.interrupted")).verdict == "conforms"
    expected = "C-STEP-2" if contract == "claim" else "W-STEP-3"
    assert expected in broken(checked(log(contract, crashed + "turn.")))


def test_turn_numbers_go_on_behind_a_compaction() -> None:
    """W-LOG-4, C-TURN-1: what was compacted keeps its numbers."""
    lines = log("claim", "turn turn. turn turn.", contract="claim")
    compaction = {
        "type": "user/message",
        "data": {"id": "compaction-1", "content": [], "source": {"kind": "compaction"}},
    }
    compacted = [{**lines[0], "turnsBefore": 1}, compaction, *lines[3:]]
    plain = [{key: value for key, value in line.items() if key != "seq"} for line in compacted]

    assert checked(plain).verdict == "conforms"
    del plain[0]["turnsBefore"]
    assert broken(checked(plain)) == {"C-TURN-1": 3}


def test_a_log_without_its_beginning_is_judged_from_its_first_whole_turn_on() -> None:
    lines = log("claim", (TURN * 3).replace("+a", "chunk +a"))
    result = checked([lines[0], *lines[5:]])

    assert result.verdict == "damaged"
    assert result.violations == ()
    assert [damage.message for damage in result.damage] == ["seq 0 to 3 are missing before this step/start"]
    assert "the log begins in the middle of a turn, so that it is judged from line 9 on" in result.notes


def test_a_seed_that_was_written_by_hand_ends_with_a_resume() -> None:
    lines = log("claim", TURN, numbered=False)
    seed = log("claim", "turn user:z turn.", numbered=False)[1:]
    for line in lines[1:]:
        line["data"] = json.loads(json.dumps(line["data"]).replace('"turn": 1', '"turn": 2'))
    whole = [lines[0], *seed, {"type": "session/end-seed", "data": {}}, *lines[1:]]

    assert checked(whole).verdict == "conforms"


VIOLATIONS = {
    "a turn in a turn": ("turn turn turn. turn.", "C-TURN-1", 3),
    "a step number twice": ("turn step say step. turn.", "C-STEP-1", 4),
    "no result": ("+a turn a step user:a say:c1 call:c1 step. turn.", "C-STEP-2", 9),
    "a message among results": ("+a turn a step user:a say:c1,c2 call:c1 result:c1 user:b", "C-STEP-2", 10),
    "a prompt too many": ("+a +b turn a b", "C-TURN-3", 6),
    "a claim before its turn": ("+a a turn turn.", "C-CLAIM-2", 3),
    "an id that waits twice": ("+a +a", "C-SEND-3", 3),
    "a message behind the answer": ("+a turn a step say user:a step. turn.", "C-PRE-1", 7),
    "two answers": ("+a turn a step user:a say say step. turn.", "C-STEP-1", 8),
    "a splice that doesn't fit": ("turn a turn.", "C-EDIT-2", 3),
    "an entry outside a turn": ("+a turn turn. user:b", "C-TURN-2", 5),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_broken_rule_is_named_at_its_line(name: str) -> None:
    words, expected, line = VIOLATIONS[name]
    lines = log("claim", words)
    if name == "a step number twice":
        lines.insert(4, {**lines[2], "seq": 3})
        for behind in lines[5:]:
            behind["seq"] += 1
        line = 5

    found = broken(checked(lines, "claim"))

    assert found.get(expected) == line


def test_a_violation_says_seq_events_and_clauses() -> None:
    result = checked(log("claim", "+a turn a step user:a say:c1,c2 call:c1 result:c1 user:b"))
    violation = next(item for item in result.violations if item.rule == "C-STEP-2")

    assert (violation.line, violation.seq) == (10, 8)
    assert [place.event for place in violation.events] == ["assistant/message with c1, c2", "user/message b"]
    assert violation.clauses
    assert "c2" in violation.message


def test_the_same_text_in_inbox_and_log_is_asked_for() -> None:
    """K-SAME: id, content and source stay."""
    lines = log("claim", TURN)
    lines[5]["data"]["content"] = [{"type": "text", "text": "other"}]

    assert broken(checked(lines)) == {"K-SAME": 6}


def test_every_line_is_needed_whole() -> None:
    lines = text(log("claim", TURN)).splitlines(keepends=True)
    lines[3] = lines[3][:20] + b"\n"
    result = checked(b"".join(lines))

    assert result.verdict == "unreadable"
    assert result.unread is not None
    assert result.unread.line == 4
    assert result.events == 2
