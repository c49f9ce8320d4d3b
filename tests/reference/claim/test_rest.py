"""Idle, waiting for it, and the end of an agent."""

from __future__ import annotations

import asyncio

import pytest

from turnproof_reference.claim import Agent, AgentGone
from turnproof_reference.messages import Message
from turnproof_reference.model import Reply
from turnproof_reference.session import Session


def test_status_is_told_only_on_a_change(stage):
    """
    C-STAT-1: one running interval spans all turns.
    """
    it = stage()

    it.play("followup a; followup b; text; text")

    assert it.tells("running", "idle") == ["running", "idle"]
    assert it.seen["whenIdle"] is True


def test_a_waiter_is_let_go_at_rest_and_not_at_a_restart(stage):
    """
    C-STAT-1, C-STAT-2: the idle that is followed by running in the same stack is no rest.
    """
    it = stage(model="park")
    it.play("followup a; cancel; followup b")
    waiter = it.driver._agent.when_idle()

    it.play("text")
    assert (it.tells("running", "idle"), waiter.done()) == (["running", "idle", "running"], False)

    it.play("text")
    assert waiter.done()


def test_a_waiter_is_not_let_go_when_a_listener_of_idle_starts_the_agent(stage):
    """
    C-STAT-1: the loop runs again before anybody can act on the rest.
    """
    it = stage()
    it.play("followup a")
    it.on("agent/status", "followup b", status="idle")
    waiter = it.driver._agent.when_idle()

    it.play("text")
    assert not waiter.done()

    it.play("text")
    assert waiter.done()


def test_disposal_cancels_for_good(stage):
    """
    C-DIS-1: what waits is discarded, the turn ends by disposal, gone follows the last idle.
    """
    it = stage()
    it.play("followup a; inject i; followup b")

    assert it.play("dispose") == [
        *("next-step[0:1]=()!", "discarded i", "next-turn[0:1]=()!", "discarded b"),
        *("aborted model", "close 1.1", "end 1 aborted by disposed", "idle", "disposed", "gone"),
    ]


def test_an_earlier_cause_outlives_the_disposal(stage):
    """
    C-DIS-1: the turn was canceled by its user.
    """
    it = stage(model="park")

    it.play("followup a; cancel; dispose; text")

    assert it.tells("end", "idle", "disposed") == ["end 1 aborted by user", "idle", "disposed"]


def test_an_idle_agent_is_disposed_of_at_once(stage):
    """
    C-DIS-1: nothing has to be waited for.
    """
    it = stage()

    assert it.play("inject i; dispose") == ["next-step[0:1]=()!", "discarded i", "disposed", "gone"]


def test_a_second_disposal_resolves_with_the_first(stage):
    """
    C-DIS-1: it changes nothing.
    """
    it = stage()

    it.play("followup a; [dispose; dispose]")

    assert it.tells("disposed", "gone") == ["disposed", "gone", "gone"]


@pytest.mark.parametrize(
    "late", ["followup b", "steer b", "inject b", "park b", "prepend next-turn b", "reference b c"]
)
def test_input_after_the_disposal_is_refused(stage, late):
    """
    C-DIS-1: before it has resolved and after.
    """
    it = stage(model="park")
    it.play("followup a; dispose")

    assert it.play(late) == []
    assert "refused" in it.seen

    it.play("text")
    assert it.play(late) == []
    assert "refused" in it.seen
    assert it.waiting == ([], [])


def test_late_wakes_end_with_the_disposal(stage):
    """
    C-DIS-1, C-WAKE-3: the late message is discarded, so there is no restart.
    """
    it = stage(model="park")

    it.play("followup a; cancel keep; followup late; dispose; text")

    assert it.tells("turn", "disposed") == ["turn 1", "disposed"]


def test_no_turn_starts_when_a_listener_of_the_insertion_disposes(stage):
    """
    C-DIS-1: the wake of a send that is under way comes too late.
    """
    it = stage()
    it.on("agent/inbox/inserted", "dispose")

    assert it.play("followup a") == [
        *("next-turn[0:0]=(a)", "inserted a", "next-turn[0:1]=()!", "discarded a", "disposed", "gone")
    ]


def test_what_an_uncooperative_gate_says_after_the_disposal_only_closes(stage):
    """
    C-DIS-1: the agent is gone when its last turn is.
    """
    it = stage(tool="park")
    it.play("followup a; tools c1=par; dispose")
    assert "disposed" not in it.told

    assert it.play("result")[-5:] == ["close 1.1", "end 1 aborted by disposed", "idle", "disposed", "gone"]


def say(message_id):
    return Message(message_id, "hello", {"kind": "user"})


def test_an_agent_works_under_asyncio_as_it_is():
    """
    C-STAT-1, C-DIS-1: delivery, rest and disposal awaited on a running loop.
    """

    async def model(request):
        await asyncio.sleep(0)
        return Reply(f"answer to {len(request.messages)}")

    async def main():
        agent = Agent(Session("s"), model)
        agent.followup(say("a"))
        agent.steer(say("b"))
        await agent.when_idle()
        texts = [event.text for event in agent.log.events if event.type == "assistant/message"]
        await agent.dispose()
        with pytest.raises(AgentGone):
            agent.followup(say("c"))
        return texts, agent.status

    assert asyncio.run(main()) == (["answer to 1", "answer to 3"], "idle")


def test_a_cancel_reaches_a_model_through_its_signal():
    """
    C-CAN-1: under asyncio too; what was streamed is kept.
    """

    async def main():
        heard = asyncio.Event()

        async def model(request):
            request.stream("so far")
            stopped = asyncio.get_running_loop().create_future()
            request.signal.listen(lambda: stopped.set_result(None))
            heard.set()
            await stopped
            request.signal.check()
            return Reply("never")

        agent = Agent(Session("s"), model)
        agent.followup(say("a"))
        await heard.wait()
        agent.cancel("user")
        await agent.when_idle()
        return [(event.type, getattr(event, "text", None)) for event in agent.log.events][-3:]

    assert asyncio.run(main()) == [("assistant/message", "so far"), ("step/end", None), ("turn/end", None)]
