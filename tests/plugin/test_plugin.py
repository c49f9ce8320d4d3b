"""
The pytest plugin, in projects of their own.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest_plugins = "pytester"
pytestmark = pytest.mark.slow

AGENT = """\
from turnproof_reference.driver import Driver

def make(loop):
    return Driver("{contract}", loop=loop, fault={fault!r})
"""
INI = """\
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider
pythonpath = .
turnproof_agent = agent:make
turnproof_contract = claim
turnproof_commands = 600
{more}
"""
FAULT, BROKEN = "silent-discard", "C-CLAIM-4"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose agent of contract claim has a known defect."""
    pytester.makepyfile(agent=AGENT.format(contract="claim", fault=FAULT))
    pytester.makeini(INI.format(more=""))
    return pytester


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """The outcome of each test that is told in a verbose run, by its name."""
    found = re.findall(r"(turnproof\[[^]]+\]|\w+) (PASSED|FAILED|SKIPPED|XFAIL|ERROR)", result.stdout.str())
    return dict(found)


def test_each_rule_is_a_test_and_failing_rules_fail_with_the_score(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-v")

    told = outcomes(result)
    assert result.ret == 1
    assert told[f"turnproof[{BROKEN}]"] == "FAILED"
    assert told["turnproof[driver]"] == told["turnproof[C-SEND-1]"] == "PASSED"
    assert re.search(r"schedule  reset.* · ", result.stdout.str())
    assert re.search(r"replay    turnproof replay \S+\.turnproof/capsules/C-\S+\.json agent:make", result.stdout.str())


def test_each_race_is_a_test_and_a_lost_one_fails_with_its_story(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-v", "-k", "race")

    told = outcomes(result)
    assert told["turnproof[race:stop-at-enqueue]"] == "FAILED"
    assert told["turnproof[race:steer-after-last-poll]"] == "PASSED"
    assert {name.startswith("turnproof[race:") for name in told} == {True}
    assert "race stop-at-enqueue: The first who hears of a new prompt cancels" in result.stdout.str()
    assert "met in: deepseek-ai/deepseek-harness@d613fdb073" in result.stdout.str()


def test_a_race_lost_by_an_expected_failure_alone_is_xfailed(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="turnproof_expect = expected.toml"))
    Path("expected.toml").write_text(f'version = 1\n[[expected]]\nrule = "{BROKEN}"\nreason = "known"\n')

    told = outcomes(project.runpytest_subprocess("-v", "-k", "race"))

    assert told["turnproof[race:stop-at-enqueue]"] == "XFAIL"
    assert "FAILED" not in told.values()


def test_a_race_that_the_agent_can_not_be_driven_through_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        agent="""
        from turnproof_reference.driver import Driver

        class Unedited(Driver):
            def perform(self, method, params):
                answer = super().perform(method, params)
                if method == "initialize":
                    answer["capabilities"]["inbox.remove"] = False
                return answer

        def make(loop):
            return Unedited("claim", loop=loop)
        """
    )
    pytester.makeini(INI.format(more=""))

    result = pytester.runpytest_subprocess("-v", "-rs", "-k", "race:late-prompt or race:edit")

    told = outcomes(result)
    assert told["turnproof[race:late-prompt-taken-back]"] == told["turnproof[race:edit-during-tool]"] == "SKIPPED"
    assert told["turnproof[race:late-prompt-corrected]"] == "PASSED"
    assert "not-applicable: needs inbox.remove" in result.stdout.str()


def test_what_was_not_shown_is_skipped_and_never_passed(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-v", "-rs", "--turnproof-commands", "1")

    told = outcomes(result)
    assert told["turnproof[C-STEP-5]"] == "SKIPPED"
    assert "not exercised by this run" in result.stdout.str()


def test_expected_failures_are_xfailed_and_stale_ones_fail(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="turnproof_expect = expected.toml"))
    entry = '[[expected]]\nrule = "{}"\nreason = "known since spring"\n'
    listed = Path("expected.toml")
    listed.write_text("version = 1\n" + entry.format(BROKEN) + entry.format("C-SEND-1"))

    result = project.runpytest_subprocess("-v", "-rx")

    told = outcomes(result)
    assert (told[f"turnproof[{BROKEN}]"], told["turnproof[C-SEND-1]"]) == ("XFAIL", "FAILED")
    assert "known since spring" in result.stdout.str()
    assert "remove the stale entry from expected.toml" in result.stdout.str()


