"""
Name a candidate before anything of it runs: a command line, or a factory in this process.

A candidate is a value. Each ``connect`` makes a client of its own, which starts its driver at ``initialize``.
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from turnproof.child import ChildClient
from turnproof.client import Client
from turnproof.faults import UsageError
from turnproof.inprocess import Factory, InProcessClient
from turnproof.limits import DEFAULT_LIMITS, Limits

REFERENCE_DRIVER = "turnproof_reference.driver:Driver"
"""The reference agents' driver, met by name only."""


class Candidate(Protocol):
    """Be something that a client can be made for."""

    def connect(self, limits: Limits = DEFAULT_LIMITS) -> Client:
        """Make a client; its driver starts at ``initialize``."""


def _command_line(argv: Sequence[str]) -> tuple[str, ...]:
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv):
        raise UsageError(f"a command line is a list of words, the program first (got {argv!r})")
    return tuple(argv)


@frozen
class ChildCandidate:
    """
    Be a driver that runs as a child process.

    Args:
        argv: command line; the program is looked up in ``PATH``.
        cwd: where it runs; ``None`` is here.
        env: variables set on top of the inherited ones.
    """

    argv: tuple[str, ...] = field(converter=_command_line)
    cwd: str | None = None
    env: Mapping[str, str] = field(factory=dict, hash=False)

    def connect(self, limits: Limits = DEFAULT_LIMITS) -> ChildClient:
        """Make a client; its driver starts at ``initialize``."""
        return ChildClient(self.argv, self.cwd, self.env, limits)

    def __str__(self) -> str:
        return shlex.join(self.argv)


@frozen
class InProcessCandidate:
    """
    Be a Python driver that runs in this process.

    Args:
        factory: a callable, or where to find it: ``package.module:name``.
        kwargs: given to the factory besides ``loop``.
    """

    factory: str | Callable[..., Any]
    kwargs: Mapping[str, Any] = field(factory=dict, hash=False)

    def connect(self, limits: Limits = DEFAULT_LIMITS) -> InProcessClient:
        """
        Make a client; its driver starts at ``initialize``.

        Raises:
            UsageError: nothing is found under the factory's name.
        """
        return InProcessClient(_find(self.factory), self.kwargs, limits)

    def __str__(self) -> str:
        return (
            self.factory if isinstance(self.factory, str) else f"{self.factory.__module__}:{self.factory.__qualname__}"
        )


def called_by(candidate: Candidate) -> str:
    """Say what a command line calls a candidate by; ``AGENT`` where no command line can name it."""
    match candidate:
        case ChildCandidate(argv):
            return f"AGENT -- {shlex.join(argv)}"
        case InProcessCandidate(factory, kwargs) if factory == REFERENCE_DRIVER:
            return " ".join(["reference", *(f"--{name} {value}" for name, value in kwargs.items())])
        case InProcessCandidate(factory=str(name), kwargs=kwargs) if not kwargs:
            return name
        case _:
            return "AGENT"


def _find(factory: str | Callable[..., Any]) -> Factory:
    """Look a factory up; importing its module is the first code of the candidate that runs."""
    if not isinstance(factory, str):
        return factory
    module, colon, name = factory.partition(":")
    if not colon:
        raise UsageError(f"a factory is named 'package.module:name' (got {factory!r})")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"factory {factory!r} can't be found ({error})") from error
    return found  # type: ignore[no-any-return]  # what was named must be a factory; calling it tells
