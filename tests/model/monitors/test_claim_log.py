"""What the monitors of the log and of resume catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.claim_streams import assert_caught, broken, events, stream

IN_STEP = "followup a; enter; "


def test_a_value_that_changed_on_its_way_is_caught():
    """C-LOG-1: the logged value is the accepted one."""
    good = stream("inject i; followup a; enter")

    bad = good.change("user(a)", "user(a=other)"), good.change("user(a)", "user(a=a@plugin)")

    assert_caught("C-LOG-1", good, *bad, also="C-REQ-1")


def test_context_that_poses_as_a_person_is_caught():
    """C-LOG-2: supplementary input is recognised by its source."""
    good = stream("inject i; followup a; enter")

    assert_caught("C-LOG-2", good, good.change("user(i)", "user(i=i@user)"), also="C-LOG-1")


def test_a_second_type_for_context_is_caught():
    """C-LOG-2: there is no context/message."""
    good = stream("inject i; followup a; enter")

    assert_caught("C-LOG-2", good, good.put("plugin:context/message", after="user(a)"))


def test_a_plugin_event_is_legal_anywhere():
    """C-LOG-2: other types belong to plugins."""
    good = stream("inject i; followup a; enter; tools c1:par; result")

    assert broken(good.put("plugin:note", after="call(c1)")) == set()


def test_an_inbox_that_is_not_rebuilt_is_caught():
    """C-LOG-3: the lists come back from the splices, in order."""
    good = stream(IN_STEP + "[inject i; inject j; quiet p]; resume crash")

    assert_caught("C-LOG-3", good, good.show(step="j i"), also="C-EDIT-2")
    assert_caught("C-LOG-3", good, good.show(turn=""), also="C-EDIT-2 C-CLAIM-4")


def test_a_resumed_agent_that_starts_by_itself_is_caught():
    """C-LOG-3: pending input stays pending."""
    good = stream(IN_STEP + "followup b; resume crash")
    bad = good.show(status="running", when_idle=False)

    assert_caught("C-LOG-3", good, bad)


def test_a_repair_that_is_none_is_caught():
    """C-LOG-3: an open turn is closed as interrupted, and each open call gets one error."""
    good = stream(IN_STEP + "tools c1:par; resume crash")
    told = "result(c1:ABORTED) step-end(1.1) end(1,interrupted)"
    shown = good.show(events=tuple(events(told)))
    bad = (
        good.show(events=tuple(events(told.replace("interrupted", "completed")))),
        good.show(events=tuple(events(told.replace(":ABORTED", "")))),
        good.show(events=tuple(events(told.replace("step-end", "result(c1:ABORTED) step-end")))),
    )

    assert good.turns[-1][1].events == ()
    assert_caught("C-LOG-3", shown, *bad)


def test_a_resumed_agent_that_begins_anew_is_caught():
    """C-LOG-4: numbers go on, and so does the history."""
    good = stream(IN_STEP + "text; stop; resume crash; followup b; enter")
    bad = good.change("turn(2)", "turn(1)").change("claimed(b,2)", "claimed(b,1)").change("step(2.1)", "step(1.1)")
    short = good.change("request(a,>reply,b)", "request(b)")

    assert_caught("C-LOG-4", good, bad, also="C-TURN-1")
    assert_caught("C-LOG-4", good, short, also="C-REQ-1")
