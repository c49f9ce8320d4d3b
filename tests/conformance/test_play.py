"""A contract can be stepped through by hand: state, what can be done, events with their rules, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.capsule import read_capsule, replay_capsule
from turnproof.cli import cli
from turnproof.notation import Reader
from turnproof.play import Play, PlayError
from turnproof.play_text import enabled
from turnproof.recorded import read_recording, replay_recording
from turnproof.score import command_text
from turnproof_model import catalogue
from turnproof_model import vocabulary as v
from turnproof_model.contracts import CONTRACTS


def played(contract: v.Contract, *lines: str) -> Play:
    play = Play(contract)
    for line in lines:
        play.take(line)
    return play


def shown(play: Play, name: str) -> str:
    return next(line.split(maxsplit=1)[1] for line in play.state() if line.split()[0] == name)


def test_the_state_shows_status_window_lists_and_gates() -> None:
    play = played("window", "followup a", "followup b", "steer c", "inject d")

    assert shown(play, "status") == "running, at admission, window open"
    assert shown(play, "next-turn") == "b waking"
    assert shown(play, "next-step") == "c steering · d context"
    assert shown(play, "gates") == "g1 prompt-submit a"


def test_the_state_shows_what_is_late_and_what_is_armed() -> None:
    """C-WAKE-3: a waking send to an aborted activity is late until the loop restarts."""
    play = played("claim", "reset parking pre-step", "followup a", "on turn/end { inject z }", "cancel", "steer b")

    assert shown(play, "next-turn") == "b waking late"
    assert shown(play, "gates") == "g1 pre-step a (aborted)"
    assert shown(play, "armed") == "on turn/end { inject z }"


def test_events_come_with_the_rules_that_demand_them() -> None:
    """W-ADM-3: the turn opens before its prompt is written."""
    lines = Play("window").take("followup a · g1 allow")

    assert lines[0] == "> followup a"
    assert [line.split() for line in lines if "turn/start" in line] == [
        ["turn/start", "t1", "message", "W-ADM-2", "W-ADM-3", "W-TURN-1", "W-TURN-2"]
    ]


def test_rules_names_what_was_at_work_in_the_last_command() -> None:
    """W-ADM-5: a block opens no turn."""
    play = played("window", "followup a", "g1 block")

    assert f"  W-ADM-5    {catalogue.rule('W-ADM-5').title}" in play.take("rules")


def test_a_refusal_is_shown_with_its_reason() -> None:
    """C-SEND-3: an id that is pending is refused."""
    lines = played("claim", "followup a", "followup b").take("followup b")

    assert any(line.startswith("  refused: ") and "C-SEND-3" in line for line in lines)


@pytest.mark.parametrize("contract", CONTRACTS)
@settings(max_examples=15)
@given(data=st.data())
def test_all_that_is_offered_can_be_typed_and_is_performed(contract: v.Contract, data: st.DataObject) -> None:
    play = Play(contract)
    for _ in range(6):
        offered = [command for commands in enabled(play) for command in commands]

        assert [Reader(dict(play.now.known)).command(command_text(c)).method for c in offered] == [
            command.method for command in offered
        ]
        play.take(command_text(data.draw(st.sampled_from(offered))))
        assert play.now.turns[-1].observation.refused is None


def test_all_outcomes_of_an_open_gate_are_offered() -> None:
    play = played("window", "followup a", "g1 allow", "g2 error")
    releases = [c for commands in enabled(play) for c in commands if isinstance(c, v.Release)]

    assert {type(release.outcome) for release in releases} == set(v.OUTCOMES["request-error"])


def test_edits_are_offered_where_the_contract_has_them() -> None:
    """C-EDIT-1: what is pending can be removed and replaced."""
    lines = ("followup a", "followup b")

    assert any("remove b · replace b by d · prepend d next-turn" in line for line in played("claim", *lines).state())
    assert not any("remove" in line or "prepend" in line for line in played("window", *lines).state())


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("shout", "a command is one of"),
        ("g7 allow", "no open gate 'g7'"),
        ("g1 text", "gate 'g1' (prompt-submit) doesn't take 'text'"),
        ("remove a", "contract window has no remove"),
        ("followup c · g7 allow", "no open gate 'g7'"),
        ("freedom door shut", "a freedom of window is one of"),
        ("freedom late-send loud", "freedom 'late-send' takes admitted or discarded or refused (got 'loud')"),
        ("save", "save needs the name of a file (got none)"),
        ("save /nowhere/at/all", "can't be written"),
    ],
)
def test_a_line_that_cannot_be_taken_is_told_and_changes_nothing(line: str, complaint: str) -> None:
    play = played("window", "followup a", "followup b")
    before, back = play.now, list(play.before)

    with pytest.raises(PlayError) as error:
        play.take(line)

    assert complaint in str(error.value)
    assert play.now == before
    assert play.before == back


def test_undo_takes_back_one_line_after_another() -> None:
    play = Play("claim")
    states = [play.state()]
    lines = ["followup a", "steer b · g1 enter", "freedom after-reject continue", "cancel"]
    for line in lines:
        play.take(line)
        states.append(play.state())

    for state in reversed(states[:-1]):
        assert play.take("undo") == state
    with pytest.raises(PlayError, match="undo needs a line to take back"):
        play.take("undo")


def test_an_id_is_free_again_after_undo() -> None:
    play = played("window", "inject a (plan)", "undo", "followup a")

    assert play.now.known["a"] == v.Message("a", "a")


def test_another_value_of_a_freedom_changes_what_happens() -> None:
    """C-PRE-5: after a rejected turn, pending waking input waits or starts the next turn."""
    lines = ("followup a", "followup b", "g1 reject")

    assert shown(played("claim", *lines), "next-turn") == "b waking"
    assert shown(played("claim", "freedom after-reject continue", *lines), "gates") == "g2 pre-step b"


STORIES = {
    "window": "followup a · inject c · steer b · g1 allow +x1 · on turn/end { followup z } · g2 tools c1:par · cancel",
    "claim": "inject a · followup b · replace a by d · g1 enter · g2 partial 'p' · { cancel; steer e } · resume crash",
}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_saved_play_is_accepted_as_a_recording_and_passed_by_the_reference(
    contract: v.Contract, tmp_path: Path
) -> None:
    recording, capsule = tmp_path / "play.jsonl", tmp_path / "play.json"
    play = played(contract, STORIES[contract], f"save {recording}", f"save {capsule}")
    read = read_recording(recording)

    assert [command for _, command, _ in read.exchanges] == [turn.command for turn in play.now.turns]
    assert replay_recording(read).difference is None
    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": contract}).connect()
    replayed = replay_capsule(read_capsule(capsule), client)
    client.close()
    assert (replayed.verdict, replayed.stopped) == ("passed", None)


def test_a_script_is_played_and_ends_with_status_0(tmp_path: Path) -> None:
    script = tmp_path / "story.txt"
    script.write_text("# a first prompt\nfollowup a\n\ng1 allow\nquit\nfollowup b\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["play", "window", "--script", str(script)])

    assert result.exit_code == 0
    assert "> followup a" in result.output
    assert "> followup b" not in result.output


def test_a_script_goes_on_behind_a_line_that_cannot_be_taken_and_ends_with_status_2() -> None:
    result = CliRunner().invoke(cli, ["play", "claim"], input="followup a\nshout\ng1 reject\n")

    assert result.exit_code == 2
    assert "line 2: a command is one of" in result.output
    assert "> g1 reject" in result.output
