"""Which input a step boundary takes, and what the decision before the step makes of it."""

from __future__ import annotations

import asyncio

import pytest

from turnproof_reference.claim import Agent, Enter, Reject
from turnproof_reference.driver import quiet_loop
from turnproof_reference.events import UserMessage
from turnproof_reference.messages import Message
from turnproof_reference.model import Reply
from turnproof_reference.session import Session


def test_the_first_boundary_takes_everything_for_a_step_and_one_prompt(stage):
    """
    C-CLAIM-1: next-step first, then the head of next-turn.
    """
    it = stage()

    it.play("park p; park q; inject i; inject j; steer s")

    assert it.tells("claimed") == ["claimed i", "claimed j", "claimed s", "claimed p"]
    assert it.waiting == (["q"], [])


def test_later_boundaries_take_no_prompt(stage):
    """
    C-CLAIM-1, C-TURN-3: the second prompt waits for its own turn.
    """
    it = stage()

    it.play("followup a; followup b; steer s; text")
    assert it.tells("claimed") == ["claimed a", "claimed s"]

    it.play("text")
    assert it.tells("turn", "claimed") == ["turn 1", "claimed a", "claimed s", "turn 2", "claimed b"]


def test_a_claim_that_finds_nothing_logs_nothing(stage):
    """
    C-CLAIM-1: after a tool batch with nothing waiting the step opens without a splice.
    """
    it = stage()

    assert it.play("followup a; tools c1=par; result") == [
        *("result c1 ok", "close 1.1", "step 1.2", "request a answer c1", "open model")
    ]


def test_a_claim_completes_when_a_listener_cancels_in_its_middle(stage):
    """
    C-CLAIM-1, C-PRE-1: both lists are taken, then the turn ends without a decision.
    """
    it = stage(("pre-step", "model"))
    it.play("inject i")
    it.on("agent/inbox/spliced", "cancel keep", target="next-step")

    assert it.play("followup a")[3:] == [
        *("turn 1", "next-step[0:1]=()", "next-turn[0:1]=()", "claimed i", "claimed a"),
        *("end 1 aborted by user", "idle"),
    ]


def test_the_whole_batch_is_taken_before_anybody_hears_of_it(stage):
    """
    C-CLAIM-2: deletion splices without an outcome, then one claimed per message in batch order.
    """
    it = stage()
    it.play("inject i; inject j")

    assert it.play("followup a")[3:8] == [
        *("turn 1", "next-step[0:2]=()", "next-turn[0:1]=()"),
        *("claimed i", "claimed j"),
    ]
    assert "outcome" not in it.seen["events"][4]


def test_what_arrives_after_the_claim_waits_for_the_next_boundary(stage, all_gates):
    """
    C-CLAIM-3: it isn't part of the batch being decided.
    """
    it = stage(all_gates)

    it.play("followup a; inject i; enter; text")

    assert it.tells("user", "claimed") == ["claimed a", "user a", "claimed i"]


def test_exactly_the_returned_batch_enters_in_its_order(stage, all_gates):
    """
    C-PRE-1: leaving out, turning round and adding are the decision's to make.
    """
    it = stage(all_gates)
    it.play("inject i; inject j; followup a")

    assert it.seen["gates"][0]["claimed"] == ["i", "j", "a"]
    assert it.play("enter a +x:plugin i") == [
        *("step 1.1", "user a", "user x", "user i", "request a x i", "open model")
    ]


@pytest.mark.parametrize(
    ("refusal", "told"),
    [("reject", ["end 1 blocked", "idle"]), ("throw pre-step", ["error 1.0", "end 1 error", "idle"])],
)
def test_a_rejected_or_failed_decision_drops_its_batch_and_nothing_else(stage, all_gates, refusal, told):
    """
    C-PRE-2, C-PRE-5: no step opens, the batch stays removed, later input stays pending and parked.
    """
    it = stage(all_gates)
    it.play("inject i; followup a; followup b; steer s")

    assert it.play(refusal) == told
    assert it.waiting == (["b"], ["s"])
    assert it.tells("user") == []


def test_a_turn_that_was_emptied_at_once_closes_without_a_step_and_parks_the_rest(stage, all_gates):
    """
    C-PRE-3: completed without a request; latitude after-empty, observed: what waits is parked.
    """
    it = stage(all_gates)
    it.play("followup a; followup b")

    assert it.play("enter nothing") == ["end 1 completed", "idle"]
    assert it.waiting == (["b"], [])


def test_a_later_boundary_that_was_emptied_ends_the_turn_and_the_next_one_follows(stage, all_gates):
    """
    C-PRE-3, C-TURN-6: the turn owes nothing, so it ends without turn-stopping, and pending input goes on.
    """
    it = stage(all_gates)
    it.play("followup a; enter; followup b; steer s; text")

    told = it.play("enter nothing")

    assert told[:2] == ["end 1 completed", "turn 2"]


def test_a_later_boundary_that_was_emptied_enters_while_a_result_is_unanswered(stage, all_gates):
    """
    C-PRE-3: the model is still owed a request.
    """
    it = stage(all_gates)
    it.play("followup a; enter; tools c1=par; result")

    assert it.play("enter nothing") == ["step 1.2", "request a answer c1", "open model"]


def played(*listeners):
    """Run one prompt past pre-step listeners; answer what entered."""

    async def model(_request):
        return Reply("done")

    loop = quiet_loop()
    agent = Agent(Session("s"), model, loop=loop)
    for listener in listeners:
        agent.pre_step.add(listener)
    agent.followup(Message("a", "hello", {"kind": "user"}))
    loop.run_until_quiescent()
    return [event.message.id for event in agent.log.events if isinstance(event, UserMessage)]


def adding(name):
    async def listener(_question, inner):
        decision = await inner()
        assert isinstance(decision, Enter)
        return Enter((*decision.messages, Message(name, "more", {"kind": "plugin"})))

    return listener


async def rejecting(_question, _inner):
    return Reject()


async def failing(_question, _inner):
    await asyncio.sleep(0)
    raise RuntimeError("no")


async def delegating(_question, inner):
    return await inner()


def test_a_listener_that_delegates_preserves_what_the_inner_ones_said():
    """
    C-PRE-4: additions follow the order in which the answers return.
    """
    assert played(delegating, adding("outer"), delegating, adding("inner")) == ["a", "inner", "outer"]


@pytest.mark.parametrize("later", [rejecting, failing])
def test_what_a_listener_returned_leaves_no_trace_when_a_later_one_refuses(later):
    """
    C-PRE-4: neither the batch nor the addition is committed.
    """
    assert played(adding("context"), later) == []
