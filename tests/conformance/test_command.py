"""The command line, called as a module: where no script is on the path, ``python -m turnproof`` does the same."""

from __future__ import annotations

import json
import subprocess
import sys


def called(*words: str) -> subprocess.CompletedProcess[str]:
    """What the module prints, called with these words."""
    return subprocess.run([sys.executable, "-m", "turnproof", *words], capture_output=True, text=True, check=False)


def test_the_module_is_the_command():
    told = called("rules", "W-ADM-5", "--json", "-")
    assert told.returncode == 0, told.stderr
    assert "W-ADM-5" in json.dumps(json.loads(told.stdout))


def test_the_module_ends_with_the_exit_code_of_the_command():
    told = called("run", "nobody-knows-this-agent")
    assert told.returncode == 2
    assert "nobody-knows-this-agent" in told.stderr
