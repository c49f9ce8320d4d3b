"""The check passes a sound driver, and each of its probes catches a driver that has the defect it looks for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from miniature_drivers.defects import PROBED_BY
from miniature_drivers.driver import Driver

from turnproof.candidate import ChildCandidate, InProcessCandidate
from turnproof.drivercheck import CHECK_LIMITS, MOST_FAULTS, check_driver, checked_json
from turnproof.limits import Limits
from turnproof.probes import PROBES
from turnproof_model.vocabulary import CAPABILITIES

TESTS = Path(__file__).parents[1]
PIPES = TESTS / "miniature_drivers" / "pipes.py"
ROOT = TESTS.parent
SPECS = {spec.id: spec for spec in PROBES}
DEFECTS = [(probe, *defect) for probe, defects in PROBED_BY.items() for defect in defects]


def pipes(defect):
    return ChildCandidate([sys.executable, "-SE", str(PIPES), defect])


def served(name):
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return ChildCandidate([sys.executable, "-m", "miniature_drivers.stdio", name], env={"PYTHONPATH": path})


def failed(probes):
    return {probe.id: probe.reason for probe in probes if probe.verdict == "failed"}


@pytest.mark.parametrize("contract", ["window", "claim"])
@pytest.mark.parametrize("without", [(), CAPABILITIES], ids=["all", "none"])
def test_a_sound_driver_passes_whatever_it_declares(contract, without):
    """What is declared works, what is not declared is denied."""
    probes = check_driver(InProcessCandidate(Driver, {"contract": contract, "without": without}))

    assert failed(probes) == {}
    assert checked_json(probes)["verdict"] == "conforms"


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_sound_driver_passes_without_any_one_capability(capability):
    """No probe takes another capability than its own for granted."""
    for contract in ("window", "claim"):
        assert failed(check_driver(InProcessCandidate(Driver, {"contract": contract, "without": (capability,)}))) == {}


@pytest.mark.parametrize(("probe", "defect", "kwargs"), DEFECTS)
def test_a_defect_fails_the_probe_that_looks_for_it(probe, defect, kwargs):
    """The reason says what was demanded; the exchanges show it."""
    (found,) = check_driver(InProcessCandidate(defect, kwargs), probes=[SPECS[probe]])

    assert found.verdict == "failed"
    assert found.fault is None
    assert found.reason
    assert found.exchanges


def test_every_probe_has_a_defect_that_it_catches():
    """A probe that nothing fails proves nothing; shutdown and lanes are proved on processes below."""
    assert set(SPECS) == set(PROBED_BY) | {"shutdown", "lanes/apart"}
    assert len(SPECS) == len(PROBES)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("ExitsBadly", "exited", "status 4"),
        ("WritesOn", "malformed-line", "wrote behind its answer"),
        ("StaysForEver", "hung", "the driver didn't"),
        ("ShutsDownWithAWord", "bad-form", "an empty object expected"),
    ],
)
def test_a_shutdown_that_goes_wrong_fails_its_probe(name, kind, message):
    """The process must end by itself, with status 0 and nothing said."""
    limits = Limits(grace_seconds=0.05 if kind == "hung" else 5.0)
    (found,) = check_driver(served(name), limits, [SPECS["shutdown"]])

    assert (found.verdict, found.fault.kind) == ("failed", kind)
    assert message in found.reason


@pytest.mark.parametrize(("name", "verdict"), [("Laned", "passed"), ("SharesAnAgent", "failed")])
def test_lanes_must_be_agents_of_their_own(name, verdict):
    """What one lane is asked shows on no other; the exchanges tell the lanes apart."""
    (found,) = check_driver(served(name), probes=[SPECS["lanes/apart"]])

    assert found.verdict == verdict
    assert [each.to_json()["request"].get("lane") for each in found.exchanges[-2:]] == [None, 1][: len(found.exchanges)]


def test_a_driver_that_breaks_down_in_one_probe_is_probed_further():
    """Each probe after a fault begins with a fresh driver; a stray line fails the probe that caused it."""
    chosen = [SPECS[name] for name in ("initialize/form", "text/any", "reset/empty")]
    first, second, third = check_driver(served("PrintsWhatItReads"), probes=chosen)

    assert (first.verdict, second.verdict, third.verdict) == ("passed", "failed", "passed")
    assert second.fault.kind in ("malformed-line", "wrong-id")


def test_a_driver_that_keeps_breaking_down_is_not_bothered_further():
    """The rest is not tried, and said so."""
    probes = check_driver(pipes("never_starts"), Limits(start_seconds=0.03, grace_seconds=0.05))

    assert [probe.fault is not None for probe in probes] == [index < MOST_FAULTS for index in range(len(PROBES))]
    assert {probe.fault.kind for probe in probes if probe.fault} == {"hung"}
    assert probes[-1].verdict == "not-applicable"
    assert "broke down" in probes[-1].reason
    assert checked_json(probes)["verdict"] == "driver-fault"


def test_what_is_not_declared_is_not_applicable_and_says_so():
    """The reason names the capability."""
    candidate = InProcessCandidate(Driver, {"without": ("arm.where",)})
    (found,) = check_driver(candidate, probes=[SPECS["arm/where"]])

    assert (found.verdict, found.reason) == ("not-applicable", "'arm.where' is not declared")


def test_a_check_is_written_as_json():
    """The whole story of a failed probe survives; nothing of a passed one is kept."""
    defect, kwargs = PROBED_BY["arm/once"][0]
    wire = json.loads(json.dumps(checked_json(check_driver(InProcessCandidate(defect, kwargs)))))
    by_id = {probe["id"]: probe for probe in wire["probes"]}

    assert (wire["schema"], wire["verdict"]) == ("turnproof/driver-check/1", "fails")
    assert by_id["initialize/form"] == {
        "id": "initialize/form",
        "title": SPECS["initialize/form"].title,
        "verdict": "passed",
    }
    assert by_id["arm/once"]["exchanges"][0]["request"]["method"] == "reset"
    assert "must fire in the first turn and not in the second" in by_id["arm/once"]["reason"]


def test_the_evidence_is_the_reason_and_the_last_exchanges():
    """A person sees what was asked and answered."""
    defect, kwargs = PROBED_BY["release/id"][0]
    (found,) = check_driver(InProcessCandidate(defect, kwargs), probes=[SPECS["release/id"]])

    reason, *exchanges = found.evidence.splitlines()
    assert reason == found.reason
    assert exchanges[-1].startswith("{'method': 'release'")


def test_the_evidence_of_a_fault_is_the_fault():
    """Its kind, its stage, and the last words of the driver."""
    found = check_driver(pipes("dies"), CHECK_LIMITS, [SPECS["settled"]])[0]

    assert "[exited at requests" in found.evidence
    assert found.evidence.endswith("last words")


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_the_reference_agents_pass(contract):
    """Over real pipes."""
    candidate = ChildCandidate([sys.executable, "-m", "turnproof_reference", "--contract", contract])

    assert failed(check_driver(candidate)) == {}


def test_the_capabilities_that_can_be_declared_are_those_of_the_page():
    """The page is what authors of drivers read."""
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    section = page.split("\n## Capabilities")[1].split("\n## ")[0]
    (listed,) = [part for part in section.split("\n\n") if part.startswith("`")]

    assert tuple(listed.split("`")[1::2]) == CAPABILITIES
