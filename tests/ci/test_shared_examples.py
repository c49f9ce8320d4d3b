"""
Jobs share what they found: Hypothesis' example database in a folder, and in Redis, set up as the page on CI says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NotListeningError

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
MACHINE = """
from functools import partial
from hypothesis import HealthCheck, Phase, settings
from turnproof.testing import AgentMachine, InProcessCandidate
from turnproof_reference.driver import Driver

class Mine(AgentMachine):
    candidate = InProcessCandidate(partial(Driver, "window", fault="silent-drop"))

TestMine = Mine.TestCase
TestMine.settings = settings(
    max_examples={examples}, stateful_step_count=20, phases=[{phases}], suppress_health_check=list(HealthCheck)
)
"""
pytestmark = pytest.mark.slow


def conftest() -> str:
    """The file that the page shows."""
    return re.search(
        r"^% file conftest.py\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )[1]


def job(folder: Path, phases: str, **variables: str) -> int:
    """Run one job in a folder of its own; give its status."""
    folder.mkdir()
    (folder / "conftest.py").write_text(conftest())
    (folder / "test_mine.py").write_text(MACHINE.format(examples=200, phases=phases))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=folder,
        env={**os.environ, "CI": "true", **variables},
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """A Redis of this test alone, behind a socket file."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.fail("this test needs 'redis-server': install the Debian package redis-server")
    socket = tmp_path / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"unix://{socket}"
    try:
        wait_for(url, server)
        yield url
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str, server: subprocess.Popen) -> None:
    """Ask until it answers; a server that ended instead is an error."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        try:
            Redis.from_url(url).ping()
        except (NotListeningError, FileNotFoundError):
            time.sleep(0.05)
        else:
            return
    pytest.fail("redis-server did not answer")


REUSE, SEARCH = "Phase.reuse", "Phase.reuse, Phase.generate, Phase.shrink"


def test_a_job_without_shared_examples_has_nothing_to_reuse(tmp_path: Path) -> None:
    assert job(tmp_path / "alone", REUSE) == 0


def test_a_job_tries_first_what_another_found_in_a_shared_folder(tmp_path: Path) -> None:
    found = job(tmp_path / "one", SEARCH)
    reused = job(tmp_path / "other", REUSE, SHARED_EXAMPLES=str(tmp_path / "one" / ".hypothesis" / "examples"))

    assert (found, reused) == (1, 1)


def test_a_job_tries_first_what_another_found_in_redis(tmp_path: Path, redis: str) -> None:
    found = job(tmp_path / "one", SEARCH, REDIS_URL=redis)
    reused = job(tmp_path / "other", REUSE, REDIS_URL=redis)

    assert (found, reused) == (1, 1)
