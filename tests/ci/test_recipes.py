"""
The recipes for other people's CI: what they run runs, and they leave the files that they promise.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
REPORTS = {"run.json", "report.html", "junit.xml", "turnproof.sarif", "badge.svg"}
pytestmark = pytest.mark.slow


def environment(**variables: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, **variables}


def recipe(name: str) -> dict:
    """A recipe that the page on CI shows."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return yaml.safe_load(re.search(rf"^% recipe {name}\n```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1])


# ------------------------------------------------------------------------------------------------ GitHub
def action() -> dict:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture
def step(tmp_path: Path):
    """Run the step of the action that judges, as GitHub would: inputs as variables, files for output and summary."""
    (run,) = [each for each in action()["runs"]["steps"] if each.get("id") == "run"]

    def perform(**inputs: str) -> tuple[int, Path]:
        values = {name: given["default"] for name, given in action()["inputs"].items() if "default" in given} | inputs
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
            for name, text in run["env"].items()
        }
        files = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output")}
        done = subprocess.run(
            ["bash", "-e", "-c", run["run"]],
            cwd=tmp_path,
            env=environment(GITHUB_ACTION_PATH=str(ROOT), **files, **variables),
            capture_output=True,
            check=False,
        )
        return done.returncode, tmp_path

    return perform


def test_the_action_leaves_all_reports_and_tells_its_status(step) -> None:
    status, folder = step(agent="reference", contract="window", commands="300")

    assert status == 0
    assert {path.name for path in (folder / "turnproof").iterdir()} == REPORTS
    assert (folder / "output").read_text() == "status=0\n"
    assert (folder / "summary").read_text().startswith("## ✅ turnproof")


def test_the_action_starts_a_command_with_its_quotes_and_fails_with_its_status(step) -> None:
    command = f"'{sys.executable}' -m turnproof_reference --contract claim --fault silent-discard"

    status, folder = step(agent="mine", command=command, commands="300")

    assert status == 1
    assert (folder / "output").read_text() == "status=1\n"
    assert any((folder / "turnproof" / "capsules").iterdir())


def test_the_action_puts_no_input_into_the_text_of_a_command() -> None:
    """What a pull request names must stay data."""
    assert [step["run"] for step in action()["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_the_recipe_for_github_gives_the_action_inputs_that_it_has() -> None:
    steps = recipe("github")["jobs"]["messages"]["steps"]

    (given,) = [step["with"] for step in steps if "turnproof@" in step["uses"]]
    assert given.keys() <= action()["inputs"].keys()
    assert {name for name, each in action()["inputs"].items() if each.get("required")} <= given.keys()


# ------------------------------------------------------------------------------------------------ GitLab, pre-commit
def gitlab_jobs() -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """The scripts of both GitLab recipes without their installation, with variables for a bundled agent."""
    job = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))[".turnproof"]
    variables = {**job["variables"], "TURNPROOF_OPTIONS": "--contract window --commands 200"}
    start = f"{sys.executable} -m turnproof_reference --contract window"
    yield "include", job["script"], {**variables, "TURNPROOF_COMMAND": start}
    yield "include-bundled", job["script"], {**variables, "TURNPROOF_AGENT": "reference"}


@pytest.mark.parametrize(("name", "script", "variables"), list(gitlab_jobs()), ids=lambda each: str(each)[:16])
def test_the_job_for_gitlab_leaves_its_reports(name: str, script: list[str], variables: dict, tmp_path: Path) -> None:
    install, *rest = script
    assert install.startswith("pip install")
    (tmp_path / "turnproof").mkdir()

    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(rest)],
        cwd=tmp_path,
        env=environment(**variables),
        capture_output=True,
        check=False,
    )

    assert (name, done.returncode) == (name, 0), done.stderr
    assert {path.name for path in (tmp_path / "turnproof").iterdir()} >= {"run.json", "report.html", "junit.xml"}


def test_the_recipe_for_gitlab_reads_as_one_command_with_its_reports(tmp_path: Path) -> None:
    job = recipe("gitlab")["messages"]
    shutil.copytree(ROOT / "examples" / "node", tmp_path, dirs_exist_ok=True)
    (tmp_path / "expected.toml").write_text("version = 1\n")
    (tmp_path / "turnproof").mkdir()
    _, command = job["script"]

    done = subprocess.run(
        ["bash", "-e", "-c", command.replace("--contract", "--commands 200 --contract")],
        cwd=tmp_path,
        env=environment(SEED="1"),
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()


def test_the_hook_for_pre_commit_judges_the_files_that_it_is_given(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (repo,) = recipe("pre-commit")["repos"]
    trace = next((ROOT / "tests" / "data" / "golden" / "window").glob("*.jsonl"))
    shutil.copy(trace, tmp_path / "kept.jsonl")
    (tmp_path / "broken.jsonl").write_text("{}\n")

    statuses = [
        subprocess.run([*hook["entry"].split(), name], cwd=tmp_path, env=environment(), check=False).returncode
        for name in ("kept.jsonl", "broken.jsonl")
    ]

    assert hook["id"] == repo["hooks"][0]["id"]
    assert re.search(hook["files"], "sessions/kept.jsonl")
    assert statuses[0] == 0
    assert statuses[1] != 0
