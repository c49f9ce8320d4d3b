"""
A project outside the tree, with turnproof installed from its wheel: what its author sees from the first failure on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

SOUND = "if dropped:"
BROKEN = "if dropped and self.window:"
RULE = "W-CAN-2"
CONFIGURATION = """\
[tool.pytest.ini_options]
addopts = "--strict-markers --strict-config -p no:cacheprovider"
pythonpath = ["."]
turnproof_agent = "driver:Driver"
turnproof_contract = "window"
turnproof_commands = "3000"
turnproof_shards = "2"
{more}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with turnproof from its wheel; what it depends on is borrowed from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run(wheel, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    found = folder / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", found, "install", "--quiet", "--no-deps", "--no-index", built]
    subprocess.run(install, check=True, capture_output=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a small agent of its own, which drops queued prompts in silence when it is canceled while idle."""
    for name in ("agent.py", "driver.py"):
        shutil.copy(ROOT / "examples" / "python" / name, tmp_path)
    agent = tmp_path / "agent.py"
    text = agent.read_text()
    assert SOUND in text
    agent.write_text(text.replace(SOUND, BROKEN))
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION.format(more=""))
    return tmp_path


def run(python: Path, project: Path, *arguments: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-m", *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_installed_package_is_the_wheel_and_not_the_tree(python: Path, project: Path) -> None:
    status, said = run(python, project, "pytest", "--version", "--version")

    assert status == 0
    where = subprocess.run(
        [python, "-c", "import turnproof, turnproof_reports; print(turnproof.__file__, turnproof_reports.__file__)"],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(path.startswith(str(python.parents[1])) for path in where.split())
    assert "turnproof" in said


def test_a_faulty_agent_fails_until_it_is_expected_and_a_mended_one_until_it_is_not(
    python: Path, project: Path
) -> None:
    status, said = run(python, project, "pytest", "-n", "2", "--junitxml", "junit.xml")
    assert status == 1
    assert f"turnproof[{RULE}]" in said
    assert "schedule  reset · " in said
    cases = ET.parse(project / "junit.xml").iter("testcase")  # noqa: S314  # written by the run above
    failing = [case.get("name") for case in cases if case.find("failure") is not None]
    assert f"turnproof[{RULE}]" in failing

    (project / "pyproject.toml").write_text(CONFIGURATION.format(more='turnproof_expect = "expected.toml"'))
    (project / "expected.toml").write_text(
        f'version = 1\n\n# Since the rewrite of the loop.\n[[expected]]\nrule = "{RULE}"\nreason = "drops in silence"\n'
    )
    run(python, project, "pytest", "-q", "--turnproof-update")  # whatever else the defect breaks
    status, said = run(python, project, "pytest", "-q")
    assert (status, "xfailed" in said) == (0, True), said
    assert "# Since the rewrite of the loop." in (project / "expected.toml").read_text()

    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace(BROKEN, SOUND))
    status, said = run(python, project, "pytest", "-q")
    assert status == 1
    assert f"{RULE} is expected to fail (drops in silence)" in said
    assert "remove the stale entry" in said
