"""
Turn a candidate into pytest tests, one for each rule of its contract and one for each race.

Declare the candidate in the configuration file::

    [tool.pytest.ini_options]
    turnproof_command = "node my-driver.mjs"
    turnproof_contract = "claim"

and it is collected with that file (``pyproject.toml::turnproof[C-SEND-1]``); or write a fixture named
``turnproof_candidate`` in a test module or class, and the tests stand beside it. One search serves all tests of a
candidate, in all workers of ``pytest-xdist``. A rule or race that was not exercised, or isn't applicable, is skipped,
never passed; an expected failure is xfailed; an expectation without a failure fails.

This module is loaded with every run of pytest where turnproof is installed, so it imports nothing of it at the top.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from turnproof.pytest_plugin.checking import RuleCheck

FIXTURE = "turnproof_candidate"
SHARED = "turnproof_shared"

INI = {
    "turnproof_agent": "a bundled agent, or module:factory of a Python driver",
    "turnproof_command": "the command line that starts a driver, relative to the root directory",
    "turnproof_contract": "the contract that the candidate claims to keep: window or claim",
    "turnproof_commands": "how many commands the search sends (default 20000)",
    "turnproof_seed": "where all choices come from (default 1); --hypothesis-seed goes before it",
    "turnproof_shards": "in how many parts the search is cut, which workers share (default 1)",
    "turnproof_expect": "a TOML file of expected failures",
    "turnproof_capsules": "the folder that failures are kept in (default .turnproof/capsules)",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of the configuration file and of the command line."""
    for name, words in INI.items():
        parser.addini(name, words, default="")
    group = parser.getgroup("turnproof", "promises of an LLM Agent about messages")
    group.addoption("--turnproof-commands", type=int, metavar="N", help=INI["turnproof_commands"])
    group.addoption("--turnproof-results", metavar="DIR", help="keep each finished run as DIR/NAME.json")
    group.addoption(
        "--turnproof-update", action="store_true", help="rewrite the file of expected failures, keeping its comments"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and collect the configuration file where it declares a candidate."""
    config.addinivalue_line(
        "markers",
        "turnproof(contract, commands, seed, shards, expect): settings of the candidate in this module or class",
    )
    if _declared(config) and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args.append(str(config.inipath))


def _declared(config: pytest.Config) -> bool:
    """Tell whether the configuration file declares a candidate."""
    return bool(config.inipath and (config.getini("turnproof_agent") or config.getini("turnproof_command")))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where runs are shared."""
    from turnproof.pytest_plugin.sharing import shared_folder  # noqa: PLC0415  # see the head of this module

    node.workerinput[SHARED] = str(shared_folder(node.config))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the candidate of the configuration file."""
    if file_path != parent.config.inipath or not _declared(parent.config):
        return None
    from turnproof.pytest_plugin.items import CandidateFile  # noqa: PLC0415  # see the head of this module

    collector: pytest.Collector = CandidateFile.from_parent(parent, path=file_path)
    return collector


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str) -> Any:
    """Collect the tests of a candidate that a fixture makes, where the fixture stands."""
    if name != FIXTURE:
        return None
    from turnproof.pytest_plugin.items import collect_beside  # noqa: PLC0415  # see the head of this module

    return collect_beside(collector)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give one test for each rule and race."""
    if "turnproof_check" not in metafunc.fixturenames:
        return
    from turnproof.pytest_plugin.settings import settings_of  # noqa: PLC0415  # see the head of this module

    names = settings_of(metafunc.config, metafunc.definition).checks
    metafunc.parametrize("turnproof_check", names, ids=list(names), indirect=True)


@pytest.fixture
def turnproof_check(request: pytest.FixtureRequest) -> RuleCheck:
    """Run the search for the module's candidate, once, and offer the check of one rule or race."""
    from turnproof.pytest_plugin.checking import RuleCheck  # noqa: PLC0415  # see the head of this module
    from turnproof.pytest_plugin.settings import settings_of  # noqa: PLC0415
    from turnproof.pytest_plugin.sharing import assessed  # noqa: PLC0415

    settings = settings_of(request.config, request.node)
    candidate = request.getfixturevalue(FIXTURE)
    where = request.node.nodeid.rpartition("::")[0]
    return RuleCheck(assessed(request.config, candidate, settings, where), request.param)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what each run of this session found, and name what is flaky."""
    if SHARED_FOLDER not in config.stash:
        return
    from turnproof.pytest_plugin.summary import summarize  # noqa: PLC0415  # see the head of this module

    summarize(terminalreporter, config, config.stash[SHARED_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop what workers shared."""
    if SHARED_FOLDER in config.stash:
        from turnproof.pytest_plugin.sharing import drop_shared  # noqa: PLC0415  # see the head of this module

        drop_shared(config)


SHARED_FOLDER: pytest.StashKey[Path] = pytest.StashKey()
"""Where the runs of this session are, once there is one."""
