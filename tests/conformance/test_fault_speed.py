"""What is told of the time that faults take: by the command and by the bench, in processor seconds."""

from __future__ import annotations

import json
import re
import sys

import pytest
from click.testing import CliRunner

from turnproof.bench import fault_speed
from turnproof.cli.prove import prove
from turnproof_model.prove.faults import faults

ONE = faults("window")[4:5]
"""A fault that the explorer is through with soon."""

runs = pytest.mark.slow


@pytest.fixture
def one_fault(monkeypatch):
    """Let there be one fault."""
    monkeypatch.setattr(sys.modules[prove.callback.__module__], "listed", lambda _: ONE)


@runs
@pytest.mark.usefixtures("one_fault")
def test_the_command_tells_both_times_of_each_fault_and_the_worst_sum():
    """Proof and schedule are told apart, their sum is told once more, and what was done before for all of them."""
    found = CliRunner().invoke(prove, ["window", "--faults", "--json", "-"])
    told = json.loads(found.output)["faults"]
    (each,) = told["each"]

    assert found.exit_code == 0
    assert each["name"] == ONE[0].name
    assert each["seconds"] == pytest.approx(each["proof_seconds"] + each["schedule_seconds"], abs=0.002)
    assert told["worst_seconds"] == told["median_seconds"] == each["seconds"] > 0
    assert told["prepared_seconds"] > 0


@runs
@pytest.mark.usefixtures("one_fault")
def test_the_command_prints_the_times_behind_the_schedule():
    """A reader finds them in the line of the fault, and the worst at the end."""
    shown = " ".join(CliRunner().invoke(prove, ["window", "--faults"]).output.split())
    (proof, schedule) = re.findall(rf"fault {ONE[0].name} .*; proof ([\d.]+) s, schedule ([\d.]+) s", shown)[0]
    (worst, slowest) = re.findall(r"at worst ([\d.]+) s \(([\w-]+)\)", shown)[0]

    assert slowest == ONE[0].name
    assert float(worst) == pytest.approx(float(proof) + float(schedule), abs=0.02)
    assert "once to take the rules as they are apart and search them" in shown


@runs
def test_the_bench_prints_the_worst_and_the_middle_of_all_sums():
    """The worst isn't less than the middle, and no sum is less than its parts."""
    (line,) = fault_speed.measure(("window",), every=16)
    worst, middle, count, proof, schedule = (
        float(re.findall(pattern, line)[0])
        for pattern in (
            r"take ([\d.]+) s at worst",
            r"\), ([\d.]+) s in the middle",
            r"middle of (\d+)",
            r"the proof ([\d.]+) s",
            r"the schedule ([\d.]+) s",
        )
    )

    assert count == len(faults("window")[::16])
    assert middle <= worst
    assert max(proof, schedule) <= worst + 0.01
