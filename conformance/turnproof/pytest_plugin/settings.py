"""
Read how a candidate is to be judged: from the configuration file, and from the marker ``turnproof``, which goes first.
"""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from turnproof.candidate import Candidate, ChildCandidate
from turnproof.expectations import Expectation, ExpectationsError, read_expectations
from turnproof.faults import UsageError
from turnproof.naming import find_candidate
from turnproof.races import races
from turnproof_model import catalogue
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Contract

COMMANDS = 20_000
MARKED = ("contract", "commands", "seed", "shards", "expect")
"""The settings that the marker takes."""

DRIVER = "driver"
"""The name of the test that fails when the driver breaks down."""

RACE = "race:"
"""What the name of a race is preceded by."""


@frozen
class Settings:
    """
    Hold how one candidate is judged.

    ``shards`` is in how many parts the search is cut; ``expect`` is the file of expected failures.
    """

    contract: Contract
    commands: int
    seed: int
    shards: int
    expect: Path | None
    capsules: Path

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the tests: the driver, the rules of the contract and of ``core``, and the races."""
        listed = (*catalogue.rules(self.contract), *catalogue.rules("core"))
        raced = (RACE + race.name for race in races(self.contract))
        return (DRIVER, *(rule.id for rule in listed), *raced)

    def expectations(self) -> tuple[Expectation, ...]:
        """
        Read the expected failures.

        Raises:
            UsageError: the file can't be read.
        """
        if self.expect is None:
            return ()
        try:
            return read_expectations(self.expect)
        except ExpectationsError as error:
            raise pytest.UsageError(str(error)) from error


def settings_of(config: pytest.Config, node: pytest.Item | pytest.Collector) -> Settings:
    """
    Read the settings for a test or a collector.

    Raises:
        UsageError: a setting is absent or isn't what it must be.
    """
    marked: dict[str, Any] = {}
    for marker in node.iter_markers("turnproof"):  # the closest first
        strange = [*marker.args, *sorted(marker.kwargs.keys() - MARKED)]
        if strange:
            raise pytest.UsageError(
                f"{node.nodeid}: marker 'turnproof' takes {', '.join(MARKED)} by name (got {strange[0]!r})"
            )
        marked = {**marker.kwargs, **marked}
    contract = marked.get("contract") or config.getini("turnproof_contract")
    if contract not in CONTRACTS:
        raise pytest.UsageError(
            f"{node.nodeid}: turnproof needs the contract to judge by: set turnproof_contract in the configuration "
            f"file, or mark the module with pytest.mark.turnproof(contract=…), to one of {', '.join(CONTRACTS)} "
            f"(got {contract!r})"
        )
    expect = marked.get("expect") or config.getini("turnproof_expect")
    return Settings(
        contract,
        _commands(config, marked),
        _seed(config, marked),
        _whole("turnproof_shards", marked.get("shards") or config.getini("turnproof_shards") or 1),
        config.rootpath / expect if expect else None,
        config.rootpath / (config.getini("turnproof_capsules") or ".turnproof/capsules"),
    )


def declared_candidate(config: pytest.Config, contract: Contract) -> Candidate:
    """
    Make the candidate that the configuration file declares.

    Raises:
        UsageError: it names nobody, or names two.
    """
    agent, command = config.getini("turnproof_agent"), config.getini("turnproof_command")
    if agent and command:
        raise pytest.UsageError("name either turnproof_agent or turnproof_command, not both")
    if command:
        return ChildCandidate(tuple(shlex.split(command)), cwd=str(config.rootpath))
    try:
        return find_candidate(agent, (), contract)
    except UsageError as error:
        raise pytest.UsageError(f"turnproof_agent: {error}") from error


def _commands(config: pytest.Config, marked: dict[str, Any]) -> int:
    given = config.getoption("--turnproof-commands")
    found = given or marked.get("commands") or config.getini("turnproof_commands") or COMMANDS
    return _whole("turnproof_commands", found)


def _seed(config: pytest.Config, marked: dict[str, Any]) -> int:
    """Take the seed of the command line as Hypothesis does, any text; else the project's."""
    given = config.getoption("--hypothesis-seed", default=None)
    if given is None:
        return _whole("turnproof_seed", marked.get("seed") or config.getini("turnproof_seed") or 1)
    text = str(given)
    return int(text) if text.isdecimal() else int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def _whole(name: str, value: Any) -> int:
    if not str(value).isdecimal() or int(value) < 1:
        raise pytest.UsageError(f"{name} is a whole number above zero (got {value!r})")
    return int(value)
