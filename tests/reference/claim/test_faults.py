"""The deliberate defects: each tells something else than the sound agent where its rule applies."""

from __future__ import annotations

import re

import pytest

from turnproof_reference.driver import Driver
from turnproof_reference.faults.claim import FAULTS

BASIC = ("model", "tool")
ALL = ("pre-step", "model", "tool", "turn-stopping", "request-error")

# fault: (gates that park, how the model's gate takes an abort, schedule, words to look at, what a sound agent tells)
SCENES = {
    "wake-lost-in-discard": (BASIC, "settle", "followup a; park p; cancel", "user", ["user a", "user b"]),
    "late-bit": (BASIC, "park", "followup a; inject i; cancel keep; steer b; remove b; text", "user", ["user a"]),
    "replacement-not-late": (
        *(BASIC, "park", "followup a; cancel keep; followup b; replace b c; text"),
        *("user", ["user a", "user c"]),
    ),
    "inject-wakes": (BASIC, "settle", "inject a", "running", []),
    "duplicate-accepted": (BASIC, "settle", "park a; park a", "inserted", ["inserted a"]),
    "two-prompts-one-turn": (
        *(BASIC, "settle", "followup a; followup b; steer s; text"),
        *("claimed", ["claimed a", "claimed s"]),
    ),
    "prompt-before-context": (BASIC, "settle", "inject i; followup a", "user", ["user i", "user a"]),
    "silent-discard": (BASIC, "settle", "park a; remove a", "discarded", ["discarded a"]),
    "keep-inbox-ignored": (BASIC, "settle", "followup a; park b; cancel keep", "discarded", []),
    "stale-cancel": (BASIC, "settle", "cancel; followup a", "end", []),
    "last-cause-wins": (BASIC, "park", "followup a; cancel parent; cancel; text", "end", ["end 1 aborted by parent"]),
    "runs-after-disposal": (BASIC, "settle", "dispose; followup a", "turn", []),
    "turn-number-reused": (
        *(BASIC, "settle", "followup a; text; resume; followup b"),
        *("turn", ["turn 1", "turn 2"]),
    ),
    "inbox-not-resumed": (BASIC, "settle", "park a; resume; followup b", "claimed", ["claimed a"]),
    "ceiling-ends-turn": (
        *(BASIC, "settle", "followup a; steer s; ceiling; tools c1=par; result"),
        *("step", ["step 1.1", "step 1.2", "step 1.3"]),
    ),
    "steering-waits-for-turn": (BASIC, "settle", "followup a; steer s; text; text", "end", ["end 1 completed"]),
    "rejected-put-back": (ALL, "settle", "followup a; reject; followup b; enter", "user", ["user b"]),
    "canceled-batch-committed": (
        *(("pre-step", "model"), "settle", "followup a; [enter; cancel]; followup b; enter"),
        *("user", ["user b"]),
    ),
    "empty-step": (ALL, "settle", "followup a; enter nothing", "step", []),
    "context-in-batch": (
        *(BASIC, "settle", "followup a; tools c1=par c2=par; result x:tool; result"),
        *(("user", "result"), ["user a", "result c1 ok", "result c2 ok", "user x"]),
    ),
}


# fault: (event, what a listener of it does)
LISTENERS = {"wake-lost-in-discard": ("agent/inbox/discarded", "followup b")}


def played(stage, name, fault=None):
    gates, reaction, script, words, _sound = SCENES[name]
    it = stage(gates, fault, model=reaction)
    if name in LISTENERS:
        it.on(*LISTENERS[name])
    it.play(script)
    return it.tells(*((words,) if isinstance(words, str) else words))


@pytest.mark.parametrize("name", SCENES)
def test_the_sound_agent_keeps_the_rule_of_each_defect(stage, name):
    assert played(stage, name) == SCENES[name][-1]


@pytest.mark.parametrize("name", SCENES)
def test_each_defect_shows(stage, name):
    assert played(stage, name, name) != SCENES[name][-1]


def test_a_restart_lets_nobody_go_unless_that_is_the_defect(stage):
    """
    C-STAT-1: the waiter is registered before the turn that is canceled has ended.
    """
    released = {}
    for fault in (None, "restart-is-idle"):
        it = stage(BASIC, fault, model="park")
        it.play("followup a; cancel keep; followup b; text")
        released[fault] = it.seen["whenIdle"]

    assert released == {None: False, "restart-is-idle": True}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_defect_names_its_rule_and_tells_its_story_in_two_sentences(fault):
    assert re.fullmatch(r"C-[A-Z]+-\d", fault.rule)
    assert len(re.findall(r"\.(?= |$)", fault.story)) == 2
    assert fault.contract == "claim"


def test_an_unknown_defect_is_refused_with_the_list_of_known_ones():
    with pytest.raises(ValueError, match="late-bit"):
        Driver("claim", fault="no-such")
