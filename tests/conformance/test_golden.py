"""Recorded sessions of real agents judge the rules: each is accepted whole, or listed with the rule that it breaks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from turnproof.recorded import RecordingError, read_recording, recorded_json, replay_recording

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
RECORDED = sorted(GOLDEN.glob("*/*.jsonl"))


def listed() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for contract in ("window", "claim"):
        text = (GOLDEN / f"{contract}-deviations.toml").read_text(encoding="utf-8")
        for entry in tomllib.loads(text)["trace"]:
            found[f"{contract}/{entry['file']}"] = entry
    return found


LISTED = listed()


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_every_recording_of_both_revisions_is_here() -> None:
    assert len(RECORDED) == 97 + 69
    assert LISTED.keys() <= {name_of(path) for path in RECORDED}


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recording_is_accepted_whole_or_breaks_the_rules_it_is_listed_for(path: Path) -> None:
    replayed = replay_recording(read_recording(path))

    assert replayed.contract == path.parent.name
    assert not replayed.disagreement
    entry = LISTED.get(name_of(path))
    if entry is None:
        assert replayed.difference is None
        return
    assert replayed.difference is not None, "listed as a deviation, but accepted whole"
    assert replayed.line == entry["line"]
    assert set(replayed.difference.rules) & set(entry["rules"]), replayed.difference  # type: ignore[call-overload]
    assert entry["why"]


def test_a_changed_recording_is_not_accepted(tmp_path: Path) -> None:
    """The foil of the test above: one id swapped in a request is seen, at its line."""
    text = (GOLDEN / "window" / "01-one-followup.jsonl").read_text(encoding="utf-8")
    changed = tmp_path / "changed.jsonl"
    changed.write_text(text.replace('"messages":[{"role":"user","id":"a"}]', '"messages":[]'), encoding="utf-8")

    replayed = replay_recording(read_recording(changed))

    assert replayed.line == 4
    assert replayed.difference is not None
    assert "W-REQ-1" in replayed.difference.rules


def test_the_document_lists_each_file_with_its_verdict() -> None:
    paths = [GOLDEN / "window" / "01-one-followup.jsonl", GOLDEN / "window" / "27c-followup-during-flush.jsonl"]

    document = recorded_json([replay_recording(read_recording(path)) for path in paths])

    assert document["schema"] == "turnproof/recorded/1"
    assert [entry["verdict"] for entry in document["files"]] == ["accepted", "differs"]
    assert document["files"][1]["rules"][0] == "W-TURN-4"
    assert document["verdict"] == "differs"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no exchange"),
        (b"not json\n", ":1: not an exchange"),
        (b'{"request": 1}\n', ":1: not an exchange"),
        (b"\xff\xfe\n", "can't be read"),
        (b'{"request":{"method":"fly"},"observation":{}}\n', ":1: not an exchange"),
    ],
)
def test_what_is_no_recording_is_said_with_its_place(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)

    with pytest.raises(RecordingError, match=complaint):
        read_recording(path)