def test_an_update_makes_the_run_conform_until_the_agent_is_mended(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="turnproof_expect = expected.toml"))
    Path("expected.toml").write_text("# Ours.\nversion = 1\n")

    updating = project.runpytest_subprocess("--turnproof-update")
    after = project.runpytest_subprocess()
    project.makepyfile(agent=AGENT.format(contract="claim", fault=None))
    mended = project.runpytest_subprocess()

    assert [run.ret for run in (updating, after, mended)] == [1, 0, 1]
    assert "# Ours." in Path("expected.toml").read_text()
    assert f"stale: {BROKEN}" in mended.stdout.str()


def test_an_expected_failure_fails_when_xfail_is_switched_off(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="turnproof_expect = expected.toml"))
    Path("expected.toml").write_text(f'version = 1\n[[expected]]\nrule = "{BROKEN}"\nreason = "known"\n')

    result = project.runpytest_subprocess("-v", "--runxfail", "-k", BROKEN)

    assert outcomes(result) == {f"turnproof[{BROKEN}]": "FAILED"}


def test_workers_share_one_search_and_find_what_one_process_finds(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="turnproof_shards = 2"))

    alone = project.runpytest_subprocess("--turnproof-results", "alone")
    shared = project.runpytest_subprocess("-n", "2", "--turnproof-results", "shared")

    (one,), (other,) = Path("alone").glob("*.json"), Path("shared").glob("*.json")
    documents = [json.loads(path.read_text()) | {"seconds": None} for path in (one, other)]
    assert alone.ret == shared.ret == 1
    assert documents[0] == documents[1]
    assert documents[0]["commands"] == 600


def test_a_fixture_gives_tests_beside_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(agent=AGENT.format(contract="window", fault=None))
    pytester.makepyfile(
        test_mine="""
        import pytest
        from turnproof.testing import InProcessCandidate

        @pytest.mark.turnproof(contract="window", commands=300)
        class TestMine:
            @pytest.fixture(scope="class")
            def turnproof_candidate(self):
                return InProcessCandidate("agent:make")

            def test_other(self):
                assert True
        """
    )

    result = pytester.runpytest_subprocess("-v", "-k", "W-SEND-1 or other")

    assert outcomes(result) == {"turnproof[W-SEND-1]": "PASSED", "test_other": "PASSED"}
    assert "test_mine.py::TestMine::turnproof[W-SEND-1]" in result.stdout.str()


def test_a_fixture_without_a_contract_is_told_what_to_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_mine="""
        import pytest

        @pytest.fixture
        def turnproof_candidate():
            return None
        """
    )

    result = pytester.runpytest_subprocess()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "pytest.mark.turnproof(contract=…), to one of window, claim" in result.stdout.str()


def test_the_seed_of_hypothesis_is_the_seed_of_the_search(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--hypothesis-seed=77", "-k", "driver")

    assert "seed 77" in result.stdout.str()


def test_the_configuration_file_is_collected_beside_named_test_paths(project: pytest.Pytester) -> None:
    project.makeini(INI.format(more="testpaths = checks"))
    project.mkdir("checks")
    project.makepyfile(**{"checks/test_ok": "def test_ok(): pass"})

    result = project.runpytest_subprocess("--collect-only", "-q")

    assert "tox.ini::turnproof[C-SEND-1]" in result.stdout.str()
    assert "checks/test_ok.py::test_ok" in result.stdout.str()


def test_a_driver_that_breaks_down_fails_its_own_test_with_the_story(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nturnproof_command = python -c \"raise SystemExit('no agent today')\"\nturnproof_contract = claim"
    )

    result = pytester.runpytest_subprocess("-v")

    told = outcomes(result)
    assert told["turnproof[driver]"] == told["turnproof[C-SEND-1]"] == "FAILED"
    assert "no agent today" in result.stdout.str()


def test_a_junit_file_tells_the_verdict_and_how_often_a_rule_was_exercised(project: pytest.Pytester) -> None:
    project.runpytest_subprocess("--junitxml", "junit.xml", "-k", "C-SEND-1")

    (case,) = ET.parse("junit.xml").getroot().iter("testcase")  # noqa: S314  # written by the run above
    properties = {entry.get("name"): entry.get("value") for entry in case.iter("property")}
    assert (case.get("name"), properties["verdict"], properties["contract"]) == (
        "turnproof[C-SEND-1]",
        "passed",
        "claim",
    )
    assert int(properties["exercised"]) > 0


def test_a_project_without_a_candidate_sees_nothing_of_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_ok="def test_ok(): pass")

    result = pytester.runpytest_subprocess("--strict-markers", "--strict-config")

    result.assert_outcomes(passed=1)
    assert "turnproof" not in result.stdout.str().partition("collected")[2]
