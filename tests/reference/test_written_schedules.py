"""The schedules that were written for mutants: a sound agent goes through each to its end."""

from __future__ import annotations

import tomllib

import pytest
from mutants.stages import DATA, written

from turnproof.candidate import InProcessCandidate
from turnproof.notation import read_schedule
from turnproof.trial import Trial

WRITTEN = tomllib.loads((DATA / "mutants" / "schedules.toml").read_text(encoding="utf-8"))["schedule"]


@pytest.mark.parametrize("entry", WRITTEN, ids=lambda entry: f"{entry['contract']}-{entry['about'][:40]}")
def test_a_sound_agent_goes_through_a_schedule_to_its_end(entry):
    client = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": entry["contract"]}).connect()
    trial = Trial.open(client, entry["contract"])
    reset, *commands = read_schedule(entry["text"])

    seen = [trial.begin(reset), *(trial.do(command) for command in commands)]

    client.close()
    assert seen == [None] * (1 + len(commands))


def test_a_stage_plays_the_schedules_of_its_contract():
    """The foil of the test above is `make mutants`."""
    assert {entry["contract"] for entry in WRITTEN} == {"window", "claim"}
    assert len({(entry["contract"], entry["text"]) for entry in WRITTEN}) == len(WRITTEN)
    assert len({(entry["contract"], entry["about"]) for entry in WRITTEN}) == len(WRITTEN)
    assert [written(contract) for contract in ("window", "claim")] == [None, None]
