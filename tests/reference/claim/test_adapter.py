"""The agent behind the driver protocol."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest

from turnproof_reference.driver import Driver, ProtocolError


def test_the_introduction_names_contract_gates_tools_and_what_is_offered():
    said = Driver("claim").perform("initialize", {"protocol": 1})

    assert said["contract"] == "claim"
    assert said["gates"] == ["pre-step", "model", "tool", "request-error", "turn-stopping", "flush"]
    assert said["tools"] == {"par": "parallel", "exc": "exclusive"}
    assert [name for name, offered in said["capabilities"].items() if not offered] == [
        *("acceptsNextStep", "compact", "step-gate", "prompt.content", "prompt.contexts", "sessionReentry")
    ]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resume", {"mode": "compact"}),
        ("reset", {"gates": ["step"]}),
        ("reset", {"gates": ["prompt-submit"]}),
        ("prepend", {"target": "queued", "message": {"id": "a"}}),
        ("remove", {}),
        ("replace", {"id": "a", "message": "a"}),
        ("reference", {"message": {"id": "a"}}),
    ],
)
def test_what_is_not_offered_or_not_understood_is_an_error(method, params):
    driver = Driver("claim")
    driver.perform("reset", {})

    with pytest.raises(ProtocolError):
        driver.perform(method, params)


def test_the_checkpoint_policy_is_installed_where_its_gate_is_chosen(stage):
    assert "open flush" not in stage(("model",)).play("followup a")
    assert "open flush" in stage(("model", "flush")).play("followup a")


def test_a_gate_may_name_a_message_that_was_sent_before(stage, all_gates):
    """
    C-PRE-1: the id stands for the message as it was accepted last.
    """
    it = stage(all_gates)

    it.play("park b:plugin; remove b; followup a")
    it.play("enter a b")

    committed = [event for event in it.seen["events"] if event["type"] == "user/message"]
    assert [(event["id"], event["source"], event.get("text")) for event in committed] == [
        ("a", "user", None),
        ("b", "plugin", None),
    ]


@pytest.mark.parametrize("gates", [("model", "tool"), ("model", "tool", "flush")])
def test_nothing_is_ever_seen_of_an_agent_that_was_cut_off(stage, gates):
    """
    C-LOG-3: not even what asyncio says when its tasks are collected.
    """
    it = stage(gates)
    saves = "saved; saved; " if "flush" in gates else ""
    it.play(f"followup a; {saves}tools c1=par c2=par; resume")

    gc.collect()

    assert it.play("inspect") == []


def test_a_conversation_over_a_pipe_ends_with_status_zero():
    requests = [
        ("initialize", {"protocol": 1}),
        ("reset", {"gates": ["model"]}),
        ("followup", {"message": {"id": "a", "text": "hello", "source": {"kind": "user"}}}),
        ("release", {"kind": "model", "outcome": {"kind": "text"}}),
        ("shutdown", {}),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(requests)
    ]

    done = subprocess.run(
        [sys.executable, "-m", "turnproof_reference", "--contract", "claim", "--fault", "late-bit"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]
    assert answers[3]["result"]["events"][-1] == {"kind": "live", "type": "agent/status", "status": "idle"}
