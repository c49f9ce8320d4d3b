"""
Hold what several commands share: finding a candidate, writing JSON, saying what is wrong with the input.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from turnproof.candidate import Candidate
from turnproof.faults import UsageError
from turnproof.naming import REFERENCE, find_candidate
from turnproof_model.contracts import CONTRACTS

Fn = TypeVar("Fn", bound=Callable[..., Any])

contract_option = click.option("--contract", type=click.Choice(CONTRACTS), help="The contract to judge by.")
json_option = click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON; '-' is stdout.")
fault_option = click.option("--fault", help="Run the reference agent with this deliberate defect.")
expect_option = click.option(
    "--expect", type=click.Path(path_type=Path), metavar="FILE", help="A file of expected failures (TOML)."
)


SEEDS = re.compile(r"(\d+)(?:\.\.(\d+))?")
"""How seeds are given: one, or the first and the last of several."""

DEFAULT_SEEDS = "1..10"
"""The seeds of whatever searches from several, unless told."""


class InputError(click.ClickException):
    """Say what is wrong with the command line or a file; ends with status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print one line."""
        click.echo(f"turnproof: {self.format_message()}", err=True, file=file)


def seeds_in(words: str) -> range:
    """
    Read which seeds are meant.

    Raises:
        InputError: it is neither a number nor ``first..last``.
    """
    found = SEEDS.fullmatch(words)
    if found is None:
        raise InputError(f"--seeds takes a number, or the first and the last as in 1..10 (got {words!r})")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise InputError(f"--seeds must end where it begins or later (got {words!r})")
    return range(first, last + 1)


def candidate(name: str, command: tuple[str, ...], contract: str | None, fault: str | None = None) -> Candidate:
    """
    Find the candidate that the command line means.

    Args:
        name: a bundled agent, ``module:factory`` of a Python driver, or any name before ``-- CMD``.
        command: the driver's command line, if given.
        contract: which of its contracts a bundled agent is to serve.
        fault: a deliberate defect of the reference agent.

    Raises:
        InputError: nobody of that name, or it isn't installed.
    """
    try:
        return find_candidate(name, command, contract, fault)
    except UsageError as error:
        raise InputError(str(error)) from error


def called(name: str, command: tuple[str, ...], contract: str | None, fault: str | None) -> str:
    """Repeat the words that ``candidate`` was found by, for whoever runs it again."""
    if command:
        return f"{name} -- {shlex.join(command)}"
    options = [f"--contract {contract}"] if name == REFERENCE and contract else []
    return " ".join([name, *options, *([f"--fault {fault}"] if fault else [])])


def write_json(value: Any, target: str | None) -> None:
    """
    Write a result as JSON.

    Raises:
        InputError: the file can't be written.
    """
    if target is not None:
        write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", target)


def write_pieces(pieces: Iterable[str], target: str) -> None:
    """
    Write a long document piece by piece; a file has its name only once it is whole.

    Args:
        pieces: that make up the document.
        target: the file; one that can't be finished is left as it was.

    Raises:
        InputError: the file can't be written.
    """
    path = Path(target).resolve()
    try:
        if path.exists() and not path.is_file():  # a pipe or a device has no place to be moved to
            with path.open("w", encoding="utf-8") as device:
                device.writelines(pieces)
            return
        beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.writelines(pieces)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: can't be written: {error.strerror or error}") from error


def write_text(text: str, target: str) -> None:
    """
    Write a document to a file, which has its name only once it is whole, or to stdout for ``-``.

    Raises:
        InputError: the file can't be written.
    """
    if target == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_pieces((text,), target)
