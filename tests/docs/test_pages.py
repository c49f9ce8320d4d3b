"""
The pages: they build without a warning, and whatever they say can be run is run, in the order of the page.

A page's blocks are marked by comments: ``% runs`` (with ``status N``) before a console block, ``% shows`` before lines
that its output has, in order (``…`` stands for any text), ``% file NAME`` before the content of a file, ``% brings
NAME`` where a file beside the page is used, ``% in NAME`` to work in a copy of that example.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    DOCS / "first-run.md",
    DOCS / "driver.md",
    DOCS / "logs.md",
    DOCS / "explore.md",
    DOCS / "coverage.md",
    DOCS / "counterexample.md",
    DOCS / "ci.md",
    DOCS / "python.md",
]

pytestmark = pytest.mark.slow


@frozen
class Block:
    """One marked block: what is to be done with it, and its text."""

    mark: str
    words: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """List the marked blocks and the changes of folder of a page, in order."""
    pattern = r"^% (runs|shows|file|brings|in)\b ?([^\n]*)\n(?:```[^\n]*\n(.*?)^```)?"
    for found in re.finditer(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2], found[3] or "")


def commands(text: str) -> list[str]:
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def run(command: str, folder: Path) -> tuple[int, str]:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def shown(line: str) -> re.Pattern[str]:
    """Read a line of a ``shows`` block: ``…`` is any text, and white space isn't counted."""
    words = [re.escape(" ".join(part.split())) for part in line.split("…")]
    return re.compile(r".*".join(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_can_be_run_runs_and_shows_what_it_says(page: Path, tmp_path: Path) -> None:
    folder, output, ran = tmp_path, "", 0
    for block in blocks(page):
        match block.mark:
            case "in":
                folder = tmp_path / block.words.split()[0]
                if not folder.exists():
                    shutil.copytree(ROOT / "examples" / folder.name, folder)
                for made in tmp_path.glob("*.*"):
                    if made.is_file():
                        shutil.copy(made, folder)
            case "file":
                (tmp_path / block.words).write_text(block.text, encoding="utf-8")
            case "brings":
                shutil.copy(DOCS / block.words, tmp_path)
            case "runs":
                output = ""
                *sound, last = commands(block.text)
                expected = [*((each, 0) for each in sound), (last, int(block.words.removeprefix("status ") or 0))]
                for command, status in expected:
                    code, said = run(command, folder)
                    output += said
                    assert (command, code) == (command, status), said
                    ran += 1
                folder = tmp_path
            case "shows":
                rest = [" ".join(line.split()) for line in output.splitlines()]
                for line in block.text.splitlines():
                    at = next((n for n, each in enumerate(rest) if shown(line).match(each)), None)
                    assert at is not None, f"{line!r} is not in:\n{output}"
                    rest = rest[at + 1 :]
    assert ran > 0


def test_every_page_that_has_something_to_run_is_run() -> None:
    marked = {
        page for page in DOCS.rglob("*.md") if re.search(r"^% runs", page.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert marked == set(PAGES)


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, tmp_path / "html"]

    built = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    assert 'id="w-adm-7"' in (tmp_path / "html" / "rules.html").read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "html" / "_generated" / "window.html").read_text(encoding="utf-8")
