"""The reference agents as a process, and what they are made of."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from window_plays import message

import turnproof_reference

METHOD_NOT_FOUND, INVALID_REQUEST = -32601, -32600


def serve(lines: list[bytes], *arguments: str) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[bytes]]:
    done = subprocess.run(
        [sys.executable, "-m", "turnproof_reference", *arguments],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done


def request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def test_a_process_answers_line_by_line_and_ends_with_shutdown() -> None:
    odd = {"id": "x\u2028\ud800", "text": "ü", "source": {"kind": "user"}}
    answers, done = serve(
        [
            request(1, "initialize", protocol=1),
            b"",
            b'{"jsonrpc":"2.0","id":2,"method":"reset"}',
            b"{",
            b"[]",
            b'{"id":5,"method":"reset","params":[]}',
            request(6, "nonsense"),
            request(7, "followup", message=odd),
            request(8, "shutdown"),
            request(9, "inspect"),
        ],
        "--contract",
        "window",
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert [answer.get("error", {}).get("code") for answer in answers] == [
        None,
        None,
        -32700,
        INVALID_REQUEST,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
        None,
        None,
    ]
    assert answers[1]["result"]["events"] == []
    assert answers[6]["result"]["events"][0]["id"] == odd["id"]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 8, "result": {}}


def test_each_lane_has_an_agent_of_its_own_and_what_is_no_lane_is_refused() -> None:
    on = lambda lane, line: line[:-1] + b', "lane": ' + lane + b"}"  # noqa: E731  # said for this test only
    answers, done = serve(
        [
            request(1, "reset"),
            request(2, "followup", message=message("a")),
            on(b"3", request(3, "inspect")),
            on(b"3", request(4, "reset")),
            on(b"3", request(5, "inspect")),
            request(6, "inspect"),
            on(b"-1", request(7, "inspect")),
            on(b"true", request(8, "inspect")),
            request(9, "shutdown"),
        ],
        "--contract",
        "claim",
    )

    assert done.returncode == 0
    assert [answer["result"]["status"] for answer in answers if "gates" in answer.get("result", {})] == [
        *("idle", "running", "idle", "idle", "running"),
    ]
    assert [answer["id"] for answer in answers if answer.get("error", {}).get("code") == INVALID_REQUEST] == [
        *(3, None, None),
    ]


def test_a_process_ends_when_nobody_asks_any_more() -> None:
    answers, done = serve([request(1, "reset"), request(2, "followup", message=message("a"))], "--contract", "window")

    assert (len(answers), done.returncode, done.stderr) == (2, 0, b"")


def test_a_process_tells_which_faults_there_are() -> None:
    _, done = serve([], "--contract", "window", "--fault", "none")

    assert done.returncode == 2
    assert b"lost-wakeup" in done.stderr
    answers, done = serve([request(1, "initialize", protocol=1)], "--contract", "window", "--fault", "lost-wakeup")
    assert answers[0]["result"]["contract"] == "window"


def test_the_reference_imports_nothing_but_the_standard_library() -> None:
    """
    Its agreement with the specification means something only if it stands alone.
    """
    folder = Path(turnproof_reference.__file__).parent
    allowed = {*sys.stdlib_module_names, "turnproof_reference"}
    files = list(folder.rglob("*.py"))
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [str(node.module)]
            assert {name.partition(".")[0] for name in names} <= allowed, path
    assert len(files) > 20
