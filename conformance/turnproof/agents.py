"""
Know the bundled agents: which there are, whether they can run here, and how each is started.

An agent in Python runs as it is. An agent in Node needs its locked packages first, which :func:`install` brings. In a
checkout they go beside the driver in ``conformance/drivers``; an installed wheel may lie where nobody can write, so
there the driver is copied to a folder of the user whose name changes with the driver's content, and never updated in
place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

from attrs import frozen

from turnproof import npm
from turnproof.node import SetupError, find_node

_HERE: Final = Path(__file__).resolve().parent
_CHECKOUT: Final = _HERE.parent / "drivers"
_PACKAGED: Final = _HERE / "_drivers"


@frozen
class _NodeAgent:
    """Tell what is known about an agent in Node before it runs."""

    contract: str
    package: str
    entry: str = "driver.mjs"


_REFERENCE: Final = "reference"
_REFERENCE_CONTRACTS: Final = ("window", "claim")
_NODE_AGENTS: Final[Mapping[str, _NodeAgent]] = {"dsh": _NodeAgent("claim", "@deepseek-ai/dsh-agent-loop")}


class UnknownAgentError(SetupError):
    """
    Say that no bundled agent has this name or keeps this contract.

    Args:
        message: subject, what must hold, what came.
    """


class NotInstalledError(SetupError):
    """
    Say that an agent's packages are absent or broken.

    Args:
        name: of the agent.
        reason: what is wrong with them.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"agent {name!r} is {reason}; run: turnproof agents install {name}")
        self.name = name
        self.reason = reason


@frozen
class AgentInfo:
    """
    Describe one bundled agent.

    ``version`` is the agent's own, ``commands`` starts it by contract, and ``problem`` says what keeps it from
    starting (``None`` when it is installed).
    """

    name: str
    language: str
    version: str
    commands: Mapping[str, tuple[str, ...]]
    problem: str | None = None

    @property
    def contracts(self) -> tuple[str, ...]:
        """Name the contracts that it claims to keep."""
        return tuple(self.commands)

    @property
    def installed(self) -> bool:
        """Tell whether it can be started."""
        return self.problem is None


def list_agents() -> list[AgentInfo]:
    """
    List the bundled agents, installed or not.

    Returns:
        the reference agents first, then the others by name.
    """
    return [agent(name) for name in (_REFERENCE, *sorted(_NODE_AGENTS))]


def agent(name: str) -> AgentInfo:
    """
    Look one bundled agent up.

    Args:
        name: as listed.

    Raises:
        UnknownAgentError: there is none of that name.
    """
    if name == _REFERENCE:
        return _reference()
    if name in _NODE_AGENTS:
        return _node_agent(name, _NODE_AGENTS[name])
    known = ", ".join((_REFERENCE, *sorted(_NODE_AGENTS)))
    raise UnknownAgentError(f"a bundled agent must be one of {known} (got {name!r})")


def command(name: str, contract: str | None = None) -> tuple[str, ...]:
    """
    Give the command line that starts an agent's driver.

    Args:
        name: as listed.
        contract: to be kept; may be left out where the agent keeps only one.

    Raises:
        UnknownAgentError: no such agent, or it does not keep that contract.
        NotInstalledError: its packages are absent or broken.
        NodeMissingError: it needs a Node and none is new enough.
    """
    info = agent(name)
    chosen = info.contracts[0] if contract is None and len(info.contracts) == 1 else contract
    if chosen not in info.contracts:
        raise UnknownAgentError(
            f"the contract of agent {name!r} must be one of {', '.join(info.contracts)} (got {chosen!r})"
        )
    if info.problem is not None:
        raise NotInstalledError(name, info.problem)
    if name in _NODE_AGENTS:
        find_node()
    return info.commands[chosen]


def install(name: str) -> AgentInfo:
    """
    Make an agent ready to start; do nothing when it is.

    Args:
        name: as listed.

    Raises:
        UnknownAgentError: there is none of that name.
        NodeMissingError: it needs a Node and none is new enough.
        InstallError: its packages could not be brought; nothing was changed.
    """
    info = agent(name)
    if name in _NODE_AGENTS and info.problem is not None:
        home = _home(name)
        _place(_source(name), home)
        npm.install(home, find_node())
    return agent(name)


def data_home() -> Path:
    """Give the user's folder for installed agents: ``TURNPROOF_HOME``, or the platform's place for such data."""
    if override := os.environ.get("TURNPROOF_HOME"):
        return Path(override)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "turnproof"


def _reference() -> AgentInfo:
    start = (sys.executable, "-m", "turnproof_reference", "--contract")
    return AgentInfo(
        _REFERENCE, "python", version("turnproof"), {contract: (*start, contract) for contract in _REFERENCE_CONTRACTS}
    )


def _node_agent(name: str, known: _NodeAgent) -> AgentInfo:
    home = _home(name)
    try:
        node = str(find_node().path)
    except SetupError:
        node = "node"
    return AgentInfo(
        name,
        "javascript",
        npm.locked_version(_source(name), known.package),
        {known.contract: (node, str(home / known.entry))},
        npm.problem(home) if home.is_dir() else "not installed",
    )


def _source(name: str) -> Path:
    """Find a driver's own files: in the checkout, or packed into the wheel."""
    checkout = _CHECKOUT / name
    return checkout if checkout.is_dir() else _PACKAGED / name


def _home(name: str) -> Path:
    """Tell from which folder a driver runs."""
    source = _source(name)
    return source if source.parent == _CHECKOUT else data_home() / "agents" / f"{name}-{_digest(source)}"


def _digest(source: Path) -> str:
    """Condense a driver's files, so that another driver gets another folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(source).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def _place(source: Path, home: Path) -> None:
    """Copy a driver's files to where it runs from, all or nothing."""
    if home == source or home.is_dir():
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=home.parent) as staging:
        copy = Path(shutil.copytree(source, Path(staging) / home.name))
        try:
            copy.rename(home)
        except OSError:
            if not home.is_dir():  # else another process was faster
                raise
