"""
Expected failures: what a file may hold, what a run is judged to be with it, and how it is rewritten.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit
from finished_runs import failure, finished
from hypothesis import given
from hypothesis import strategies as st

from turnproof.expectations import (
    Expectation,
    ExpectationsError,
    assess,
    assessment_from_json,
    read_expectations,
)
from turnproof.expectations_update import update_file, updated
from turnproof.results import run_from_json

DISPOSED = Expectation("C-DIS-1", "input after a disposal starts a turn")
FILE = """\
# The known failures of mine.
version = 1  # of the form

# A note on the whole list.

# Since the rewrite of the inbox.
# Nobody depends on it yet.
[[expected]]
rule = "C-DIS-1"  # the one
reason = "input after a disposal starts a turn"
since = 2026-01-31

# Behind the first.

# Only old versions.
[[expected]]
rule = "C-WAKE-3"
agent = "1.*"
contract = "claim"
reason = "late input stays parked"
link = "https://tracker.example/12"

# The end.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "expected.toml"
    path.write_text(FILE)
    return path


# ------------------------------------------------------------------------------------------------ reading
def test_a_file_gives_its_entries_in_order(file: Path) -> None:
    assert read_expectations(file) == (
        Expectation("C-DIS-1", "input after a disposal starts a turn", since="2026-01-31"),
        Expectation("C-WAKE-3", "late input stays parked", "claim", "1.*", "https://tracker.example/12"),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 2", "'version' must be 1 (got 2)"),
        ("version = 1\nexpect = 1", "(got 'expect')"),
        ("version = 1\nexpected = 1", "(got 'expected')"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-1'", "'reason' must be there"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-1'\nreason = ' '", "'reason' must be there"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-11'\nreason = 'r'", "did you mean C-DIS-1"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-1'\nreason = 'r'\ncontract = 'x'", "window, claim (got 'x')"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-1'\nreason = 'r'\nflaky = 1", "'flaky' is bool (got 1)"),
        ("version = 1\n[[expected]]\nrule = 'C-DIS-1'\nreason = 'r'\nwhen = 1", "(got 'when')"),
        ("version =", "not TOML"),
    ],
)
def test_what_is_no_expectation_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(text)

    with pytest.raises(ExpectationsError) as refused:
        read_expectations(path)

    assert str(refused.value).startswith(str(path))
    assert words in str(refused.value)


# ------------------------------------------------------------------------------------------------ judging
def test_an_expected_failure_leaves_the_run_conforming() -> None:
    assessment = assess(finished(failure("C-DIS-1")), [DISPOSED])

    assert (assessment.verdict, assessment.exit_code, assessment.outcome("C-DIS-1")) == ("conforms", 0, "expected")


def test_an_unexpected_failure_fails_the_run_beside_an_expected_one() -> None:
    assessment = assess(finished(failure("C-DIS-1"), failure("C-SEND-2")), [DISPOSED])

    assert (assessment.verdict, assessment.outcome("C-SEND-2"), assessment.outcome("C-DIS-1")) == (
        "fails",
        "failed",
        "expected",
    )


def test_what_breaks_an_expected_rule_and_others_is_expected_as_a_whole() -> None:
    assessment = assess(finished(failure("C-DIS-1", "C-SEND-2")), [DISPOSED])

    assert (assessment.verdict, assessment.outcome("C-SEND-2")) == ("conforms", "expected")


def test_a_known_deviation_does_not_blind_the_other_rules_that_it_breaks() -> None:
    assessment = assess(finished(failure("C-DIS-1", "C-SEND-2"), failure("C-SEND-2")), [DISPOSED])

    assert (assessment.verdict, assessment.outcome("C-SEND-2")) == ("fails", "failed")


def test_an_expectation_without_a_failure_is_stale_and_fails_the_run() -> None:
    assessment = assess(finished(passed=("C-DIS-1",)), [DISPOSED])

    assert (assessment.verdict, assessment.exit_code, assessment.outcome("C-DIS-1")) == ("fails", 1, "stale")


@pytest.mark.parametrize("fields", [{"not_exercised": ("C-DIS-1",)}, {"passed": ("C-DIS-1",), "interrupted": True}])
def test_a_run_that_does_not_show_an_expectation_stale_is_inconclusive(fields: dict) -> None:
    assessment = assess(finished(**({"passed": ("C-SEND-1",)} | fields)), [DISPOSED])

    assert (assessment.verdict, assessment.exit_code, assessment.outcome("C-DIS-1")) == ("inconclusive", 4, "unmet")


