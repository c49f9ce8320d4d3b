"""A campaign is many runs kept in one folder; stopping it loses nothing, and going on with it changes nothing."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from attrs import evolve
from click.testing import CliRunner

from turnproof import campaign as campaigns
from turnproof.campaign import Campaign, CampaignError
from turnproof.campaign_parts import Part, Plan
from turnproof.candidate import InProcessCandidate
from turnproof.cli import cli
from turnproof.merging import merged
from turnproof.results import run_from_json
from turnproof.runner import run

EACH = 150
PARTS = (Part(1, EACH), Part(2, EACH))
CANDIDATE = InProcessCandidate(
    "turnproof_reference.driver:Driver", {"contract": "claim", "fault": "duplicate-accepted"}
)
PLAN = Plan(CANDIDATE, "reference", "claim", EACH)


class Dying:
    """Be a driver whose process ends amid a search."""

    def __init__(self, loop):
        os._exit(7)


class Keyboard:
    """Interrupt a campaign once, at the first sign of work."""

    pressed = False

    def __call__(self, sent, ended, failures):
        if sent and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt


def told(result):
    """Leave out what differs from machine to machine: the time, and where capsules lie."""
    capsules = tuple(evolve(capsule, file=None) for capsule in result.capsules)
    return evolve(result, seconds=0.0, capsules=capsules, candidate="")


def fresh(folder, plan=PLAN, jobs=1, *, resume=False):
    campaign = Campaign(plan, folder, jobs)
    campaign.open(resume=resume)
    return campaign


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Give a campaign of two seeds that nobody stopped, and its folder."""
    folder = tmp_path_factory.mktemp("campaign")
    return fresh(folder, jobs=2).run(PARTS), folder


def test_a_campaign_is_its_seeds_run_one_by_one_and_joined(undisturbed):
    """What several processes found at once is what one would have found after the other."""
    result, _ = undisturbed
    alone = merged([run(CANDIDATE, "claim", commands=EACH, seed=part.seed) for part in PARTS])

    assert result.seeds == (1, 2)
    assert told(result.run) == told(alone)


def test_a_campaign_leaves_a_run_for_each_seed_and_one_capsule_for_each_way_of_failing(undisturbed):
    """The folder holds what was found, in the forms that report and replay read."""
    result, folder = undisturbed
    document = json.loads((folder / "campaign.json").read_text())
    kept = {str(path) for path in (folder / "capsules").iterdir()}

    assert told(run_from_json(document)) == told(result.run)
    assert document["seeds"] == [1, 2]
    assert {path.name for path in (folder / "seeds").glob("*.json")} == {"1.json", "2.json"}
    assert kept == {capsule.file for capsule in result.run.capsules}
    assert len({capsule.signature for capsule in result.run.capsules}) == len(kept) > 0


def test_a_campaign_that_is_stopped_keeps_what_it_had_and_can_be_gone_on_with(tmp_path, monkeypatch, undisturbed):
    """A seed that was under way says that it was interrupted, and is run again from its beginning."""
    monkeypatch.setattr(campaigns, "LOOK", 0.01)
    long = Part(1, 100_000)
    stopped = fresh(tmp_path, evolve(PLAN, commands=EACH))

    stopped.watcher = Keyboard()
    half = stopped.run([long]).run
    whole = fresh(tmp_path, resume=True).run(PARTS)

    assert half.interrupted
    assert 0 < half.commands < long.commands
    assert told(whole.run) == told(undisturbed[0].run)


def test_a_campaign_that_is_gone_on_with_runs_no_seed_twice(undisturbed, monkeypatch):
    """Finished seeds are read, not run."""
    result, folder = undisturbed
    monkeypatch.setattr(campaigns.Running, "begin", lambda *_: pytest.fail("a seed was begun"))

    assert fresh(folder, resume=True).run(PARTS) == result


def test_no_other_campaign_is_mixed_into_a_folder(undisturbed):
    """Without --resume, or with another plan, a folder that holds a campaign is left alone."""
    _, folder = undisturbed

    with pytest.raises(CampaignError, match="--resume"):
        fresh(folder)
    with pytest.raises(CampaignError, match="another campaign"):
        fresh(folder, evolve(PLAN, commands=EACH + 1), resume=True)


def test_no_seed_begins_once_there_is_enough(undisturbed, tmp_path):
    """A campaign with a time ends with the seeds that were begun in it."""
    result, _ = undisturbed
    folder = shutil.copytree(undisturbed[1], tmp_path / "copy")
    answers = iter([False, True])

    found = fresh(folder, resume=True).run([*PARTS, Part(3, EACH), Part(4, EACH)], lambda: next(answers, True))

    assert found.seeds == (*result.seeds, 3)


def test_a_part_whose_process_dies_is_no_result(tmp_path):
    """A candidate in this process may end it; that must not read as a shorter campaign."""
    with pytest.raises(CampaignError, match=r"seed 1 must leave a result .*ended with 7"):
        fresh(tmp_path, Plan(InProcessCandidate(Dying), "mine")).run(PARTS[:1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "1..2", "--minutes", "1"], "give one of them"),
        (["--seeds", "2..1"], "end where it begins or later"),
        (["--seeds", "some"], "as in 1..10"),
    ],
)
def test_a_campaign_says_what_is_wrong_with_its_seeds(tmp_path, arguments, words):
    """The command line is refused before anything runs."""
    shown = CliRunner().invoke(cli, ["campaign", "reference", "--output", str(tmp_path / "none"), *arguments])

    assert shown.exit_code == 2
    assert words in shown.output
    assert not (tmp_path / "none").exists()


def test_a_campaign_ends_with_the_status_of_all_its_seeds(tmp_path):
    """A number of commands is cut over seeds, the last of which gets the rest."""
    arguments = ["--contract", "claim", "--commands", "250", "--each", "200", "--jobs", "2", "--output", str(tmp_path)]

    shown = CliRunner().invoke(cli, ["campaign", "reference", *arguments, "--json", "-"])
    document = json.loads(shown.output)

    assert shown.exit_code == 0
    assert (document["seeds"], document["commands"]) == ([1, 2], 250)


def test_a_candidate_of_another_contract_is_told_at_once(tmp_path):
    """What is wrong with every seed is told by the first."""
    with pytest.raises(CampaignError, match="declares contract 'claim', not 'window'"):
        fresh(tmp_path, Plan(CANDIDATE, "mine", "window")).run(PARTS)
