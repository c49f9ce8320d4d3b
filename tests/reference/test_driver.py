"""The driver protocol, in one process and over a pipe."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from window_plays import Play, message

from turnproof_reference.driver import Driver, ProtocolError, quiet_loop
from turnproof_reference.driver.contracts import faults_of

METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS = -32601, -32600, -32602


def test_initialize_tells_who_is_there_and_what_it_offers() -> None:
    answer = Driver("window").perform("initialize", {"protocol": 1})

    assert answer is not None
    assert (answer["protocol"], answer["contract"]) == (1, "window")
    assert answer["implementation"].keys() == {"name", "version", "language", "runtime"}
    assert answer["tools"] == {"par": "parallel", "exc": "exclusive"}
    assert set(answer["gates"]) == {
        "prompt-submit",
        "step",
        "model",
        "tool",
        "request-error",
        "turn-stopping",
        "flush",
    }
    assert all(answer["capabilities"].values())
    assert not {"inbox.remove", "inbox.replace", "inbox.prepend"} & set(answer["capabilities"])


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("initialize", {"protocol": 2}, INVALID_PARAMS),
        ("nonsense", {}, METHOD_NOT_FOUND),
        ("remove", {"id": "a"}, METHOD_NOT_FOUND),
        ("send", {"message": message("a"), "target": "now", "wakeup": True}, INVALID_PARAMS),
        ("send", {"message": message("a"), "target": "next-turn", "wakeup": 1}, INVALID_PARAMS),
        ("send", {"message": message("a"), "target": "next-turn"}, INVALID_PARAMS),
        ("followup", {}, INVALID_PARAMS),
        ("followup", {"message": {"text": "no id"}}, INVALID_PARAMS),
        ("followup", {"message": {"id": "", "text": "t", "source": {"kind": "user"}}}, INVALID_PARAMS),
        ("cancel", {"cause": "whim"}, INVALID_PARAMS),
        ("cancel", {"cause": "user", "keepInbox": "yes"}, INVALID_PARAMS),
        ("release", {"gate": "g99", "outcome": {"kind": "allow"}}, INVALID_PARAMS),
        ("release", {"kind": "model", "outcome": {"kind": "text"}}, INVALID_PARAMS),
        ("release", {}, INVALID_PARAMS),
        ("release", {"gate": "g1", "outcome": "allow"}, INVALID_PARAMS),
        ("release", {"gate": "g1", "outcome": {"kind": "text"}}, INVALID_PARAMS),
        ("release", {"gate": "g1", "outcome": {"kind": "allow", "content": 7}}, INVALID_PARAMS),
        ("release", {"gate": "g1", "outcome": {"kind": "allow", "additionalContexts": {}}}, INVALID_PARAMS),
        ("batch", {"ops": {}}, INVALID_PARAMS),
        ("batch", {"ops": [{"params": {}}]}, INVALID_PARAMS),
        ("arm", {"ops": []}, INVALID_PARAMS),
        ("arm", {"on": "turn/end", "nth": 0, "ops": []}, INVALID_PARAMS),
        ("arm", {"on": "turn/end", "defer": -1, "ops": []}, INVALID_PARAMS),
        ("arm", {"on": "turn/end", "where": [], "ops": []}, INVALID_PARAMS),
        ("reset", {"gates": ["door"]}, INVALID_PARAMS),
        ("reset", {"onAbort": {"model": "explode"}}, INVALID_PARAMS),
        ("resume", {"mode": "hard"}, INVALID_PARAMS),
        ("reference", {"message": message("a")}, INVALID_PARAMS),
    ],
)
def test_misuse_is_an_error_and_changes_nothing(method: str, params: dict[str, Any], code: int) -> None:
    play = Play()
    play("followup p")
    with pytest.raises(ProtocolError) as caught:
        play.driver.perform(method, params)

    assert caught.value.code == code
    assert play("inspect") == []
    assert play.gates == ["prompt-submit"]
    assert play.inbox == ([], [])


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("model", {"kind": "allow"}),
        ("model", {"kind": "tools", "calls": {}}),
        ("model", {"kind": "tools", "calls": [{"id": 1, "name": "par"}]}),
        ("model", {"kind": "text", "text": 1}),
        ("tool", {"kind": "text"}),
        ("request-error", {"kind": "continue"}),
        ("turn-stopping", {"kind": "allow"}),
    ],
)
def test_an_outcome_of_another_gate_is_refused(kind: str, outcome: dict[str, Any]) -> None:
    play = Play()
    play(
        {"tool": "followup a; allow; calls par:1", "request-error": "followup a; allow; error"}.get(kind, "followup a")
    )
    if kind in {"model", "turn-stopping"}:
        play("allow")
    if kind == "turn-stopping":
        play("text")
    with pytest.raises(ProtocolError, match="must be"):
        play.driver.perform("release", {"kind": kind, "outcome": outcome})

    assert play.gates == [kind]


def test_nothing_but_initialize_and_reset_works_before_the_first_reset() -> None:
    driver = Driver("window")
    with pytest.raises(ProtocolError) as caught:
        driver.perform("inspect", {})
    assert caught.value.code == INVALID_REQUEST
    with pytest.raises(ProtocolError, match="send reset first"):
        driver.observe()


@pytest.mark.parametrize("arguments", [("door", None), ("window", "no-such-fault")])
def test_an_unknown_contract_or_fault_is_told_with_the_known_ones(arguments: tuple[str, str | None]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        Driver(arguments[0], fault=arguments[1])


def test_operations_of_a_batch_share_one_stack() -> None:
    """
    A refusal or misuse inside is an event and stops nothing.
    """
    play = Play()

    play.request(
        "batch",
        {
            "ops": [
                {"method": "followup", "params": {"message": message("a")}},
                {"method": "release", "params": {"kind": "model", "outcome": {"kind": "text"}}},
                {"method": "reset"},
                {"method": "followup", "params": {"message": message("b")}},
            ]
        },
    )
    kinds = [event["type"].rpartition("/")[2] for event in play.seen["events"]]
    assert kinds[:4] == ["enqueue", "op-threw", "op-threw", "enqueue"]
    assert play.inbox == (["b"], [])


def test_releasing_only_stores_the_outcome() -> None:
    """
    W-CAN-1: a cancel in the same stack still finds the admission open.
    """
    play = Play()
    play("followup a")

    assert play("allow & cancel") == ["cancel-requested user", "status idle"]


def test_an_arm_waits_for_the_event_that_it_describes_and_fires_once() -> None:
    play = Play()
    play.request(
        "arm",
        {
            "on": "agent/inbox/enqueue",
            "where": {"placement": "queued"},
            "nth": 2,
            "ops": [{"method": "inject", "params": {"message": message("i")}}],
        },
    )

    assert play("followup a & followup b & followup c")[:4] == [
        "enqueue a queued",
        "enqueue b queued",
        "user/message i",
        "enqueue c queued",
    ]


def test_a_deferred_operation_comes_later_and_dies_with_its_agent() -> None:
    play = Play()
    arm = {"on": "agent/inbox/enqueue", "defer": 3, "ops": [{"method": "inject", "params": {"message": message("i")}}]}
    play.request("arm", arm)
    assert play("followup a")[-1] == "dequeue a queued"
    assert play.inbox == ([], ["i"])

    play.request("arm", arm)
    play.driver.perform("followup", {"message": message("b")})
    play.driver.perform("reset", {})
    assert play("inspect") == []
    assert play.inbox == ([], [])


def test_a_gate_that_opens_under_a_known_abort_is_aborted_at_once() -> None:
    play = Play()
    play("followup a; allow; on step/end do keep")

    assert play("text")[-5:-3] == ["open g3 turn-stopping", "aborted g3 turn-stopping"]


def test_a_gate_hears_of_an_abort_after_its_opening_was_told() -> None:
    play = Play()
    play("on gate:prompt-submit do cancel & inject i")

    assert play("followup a") == [
        "enqueue a queued",
        "status running",
        "open g1 prompt-submit",
        "cancel-requested user",
        "aborted g1 prompt-submit",
        "dequeue a queued",
        "user/message i",
        "status idle",
    ]


def test_a_kind_that_is_not_gated_takes_its_default() -> None:
    play = Play()
    play.request("reset", {"gates": []})

    assert play("followup a")[-3:] == ["turn/end 1 completed", "settled 1 completed", "status idle"]
    assert play.gates == []


def test_gates_show_what_their_outcome_needs() -> None:
    play = Play("step")
    shown = []
    for line in ("followup a", "allow", "step", "partial", "calls par:1", "result; step; error", "retry; step; text"):
        play(line)
        shown += play.seen["gates"]

    assert shown == [
        {"id": "g1", "kind": "prompt-submit", "message": "a"},
        {"id": "g2", "kind": "step", "turn": 1, "step": 1},
        {"id": "g3", "kind": "model"},
        {"id": "g4", "kind": "model", "partial": "so far"},
        {"id": "g5", "kind": "tool", "callId": "par:1", "name": "par"},
        {"id": "g8", "kind": "request-error", "turn": 1, "step": 2},
        {"id": "g11", "kind": "turn-stopping", "turn": 2},
    ]


def test_a_reset_begins_anew_and_nothing_of_the_old_agent_is_seen() -> None:
    play = Play()
    play("followup a; allow; calls par:1 exc:2; followup b")

    assert play.request("reset", {}) == []
    assert (play.gates, play.inbox, play.seen["status"]) == ([], ([], []), "idle")
    assert play("followup c; allow")[2] == "open g1 prompt-submit"
    assert play.seen["events"][-2]["messages"] == [{"role": "user", "id": "c"}]


def test_a_crash_resume_closes_the_open_turn_and_forgets_what_was_queued() -> None:
    """
    W-LOG-3, W-LOG-4: the next request shows the repairs, turn numbers go on.
    """
    play = Play()
    play("followup a; allow; calls par:1 exc:2; followup b; steer s")

    assert play("resume crash") == []
    assert (play.gates, play.inbox, play.seen["status"]) == ([], ([], []), "idle")
    assert play("followup c; allow")[2:] == [
        "open g1 prompt-submit",
        "dequeue c queued",
        "turn/start 2 message",
        "user/message c",
        "step/start 2 1",
        "request a <par:1,exc:2> par:1 exc:2 c",
        "open g2 model",
    ]


def test_a_clean_resume_disposes_first_and_tells_it() -> None:
    """
    W-DIS-1: the turn ends disposed, and the disposal answers nobody.
    """
    play = Play()
    play("followup a; allow; followup b; on agent/disposed do followup z")

    assert play("resume clean") == [
        "discard b",
        "aborted g2 model",
        "step/end 1 1",
        "turn/end 1 disposed",
        "settled 1 aborted",
        "status idle",
        "disposed",
    ]
    assert play("followup c; allow")[-2] == "request a c"


def test_a_fork_goes_on_like_a_crash_on_a_copy() -> None:
    """
    W-LOG-3: input between turns goes along.
    """
    play = Play()
    play("inject i; followup a; allow; resume fork")

    assert play("followup c; allow")[4:] == [
        "turn/start 2 message",
        "user/message c",
        "step/start 2 1",
        "request i a c",
        "open g2 model",
    ]


def test_compaction_leaves_one_message_for_each_run_of_turns() -> None:
    """
    W-LOG-3, W-LOG-4: turn numbers go on.
    """
    play = Play()
    play("inject i; followup a; allow; text; continue; inject j; followup b; allow; resume compact")

    assert play("followup c; allow")[4:] == [
        "turn/start 3 message",
        "user/message c",
        "step/start 3 1",
        "request i compaction-1 j compaction-2 c",
        "open g2 model",
    ]


def test_a_goal_is_observed_or_refused() -> None:
    """
    W-GOAL-1: folded from the log, across a resume too.
    """
    play = Play()
    change = {"id": "g", "text": 'goal {"a":1}', "source": {"kind": "goal", "round": 0, "change": {"a": 1}}}
    play("goal")
    assert play.seen["goal"] == {"state": None, "rounds": 0}
    play.request("inject", {"message": change})
    play("resume crash; goal")
    assert play.seen["goal"] == {"state": {"a": 1}, "rounds": 0}
    play.request("inject", {"message": {**change, "text": "goal {}"}})
    play("goal")
    assert "goal" not in play.seen
    assert play.seen["refused"].startswith("goal is refused: message 'g' contradicts itself")


def test_a_reference_is_delivered_with_its_snapshot() -> None:
    """
    W-XREF-1: after the other contexts of the admission; a blocked prompt takes it along.
    """
    play = Play()
    params = {"message": message("a"), "snapshot": message("i")}
    play.request("reference", params)
    assert play("allow c")[:4] == ["turn/start 1 message", "user/message a", "user/message c", "user/message i"]
    assert play.request("reference", {"message": message("b"), "snapshot": message("j")}) == ["enqueue b steering"]
    assert play.inbox == ([], ["j", "b"])

    play = Play()
    play.request("reference", params)
    assert play("block; followup b; allow")[-2] == "request b"


def test_the_same_schedule_gives_the_same_observations() -> None:
    def observations() -> list[Any]:
        play, seen = Play("step", "flush"), list[Any]()
        for line in ("followup a & steer b", "allow", "step", "calls par:1 exc:2", "result", "cancel", "saved"):
            play(line)
            seen.append(json.dumps(play.seen))
        return seen

    assert observations() == observations()


def test_the_caller_may_bring_a_loop_of_its_own() -> None:
    loop = quiet_loop()
    driver = Driver("window", loop=loop)
    driver.perform("reset", {})
    driver.perform("followup", {"message": message("a")})
    loop.run_until_quiescent()

    assert driver.observe()["gates"] == [{"id": "g1", "kind": "prompt-submit", "message": "a"}]
    assert driver.perform("shutdown", {}) == {}
    loop.close()
    assert loop.is_closed()


def test_a_quiet_loop_runs_tasks_until_all_wait_for_the_outside() -> None:
    loop, order = quiet_loop(), list[str]()
    gate: asyncio.Future[str] = loop.create_future()

    async def work() -> None:
        assert asyncio.get_running_loop() is loop
        assert loop.is_running()
        order.append("started")
        order.append(await gate)

    task = loop.create_task(work())
    loop.call_soon(order.append, "never").cancel()
    loop.run_until_quiescent()
    assert (order, task.done()) == (["started"], False)
    gate.set_result("released")
    loop.run_until_quiescent()
    assert (order, task.done()) == (["started", "released"], True)


def test_a_quiet_loop_refuses_to_be_run_inside_itself_and_knows_no_time() -> None:
    loop = quiet_loop()

    async def nested() -> None:
        loop.run_until_quiescent()

    inside, late = loop.create_task(nested()), loop.create_task(asyncio.sleep(1))
    loop.run_until_quiescent()

    assert str(inside.exception()).startswith("the loop must not be running already")
    assert isinstance(late.exception(), NotImplementedError)


def test_an_exception_that_nobody_awaits_is_observed() -> None:
    play = Play()

    def broken() -> None:
        raise LookupError("lost")

    play.driver._loop.call_soon(broken)
    assert play("inspect") == ["unhandled-rejection LookupError('lost')"]


def test_an_exception_that_nobody_awaits_is_written_when_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    loop = quiet_loop()
    loop.call_exception_handler({"message": "lost", "exception": LookupError("it")})

    assert capsys.readouterr().err == "lost: LookupError('it')\n"


def test_every_fault_tells_its_rule_and_its_story() -> None:
    for name, fault in faults_of("window").items():
        assert (fault.name, fault.contract) == (name, "window")
        assert fault.rule.startswith("W-")
        assert fault.story.count(". ") >= 1
        assert fault.story.endswith(".")
