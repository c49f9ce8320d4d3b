"""The packages keep to their rooms: imports point one way, and each module says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {
    "turnproof_model": ROOT / "model" / "turnproof_model",
    "turnproof_reference": ROOT / "reference" / "turnproof_reference",
    "turnproof": ROOT / "conformance" / "turnproof",
    "turnproof_reports": ROOT / "reports" / "turnproof_reports",
}
ALLOWED = {
    "turnproof_model": {"turnproof_model"},
    "turnproof_reference": {"turnproof_reference"},
    "turnproof": {"turnproof", "turnproof_model"},
    "turnproof_reports": {"turnproof_reports", "turnproof", "turnproof_model"},
}
JOINT = ROOMS["turnproof"] / "cli"
"""The command line joins the rooms, and may know the renderers."""


def modules() -> Iterator[tuple[str, Path]]:
    for room, folder in ROOMS.items():
        for path in sorted(folder.rglob("*.py")):
            yield room, path


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return names & ROOMS.keys()


@pytest.mark.parametrize(("room", "path"), list(modules()), ids=lambda item: getattr(item, "stem", item))
def test_imports_point_one_way(room: str, path: Path) -> None:
    allowed = ALLOWED[room] | ({"turnproof_reports"} if JOINT in path.parents else set())

    assert imported(path) <= allowed


@pytest.mark.parametrize(("room", "path"), list(modules()), ids=lambda item: getattr(item, "stem", item))
def test_each_module_says_what_it_is(room: str, path: Path) -> None:
    assert room
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} has no docstring"
