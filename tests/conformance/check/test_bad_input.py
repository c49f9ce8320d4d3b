"""Whatever a file holds, a check says what is wrong with it and goes on with the next."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest
import zstandard
from conformance.check.logs import TURN, log, text

from turnproof.check import check_file, check_files
from turnproof.check.lines import LONGEST_LINE

GOOD = text(log("claim", TURN))
HEADER = GOOD.splitlines(keepends=True)[0]

BAD: dict[str, tuple[bytes, int, str]] = {
    "not JSON": (b"hello\n", 1, "one JSON object"),
    "a list": (b"[1]\n", 1, "one JSON object"),
    "not JSON further on": (HEADER + b'{"type": turn/start}\n', 2, "one JSON object"),
    "a line that is cut off": (GOOD[:-20], 9, "cut off"),
    "a skipped line that is cut off": (HEADER + b'{"type":"assistant/chunk","data":{"turn"', 2, "cut off"),
    "NUL bytes": (HEADER + b"\0\0\0\n", 2, "one JSON object"),
    "NUL bytes in a skipped line": (HEADER + b'{"type":"assistant/chunk","x":"\0"}\n', 2, "one JSON object"),
    "no UTF-8": (HEADER + b'{"type":"turn/start","data":{"turn":"\xff"}}\n', 2, "UTF-8 (byte 38 isn't)"),
    "no UTF-8 in a skipped line": (HEADER + b'{"type":"assistant/chunk","x":"\xff"}\n', 2, "UTF-8"),
    "a number that is text": (HEADER + b'{"type":"turn/start","data":{"turn":"one"}}\n', 2, "'turn' is a whole number"),
    "a number that is true": (HEADER + b'{"type":"turn/start","data":{"turn":true}}\n', 2, "'turn' is a whole number"),
    "data that is a list": (HEADER + b'{"type":"turn/start","data":[]}\n', 2, "the 'data' of turn/start is an object"),
    "a seq that is text": (
        HEADER + b'{"seq":"0","type":"turn/start","data":{"turn":1}}\n',
        2,
        "the 'seq' of turn/start",
    ),
    "content of another form": (HEADER + b'{"type":"assistant/message","data":{"content":[1]}}\n', 2, "another form"),
    "a result without a block": (
        HEADER + b'{"type":"tool/result","data":{"message":{"content":[]}}}\n',
        2,
        "another form",
    ),
    "an unknown list": (HEADER + b'{"type":"agent/inbox/spliced","data":{"target":"x","start":0}}\n', 2, "'target' is"),
    "no type": (HEADER + b'{"seq":0}\n', 2, "an event has a 'type'"),
    "an unknown version of a log": (b'{"type":"session","id":"s","version":7}\n', 1, "version 0 or 1 (got 7)"),
    "an unknown version of a trace": (
        b'{"trace":2,"contract":"core","records":[]}\n',
        1,
        "a trace is of version 1 (got 2)",
    ),
    "an unknown version of a capsule": (b'{"schema":"turnproof/capsule/9"}\n', 1, "a capsule is of"),
    "a trace with an unknown kind": (b'{"trace":1,"contract":"core","records":["x"]}\n', 1, "one of"),
    "a record that lacks a field": (b'{"trace":1,"records":["log"]}\n{"type":"turn/start"}\n', 2, "turn"),
    "an exchange that is none": (b'{"request":{"method":"reset"},"observation":{}}\n', 1, "not an exchange"),
    "an empty file": (b"", 0, "empty file"),
    "blank lines": (b"\n\n", 0, "empty file"),
    "another document": (b'{\n "a": 1\n}\n', 3, "as one of the known formats"),
    "a document that breaks off": (b'{\n "a": \n', 3, "a document is JSON"),
    "deep nesting": (b"[" * 200_000 + b"\n", 1, "one JSON object"),
    "a broken gzip": (gzip.compress(GOOD)[:60], 0, "unpacked"),
    "a broken zstd": (zstandard.compress(GOOD)[:40] + b"\0\0", 0, "unpacked"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_content_is_told_with_its_line(tmp_path: Path, name: str) -> None:
    content, line, message = BAD[name]
    path = tmp_path / "log"
    path.write_bytes(content)

    result = check_file(str(path))

    assert result.verdict == "unreadable"
    assert result.unread is not None
    assert message in result.unread.message
    assert result.unread.line == line or name.startswith("a broken")


def test_a_line_without_end_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.write(HEADER)
        for _ in range(201):
            file.write(b" " * 1_000_000)

    result = check_file(str(path))

    assert result.unread is not None
    assert result.unread.message == f"a line holds at most {LONGEST_LINE} bytes (got more)"
    assert result.unread.line == 2


def test_a_directory_and_a_missing_file_are_told(tmp_path: Path) -> None:
    found = check_files([str(tmp_path), str(tmp_path / "none")]).files

    assert [item.unread.message for item in found if item.unread] == [
        "a log is a file (got a directory); name the files in it",
        "can't be read: no such file or directory",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD)
    path.chmod(0)

    result = check_file(str(path))

    assert result.unread is not None
    assert result.unread.message == "can't be read: permission denied"


def test_a_failing_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as without permission, for whoever may read everything."""
    path = tmp_path / "log"
    path.write_bytes(GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    assert check_file(str(path)).unread is not None


def test_a_pipe_that_nobody_writes_to_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    result = check_file(str(path))

    assert result.unread is not None
    assert result.unread.message == "a pipe must have a writer (got none)"


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    read, write = os.pipe()
    writer = threading.Thread(target=lambda: [os.write(write, GOOD), os.close(write)])
    writer.start()
    try:
        result = check_file(f"/dev/fd/{read}")
    finally:
        writer.join()
        os.close(read)

    assert (result.verdict, result.events) == ("conforms", 8)


def test_a_device_is_no_log() -> None:
    result = check_file("/dev/zero")

    assert result.unread is not None
    assert result.unread.message == "a log is a file or a pipe (got a device or a socket)"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_packed_logs_are_told_by_their_content(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(GOOD))  # type: ignore[operator]

    assert check_file(str(path)).verdict == "conforms"


def test_a_mark_of_byte_order_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD)

    assert check_file(str(path)).verdict == "conforms"


def test_what_could_be_read_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(text(log("claim", "+a turn turn")) + b"nonsense\n")

    result = check_file(str(path))

    assert result.verdict == "unreadable"
    assert {violation.rule for violation in result.violations} >= {"K-TURN", "C-TURN-1"}


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path, content in zip(paths, (GOOD, b"nonsense\n", GOOD), strict=True):
        path.write_bytes(content)

    result = check_files([str(path) for path in paths])

    assert [item.verdict for item in result.files] == ["conforms", "unreadable", "conforms"]
    assert (result.verdict, result.exit_code) == ("unreadable", 2)
    assert json.dumps(result.to_json())
