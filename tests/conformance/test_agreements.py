"""Schedules at the edges of the contracts, on which the rules and the reference agents must say the same."""

from __future__ import annotations

import pytest

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.notation import read_schedule
from turnproof.shrink import play
from turnproof.trial import Trial

RUNNING = "followup a · pre-step enter · "
REFERRED = "reference p with s · inspect"

INSIDE = ("dispose", "cancel", "cancel keep", "remove s", "replace s by y", "followup p", "reference x with y")

CLAIM = (
    *(
        f"reset{parking} · {RUNNING}on agent/inbox/{event} {{ {inside} }} · {REFERRED} · followup z"
        for parking in ("", " parking model")
        for event in ("inserted", "spliced", "discarded")
        for inside in (
            "dispose",
            "cancel",
            "cancel keep",
            "remove s",
            "replace s by y",
            "followup p",
            "reference x with y",
        )
    ),
    f"reset · followup a · on agent/inbox/inserted {{ dispose }} · {REFERRED}",
    f"reset parking pre-step · followup a · on agent/inbox/inserted {{ dispose }} · {REFERRED} · g1 enter",
    f"reset parking model · {RUNNING}cancel · on agent/inbox/inserted {{ dispose }} · {REFERRED} · g2 text",
    f"reset · on agent/inbox/inserted {{ dispose }} · {REFERRED}",
    f"reset · on agent/status[status=running] {{ dispose }} · {REFERRED}",
    f"reset · on turn/start {{ dispose }} · {REFERRED}",
    f"reset · {RUNNING}on agent/inbox/inserted {{ dispose }} · {{ reference p with s; followup z }} · inspect",
)


@pytest.fixture(scope="module")
def trial():
    client = InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"}).connect()
    yield Trial.open(client)
    client.close()


@pytest.mark.parametrize("schedule", CLAIM)
def test_a_reference_whose_snapshot_is_heard_of_is_delivered_as_a_whole(schedule, trial):
    """C-XREF-1, C-DIS-1: what a listener of the snapshot does comes too late for the prompt accepted with it."""
    assert play(trial, read_schedule(schedule)) is None


def test_a_prompt_accepted_before_a_listener_disposed_waits_for_an_agent_that_resumes(trial):
    """C-DIS-1, C-LOG-3: the disposal has discarded what was pending when it was called, and no more."""
    schedule = f"reset · {RUNNING}on agent/inbox/inserted {{ dispose }} · {REFERRED} · resume crash · inspect"

    assert play(trial, read_schedule(schedule)) is None
    assert trial.machine.observation().inbox.next_turn == ("p",)
