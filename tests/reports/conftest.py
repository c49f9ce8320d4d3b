"""What the tests of reports share: one real run with failures, and the programs that judge the files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.results import RunResult
from turnproof.runner import run

HERE = Path(__file__).parent


def program(name: str, package: str) -> str:
    """Find a program of the system; the tests of what people see need it."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"these tests need {name!r}: install the Debian package {package}")
    return found


@pytest.fixture(scope="session")
def broken_run(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A run of a reference agent with a deliberate fault: several failures, kept as capsules."""
    folder = tmp_path_factory.mktemp("capsules")
    candidate = InProcessCandidate(REFERENCE_DRIVER, {"contract": "window", "fault": "silent-drop"})
    return run(candidate, commands=500, seed=2, capsules=folder)


@pytest.fixture(scope="session")
def validate_html(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """The Nu HTML checker; it says nothing about a valid page."""
    java = program("java", "default-jre-headless")
    home = tmp_path_factory.mktemp("validator")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "validator" / name, home)
    npm = program("npm", "npm")
    subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=home, check=True, capture_output=True
    )
    (jar,) = home.glob("node_modules/vnu-jar/build/dist/vnu.jar")

    def validate(page: Path) -> str:
        found = subprocess.run([java, "-jar", jar, "--errors-only", page], capture_output=True, text=True, check=False)
        return found.stderr

    return validate


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium, the system's own."""
    path = program("chromium", "chromium")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield chromium
        chromium.close()
