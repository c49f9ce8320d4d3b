"""Edits of what waits, and commands from inside the publication of an event."""

from __future__ import annotations

import pytest

from turnproof_reference.claim import Agent, LogIsPublishing
from turnproof_reference.claim.events import InboxSpliced, MessageInserted
from turnproof_reference.driver import quiet_loop
from turnproof_reference.messages import NEXT_STEP, NEXT_TURN, Message
from turnproof_reference.model import Reply
from turnproof_reference.session import Session


def test_a_replacement_takes_the_same_place(stage):
    """
    C-EDIT-1: one splice with outcome canceled, old discarded, new inserted.
    """
    it = stage()
    it.play("park a; park b; park c")

    assert it.play("replace b d") == ["next-turn[1:2]=(d)!", "discarded b", "inserted d"]
    assert it.seen["answer"] is True
    assert it.waiting == (["a", "d", "c"], [])


def test_a_removal_discards(stage):
    """
    C-EDIT-1, C-CLAIM-4: one splice with outcome canceled, then discarded.
    """
    it = stage()
    it.play("inject a; inject b")

    assert it.play("remove a") == ["next-step[0:1]=()!", "discarded a"]
    assert it.seen["answer"] is True


@pytest.mark.parametrize("edit", ["remove a", "replace a b"])
def test_an_edit_of_a_claimed_message_answers_no_and_changes_nothing(stage, edit):
    """
    C-EDIT-1: it isn't pending any more.
    """
    it = stage()
    it.play("followup a")

    assert it.play(edit) == []
    assert it.seen["answer"] is False
    assert it.waiting == ([], [])


def test_a_prepended_message_comes_first_and_wakes_nobody(stage):
    """
    C-EDIT-2, C-WAKE-2: an edit at position 0.
    """
    it = stage()
    it.play("inject a")

    assert it.play("prepend next-step b") == ["next-step[0:0]=(b)", "inserted b"]
    assert (it.waiting, it.seen["status"]) == (([], ["b", "a"]), "idle")


@pytest.mark.parametrize("command", ["followup b", "inject b", "prepend next-turn b", "cancel", "dispose", "remove i"])
def test_a_command_that_would_log_is_refused_inside_a_durable_event(stage, command):
    """
    C-EDIT-2, C-DIS-1: refused as a whole, so the turn goes on and what waits goes on waiting.
    """
    it = stage()
    it.play("inject i; followup a; inject j; followup k")
    it.on("assistant/message", command.replace(" i", " j"))

    told = it.play("tools c1=par")

    assert told == ["answer c1", f"refused {command.split()[0]}", "call c1", "open tool"]
    assert it.waiting == (["k"], ["j"])
    assert it.play("followup z") == ["next-turn[1:1]=(z)", "inserted z"]


@pytest.mark.parametrize(("command", "cause"), [("cancel", "user"), ("cancel keep", "user"), ("dispose", "disposed")])
def test_a_command_that_needs_no_entry_works_inside_a_durable_event(stage, command, cause):
    """
    C-EDIT-2: with nothing to discard a cancel and a disposal only abort.
    """
    it = stage()
    it.on("step/start", command)

    assert it.play("followup a")[6:10] == ["step 1.1", "user a", "close 1.1", f"end 1 aborted by {cause}"]


def test_a_keeping_cancel_works_inside_a_durable_event_with_input_pending(stage):
    """
    C-EDIT-2, C-CAN-2: it discards nothing, so it needs no entry.
    """
    it = stage()
    it.play("followup a; followup b")
    it.on("step/end", "cancel keep")

    assert it.play("text") == ["answer", "close 1.1", "end 1 aborted by user", "idle"]
    assert it.waiting == (["b"], [])


@pytest.mark.parametrize("edit", ["remove gone", "replace gone b"])
def test_an_edit_that_finds_nothing_is_not_refused_inside_a_durable_event(stage, edit):
    """
    C-EDIT-2: no change, no refusal.
    """
    it = stage()
    it.on("turn/start", edit)

    it.play("followup a")

    assert it.tells("refused", "user") == ["user a"]
    assert "answer" not in it.seen, "only an edit asked by itself is answered in the observation"


def idle_agent():
    async def model(_request):
        return Reply("done")

    return Agent(Session("s"), model, loop=quiet_loop())


def say(message_id):
    return Message(message_id, "hello", {"kind": "user"})


def test_a_listener_of_a_splice_sees_the_old_lists_and_one_of_the_insertion_the_new():
    """
    C-EDIT-2: durable before the change, live after it.
    """
    agent = idle_agent()
    seen = []
    agent.events.subscribe(lambda event: seen.append((event.type, [each.id for each in agent.inbox.next_step])))

    agent.inject(say("a"))

    assert seen == [("agent/inbox/spliced", []), ("agent/inbox/inserted", ["a"])]


def test_the_splices_give_the_inbox_at_every_event():
    """
    C-EDIT-2: replayed from nothing, start and count always in range.
    """
    agent = idle_agent()
    lists = {"next-turn": [], "next-step": []}

    def follow(event):
        if isinstance(event, InboxSpliced):
            target = lists[event.target]
            assert 0 <= event.start <= event.start + event.removed_count <= len(target)
            target[event.start : event.start + event.removed_count] = event.inserted
        elif not event.durable:
            assert (tuple(lists["next-turn"]), tuple(lists["next-step"])) == (
                agent.inbox.next_turn,
                agent.inbox.next_step,
            )

    agent.events.subscribe(follow)
    agent.inject(say("a"))
    agent.inject(say("b"))
    agent.inbox.prepend(NEXT_STEP, say("c"))
    agent.inbox.replace("a", say("d"))
    agent.inbox.remove("b")
    agent.inbox.prepend(NEXT_TURN, say("p"))

    assert [len(agent.inbox.next_turn), len(agent.inbox.next_step)] == [1, 2]


def test_every_listener_hears_of_an_event_before_another_one_answers_it():
    """
    C-EDIT-2: a second listener of a live event isn't taken for one of the durable event that the first one caused.
    """
    agent = idle_agent()
    heard = []

    def first(event):
        if isinstance(event, MessageInserted) and event.message.id == "a":
            agent.inject(say("b"))

    def second(event):
        heard.append(event.type.rpartition("/")[2])
        if isinstance(event, MessageInserted) and event.message.id == "a":
            agent.inject(say("c"))

    agent.events.subscribe(first)
    agent.events.subscribe(second)

    agent.inject(say("a"))

    assert [each.id for each in agent.inbox.next_step] == ["a", "c", "b"]
    assert heard == ["spliced", "inserted"] * 3


def test_the_refusal_names_the_command_and_what_to_do():
    """
    C-EDIT-2: an error that a caller can act on.
    """
    agent = idle_agent()
    refusals = []

    def listener(event):
        if isinstance(event, InboxSpliced):
            with pytest.raises(LogIsPublishing) as caught:
                agent.inject(say("b"))
            refusals.append(caught.value)

    agent.events.subscribe(listener)
    agent.inject(say("a"))

    (refusal,) = refusals
    assert refusal.command == "send"
    assert "listener of a live event" in str(refusal)