@pytest.mark.parametrize("met", [0, 1])
def test_a_flaky_expectation_is_neither_stale_nor_unexpected_and_is_counted(met: int) -> None:
    flaky = Expectation("C-DIS-1", "depends on a timer", flaky=True)

    assessment = assess(finished(*[failure("C-DIS-1")] * met, passed=("C-DIS-1",)), [flaky])

    assert (assessment.verdict, assessment.flaky) == ("conforms", ((flaky, met),))


@pytest.mark.parametrize("condition", [{"agent": "2.*"}, {"contract": "window"}])
def test_an_expectation_whose_condition_does_not_hold_expects_nothing(condition: dict) -> None:
    elsewhere = Expectation("C-DIS-1", "r", **condition)

    assert assess(finished(failure("C-DIS-1")), [elsewhere]).verdict == "fails"
    assert assess(finished(passed=("C-DIS-1",)), [elsewhere]).verdict == "conforms"


def test_a_failure_that_did_not_show_again_is_named_and_still_unexpected() -> None:
    once = failure("C-DIS-1", reproduced=False)

    assessment = assess(finished(once))

    assert (assessment.verdict, assessment.unrepeated) == ("fails", (once,))


def test_an_assessment_survives_the_way_through_its_document() -> None:
    before = assess(finished(failure("C-DIS-1"), failure("C-SEND-2")), [DISPOSED], "expected.toml")
    document = before.to_json()

    assert assessment_from_json(document, run_from_json(document)) == before


# ------------------------------------------------------------------------------------------------ rewriting
def test_an_update_drops_stale_entries_with_their_comments_and_keeps_all_others(file: Path) -> None:
    result = finished(failure("C-WAKE-3"), passed=("C-DIS-1",))

    update = update_file(file, assess(result, read_expectations(file)))

    assert (update.removed, update.added) == (("C-DIS-1",), ())
    assert file.read_text() == FILE.replace(
        """\
# Since the rewrite of the inbox.
# Nobody depends on it yet.
[[expected]]
rule = "C-DIS-1"  # the one
reason = "input after a disposal starts a turn"
since = 2026-01-31

""",
        "",
    )


def test_an_update_adds_an_entry_for_each_unexpected_failure(file: Path) -> None:
    result = finished(failure("C-WAKE-3"), failure("C-DIS-1"), failure("C-SEND-2", "C-CLAIM-4"), failure("C-SEND-2"))

    update = update_file(file, assess(result, read_expectations(file)))

    assert (update.removed, update.added) == ((), ("C-SEND-2",))
    assert file.read_text().startswith(FILE.rstrip("\n"))
    assert assess(result, read_expectations(file)).verdict == "conforms"


def test_an_update_begins_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "expected.toml"
    result = finished(failure("C-DIS-1"), failure("C-SEND-2", reproduced=False))

    update_file(path, assess(result))

    assert assess(result, read_expectations(path)).verdict == "conforms"
    assert [entry.flaky for entry in read_expectations(path)] == [False, True]


RULES = ("C-DIS-1", "C-SEND-1", "C-SEND-2", "C-WAKE-3")
comment = st.sampled_from(["", "# a note\n", "# one\n# two\n"])


@given(
    st.lists(st.tuples(comment, st.sampled_from(RULES), comment), min_size=1, max_size=5),
    st.sets(st.sampled_from(RULES)),
)
def test_an_update_keeps_what_is_not_stale_whatever_stands_around_it(entries: list, failing: set) -> None:
    text = "version = 1\n\n" + "".join(
        f'{above}[[expected]]\nrule = "{rule}"\nreason = "{number}"\n\n{loose}\n'
        for number, (above, rule, loose) in enumerate(entries)
    )
    listed = [Expectation(rule, str(number)) for number, (_, rule, _) in enumerate(entries)]
    result = finished(*map(failure, sorted(failing)), passed=RULES)

    after = updated(text, assess(result, listed)).text

    kept = [entry for entry in listed if entry.rule in failing]
    assert [entry["reason"] for entry in tomlkit.parse(after).unwrap().get("expected", [])][: len(kept)] == [
        entry.reason for entry in kept
    ]
    loose_notes = sum(loose.count("#") for _, _, loose in entries)
    own_notes = sum(above.count("#") for above, rule, _ in entries if rule in failing)
    new_notes = len(failing - {entry.rule for entry in listed})
    assert after.count("#") == loose_notes + own_notes + new_notes
