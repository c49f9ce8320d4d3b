"""
Install the locked packages of a Node driver, whole or not at all.

``npm ci`` runs in a staging folder; its packages are moved into place by one rename after they were compared with the
lock. A folder is complete when npm's own record (``node_modules/.package-lock.json``, which npm writes last) and each
package's manifest agree with the lock, so an install that broke half-way is noticed whoever made it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from turnproof.node import Node, SetupError

LOCK: Final = "package-lock.json"
_INPUTS: Final = ("package.json", LOCK, ".npmrc")
_RECORD: Final = ".package-lock.json"
_TAIL: Final = 20  # lines of npm's output that an error quotes


class InstallError(SetupError):
    """
    Say why the packages of a driver could not be installed.

    Args:
        folder: where they belong.
        reason: what went wrong.
    """

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"the packages of {folder.name!r} must install from its lock ({reason}); nothing was changed")
        self.folder = folder
        self.reason = reason


def locked_version(folder: Path, package: str) -> str:
    """
    Tell the version of a package that the lock pins.

    Args:
        folder: of the driver.
        package: its full name.
    """
    return str(_packages(folder / LOCK)[f"node_modules/{package}"]["version"])


def problem(folder: Path) -> str | None:
    """
    Tell what is missing or wrong in the installed packages of a driver.

    Args:
        folder: of the driver.

    Returns:
        one sentence, or ``None`` when they are complete.
    """
    modules = folder / "node_modules"
    if not modules.is_dir():
        return "not installed"
    try:
        recorded = _packages(modules / _RECORD)
    except (OSError, ValueError, KeyError):
        return "broken: npm did not finish"
    for path, entry in _packages(folder / LOCK).items():
        wanted = entry["version"]
        found = _version_of(folder / path)
        if path not in recorded or found != wanted:
            return f"broken: {path.removeprefix('node_modules/')} must be {wanted} (got {found or 'nothing'})"
    return None


def install(folder: Path, node: Node) -> None:
    """
    Bring the locked packages into a driver's folder; do nothing when they are there already.

    Args:
        folder: of the driver, which holds the lock.
        node: whose npm does it.

    Raises:
        InstallError: npm failed, or what it brought differs from the lock; the folder is as before.
    """
    if problem(folder) is None:
        return
    try:
        with tempfile.TemporaryDirectory(prefix=".staging-", dir=folder) as staging:
            _fill(Path(staging), folder, node)
            _swap(Path(staging), folder)
    except OSError as error:
        if problem(folder) is not None:  # else another process was faster
            raise InstallError(folder, str(error)) from error


def _fill(staging: Path, folder: Path, node: Node) -> None:
    if not node.npm:
        raise InstallError(folder, f"{node.path} comes without npm: install npm, or run: pip install 'turnproof[node]'")
    for name in _INPUTS:
        shutil.copyfile(folder / name, staging / name)
    command = [*node.npm, "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=staging, env=node.environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_TAIL:])
        raise InstallError(folder, f"npm ci ended with {done.returncode}:\n{tail}\n")
    wrong = problem(staging)
    if wrong is not None:
        raise InstallError(folder, f"npm ci brought something else; {wrong}")


def _swap(staging: Path, folder: Path) -> None:
    """Put the new packages where the old ones were; the old ones go with the staging folder."""
    modules = folder / "node_modules"
    if modules.exists():
        modules.rename(staging / "replaced")
    (staging / "node_modules").rename(modules)


def _packages(lock: Path) -> Mapping[str, Mapping[str, Any]]:
    """Read the packages of a lock by their path, without the entry of the driver itself."""
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    return {path: entry for path, entry in packages.items() if path}


def _version_of(package: Path) -> str | None:
    try:
        return str(json.loads((package / "package.json").read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None
