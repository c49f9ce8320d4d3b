"""``turnproof check`` and ``turnproof convert``: what they print, write and end with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conformance.check.logs import TURN, log, text

from turnproof.cli.check import check, convert

BROKEN = "+a turn a step user:a say:c1 call:c1 step. turn."
SESSION = Path(__file__).parents[2] / "data" / "golden" / "claim" / "s01_followup_text.jsonl"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    lines = log("claim", TURN)
    contents = {
        "good": text(lines),
        "broken": text(log("claim", BROKEN)),
        "damaged": text([*lines[:4], *lines[5:]]),
        "open": text(log("claim", BROKEN, numbered=False)),
        "bad": b"nonsense\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {name: str(tmp_path / name) for name in contents}


def run(*words: str, command: Any = check, data: bytes | None = None) -> Result:
    return CliRunner().invoke(command, list(words), input=data)


@pytest.mark.parametrize(
    ("names", "status"),
    [(["good"], 0), (["broken"], 1), (["damaged"], 1), (["bad"], 2), (["good", "broken"], 1), (["bad", "broken"], 2)],
)
def test_the_status_is_that_of_the_worst_file(files: dict[str, str], names: list[str], status: int) -> None:
    assert run(*(files[name] for name in names)).exit_code == status


def test_a_lawful_log_takes_one_line(files: dict[str, str]) -> None:
    lines = run(files["good"]).stdout.splitlines()

    assert lines == [
        f"conforms {files['good']}  deepseek-harness, contract claim, 8 events, 12 rules exercised",
        "1 conforms",
    ]


def test_a_broken_rule_is_explained_with_its_events_clauses_and_blame(files: dict[str, str]) -> None:
    printed = run(files["broken"]).stdout

    assert "K-BATCH line 9 (seq 7): call c1 had no result at the step end" in printed
    assert "line 7: assistant/message with c1" in printed
    assert "clauses 002-" in printed
    assert "the agent is to blame: the sequence numbers are whole" in printed


def test_who_is_to_blame_may_be_open(files: dict[str, str]) -> None:
    printed = run(files["open"]).stdout

    assert "who is to blame is open" in printed
    assert "tool/result c1 is missing before line 9" in printed


def test_a_file_that_can_not_be_read_is_told_on_stderr_and_the_others_are_checked(files: dict[str, str]) -> None:
    result = run(files["bad"], files["good"])

    assert f"turnproof: {files['bad']}:1: a line holds one JSON object" in result.stderr
    assert result.stdout.splitlines()[-1] == "1 conforms · 1 unreadable"


def test_json_goes_to_stdout_alone(files: dict[str, str]) -> None:
    result = run("--json", "-", *files.values())
    document = json.loads(result.stdout)

    assert document["schema"] == "turnproof/check/1"
    assert document["verdict"] == "unreadable"
    by_path = {item["path"]: item for item in document["files"]}
    assert by_path[files["good"]]["verdict"] == "conforms"
    violation = by_path[files["broken"]]["violations"][0]
    assert {"rule", "line", "seq", "message", "events", "clauses", "blame"} == violation.keys()
    assert "K-REQ" in by_path[files["good"]]["not_applicable"]
    assert by_path[files["damaged"]]["damage"] == [
        {"kind": "hole", "line": 5, "message": "seq 3 is missing before this user/message", "seq": 3}
    ]
    assert by_path[files["bad"]]["error"]["line"] == 1


def test_standard_input_is_read(files: dict[str, str]) -> None:
    result = run("-", data=Path(files["good"]).read_bytes())

    assert result.exit_code == 0
    assert result.stdout.startswith("conforms -")


def test_a_format_may_be_forced(files: dict[str, str]) -> None:
    result = run("--format", "trace", files["good"])

    assert result.exit_code == 2
    assert "a trace is of version 1" in result.stderr


def test_a_log_is_written_as_a_trace(files: dict[str, str]) -> None:
    lines = run(files["good"], command=convert).stdout.splitlines()

    assert json.loads(lines[0])["trace"] == 1
    assert [json.loads(line)["type"] for line in lines[1:3]] == ["inbox/enqueue", "turn/start"]


def test_several_traces_need_a_folder(files: dict[str, str], tmp_path: Path) -> None:
    lines = SESSION.read_text(encoding="utf-8").splitlines()
    several = tmp_path / "several.jsonl"
    several.write_text("\n".join([*lines, *lines]) + "\n", encoding="utf-8")

    refused = run(str(several), command=convert)
    assert refused.exit_code == 2
    assert "name a folder with --into" in refused.stderr
    assert run(str(several), "--into", str(tmp_path / "traces"), command=convert).exit_code == 0
    assert [path.name for path in sorted((tmp_path / "traces").iterdir())] == ["several.1.jsonl", "several.2.jsonl"]


def test_what_can_not_be_converted_is_told(files: dict[str, str]) -> None:
    result = run(files["bad"], command=convert)

    assert result.exit_code == 2
    assert f"{files['bad']}:1: a line holds one JSON object" in result.stderr


def test_what_a_log_says_can_not_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(text(log("claim", "+a turn turn. user:\x1b[2J[red]x[/red]")))

    printed = run(str(path)).stdout
    assert "\x1b[2J" not in printed
    assert "[red]x[/red]" in printed
