"""What the monitors of admissions catch, each beside a lawful stream."""

from __future__ import annotations

from model.monitors.streams import assert_caught, broken, stream

from turnproof_model import vocabulary as v

STAGED = "followup a; steer s; inject i; block; "


def test_two_prompts_claimed_at_once_are_caught():
    """W-ADM-1: one admission claims one prompt."""
    good = stream("[followup a; followup b]")
    two = (*stream("followup a").turns[1][1].gates, *stream("followup a; block; followup b").turns[3][1].gates)
    bad = good.put("-b queued", after="-a queued").show(queue="", gates=two)

    assert "W-ADM-1" in broken(bad)
    assert_caught("W-ADM-1", good)


def test_a_hook_asked_about_another_prompt_is_caught():
    """W-ADM-1: the claimed prompt is the one that is asked about."""
    good = stream("[followup a; followup b]")
    other = stream("followup b").turns[1][1].gates

    assert_caught("W-ADM-1", good, good.show(gates=other), good.show(gates=()))


def test_an_admission_at_idle_is_caught():
    """W-ADM-1: the status is running until the admission ends."""
    good = stream("followup a")
    bad = good.without("running").show(status="idle")

    assert_caught("W-ADM-1", good, bad)


def test_a_turn_opened_before_its_admission_is_decided_is_caught():
    """W-ADM-2: prompt-submit runs before any turn exists."""
    good = stream("followup a; allow")
    bad = stream("followup a").put("turn 1", after="-a queued")

    assert_caught("W-ADM-2", good, bad, also="W-ADM-1")


def test_a_prompt_written_before_its_turn_is_caught():
    """W-ADM-2: nothing of the prompt is in the log until its turn opens."""
    good = stream("followup a; allow")
    bad = good.swap("turn 1", "user a")

    assert "W-ADM-2" in broken(bad)
    assert_caught("W-ADM-2", good)


def test_a_turn_without_an_admission_is_caught():
    """W-ADM-2: a turn is opened by an allowed prompt or a retry."""
    good = stream("followup a; allow")
    bad = stream("inspect").then(v.Inspect(), "turn 1", "turn 1 completed", "settled 1 completed")

    assert "W-ADM-2" in broken(bad)
    assert_caught("W-ADM-2", good)


def test_a_turn_that_opens_in_another_order_is_caught():
    """W-ADM-3: what was retained, the prompt, its contexts, what came meanwhile."""
    good = stream(STAGED + "followup b; inject j; allow +h")
    bad = (
        good.swap("user i", "user b"),
        good.swap("user b", "user h"),
        good.swap("user h", "user j"),
        good.move("user j", after="step 1.1"),
    )

    for told in bad:
        assert "W-ADM-3" in broken(told)
    assert_caught("W-ADM-3", good)


def test_a_decision_that_changes_more_than_content_is_caught():
    """W-ADM-4: the source stays, and a context keeps its own."""
    good = stream("followup a; allow new +h")
    bad = (
        good.change("user a as 'new'", "user a"),
        good.change("user h", "user h as other"),
        good.change("user h", "user h from user"),
    )

    assert_caught("W-ADM-4", good, *bad, also="W-ADM-9 W-LOG-1 W-REQ-1 W-LOG-2")


def test_context_of_the_same_id_as_the_prompt_is_not_taken_for_it():
    """W-ADM-4: only ids are told apart, and retained context is written first, as it is."""
    told = stream(
        "followup o; followup q; on agent/inbox/enqueue +1 { inject q; throw prompt-submit }; steer r; allow new"
    )

    assert broken(told) == set()


def test_context_of_the_decision_may_have_the_id_of_its_prompt_and_of_what_is_retained():
    """W-ADM-4: which of the three is written can't be told."""
    thrice = "steer a; steer a; on agent/inbox/enqueue +2 { inject a; throw prompt-submit }; followup a; allow new +a"

    assert broken(stream(thrice, picks=(1,) * 8)) == set()


def test_an_id_that_is_staged_again_before_the_first_step_is_not_owed_to_it():
    """W-ADM-3: what came during the admission was written; its id may be used again while the step is held."""
    held = "followup a; steer h; allow; steer i; on agent/inbox/dequeue id=i { inject h }; hook"

    assert broken(stream("reset prompt-submit step model; " + held)) == set()


def test_a_blocked_prompt_that_is_written_is_caught():
    """W-ADM-5: neither the prompt nor its contexts, ever."""
    good = stream("followup a; block +h; followup b; allow; text; stop")
    bad = (
        good.put("user a", after="user b").change("request b", "request b a"),
        good.put("user h", after="user b").change("request b", "request b h"),
    )

    for told in bad:
        assert "W-ADM-5" in broken(told)
    assert_caught("W-ADM-5", good)


def test_a_snapshot_may_bear_the_id_of_a_rejected_context():
    """W-ADM-5: what a listener sent at a moment that isn't shown is admitted by itself."""
    late = "reset prompt-submit step flush; on agent/error +2 { reference m n }; "

    assert broken(stream(late + "[followup a; followup b]; allow; throw step; saved; block +n; allow")) == set()


def test_context_that_was_staged_before_may_bear_the_id_of_a_rejected_one():
    """W-ADM-5: it is appended though a disposal comes amid."""
    staged = "followup i; allow; on user/message { dispose }; [cancel; inject k; inject l]; followup m; block +l"

    assert broken(stream(staged)) == set()


def test_a_turn_for_a_failed_admission_is_caught():
    """W-ADM-5: it opens no turn."""
    good = stream("followup a; throw prompt-submit")
    bad = stream("followup a; allow").ask(v.Release(v.Throw(), kind="prompt-submit"), at=2)

    assert_caught("W-ADM-5", good, bad)


def test_context_left_staged_by_a_rejection_is_caught():
    """W-ADM-6: alone it is appended at once, in order."""
    good = stream("followup a; inject i; inject j; block")
    late = good.without("user i").without("user j").show(staged="i j")

    assert_caught("W-ADM-6", good, late, good.swap("user i", "user j"))


def test_context_appended_beside_retained_steering_is_caught():
    """W-ADM-7: steering and the context beside it stay staged together."""
    good = stream(STAGED)
    bad = good.put("user i", before="idle").show(staged="s")

    assert_caught("W-ADM-7", good, bad)


def test_steering_that_leaves_with_a_rejection_is_caught():
    """W-ADM-7: nothing leaves the outbox until a turn takes it."""
    good = stream(STAGED)
    bad = good.put("-s steering", before="idle").put("steering s", after="-s steering").show(staged="i")

    assert_caught("W-ADM-7", good, bad, also="W-ADM-6 W-TURN-2")


def test_an_agent_that_stops_behind_a_rejection_is_caught():
    """W-ADM-8: it serves the next prompt or goes idle."""
    good = stream("[followup a; quiet q]; block")
    bad = good.without("idle").show(status="running", when_idle=False)

    assert_caught("W-ADM-8", good, bad)


def test_an_agent_that_has_served_the_next_prompt_and_waits_again_has_gone_on():
    """W-ADM-8: the next prompt is admitted inside the opening of its gate, and its turn waits for a checkpoint."""
    gates = "reset prompt-submit request-error flush; "
    told = stream(gates + "followup a; followup b; on gate:prompt-submit { allow }; block")

    assert broken(told) == set()


def test_a_decision_that_arrives_in_part_is_caught():
    """W-ADM-9: all of the inner decision reaches the turn."""
    good = stream("followup a; allow new +h +k")
    bad = good.without("user k").change("request a h k", "request a h")

    assert_caught("W-ADM-9", good, bad, also="W-ADM-3")
