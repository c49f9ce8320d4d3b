"""
Find the candidate that a name or a command line means.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from turnproof import agents
from turnproof.candidate import REFERENCE_DRIVER, Candidate, ChildCandidate, InProcessCandidate
from turnproof.faults import UsageError
from turnproof.node import SetupError

REFERENCE = "reference"


def find_candidate(
    name: str, command: Sequence[str] = (), contract: str | None = None, fault: str | None = None
) -> Candidate:
    """
    Find a candidate.

    Args:
        name: a bundled agent; ``module:factory`` of a Python driver, in the working directory too; or any name where a
            command line is given.
        command: the driver's command line, if there is one.
        contract: which of its contracts a bundled agent is to serve.
        fault: a deliberate defect of the reference agent.

    Raises:
        UsageError: nobody of that name, it isn't installed, or the words don't go together.
    """
    if command:
        return ChildCandidate(tuple(command))
    if fault is not None and name != REFERENCE:
        raise UsageError(f"a deliberate fault goes with the agent 'reference' (got {name!r})")
    if name == REFERENCE:
        keywords = {"contract": contract or "window"} | ({"fault": fault} if fault else {})
        return InProcessCandidate(REFERENCE_DRIVER, keywords)
    if ":" in name:
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # where people keep the module that they name
        return InProcessCandidate(name, {})
    try:
        return ChildCandidate(agents.command(name, contract))
    except SetupError as error:
        raise UsageError(str(error)) from error


def candidate_called(words: str, contract: str | None = None) -> Candidate:
    """
    Find the candidate that a finished run was called by: a name, its options, and a command line behind ``--``.

    Raises:
        UsageError: nobody is called that.
    """
    head, dashes, command = words.partition(" -- ")
    name, *options = shlex.split(head)
    given = dict(zip(options[::2], options[1::2], strict=False))
    chosen = given.get("--contract", contract)
    return find_candidate(name, tuple(shlex.split(command)) if dashes else (), chosen, given.get("--fault"))
