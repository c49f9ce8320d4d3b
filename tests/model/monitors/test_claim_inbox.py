"""What the monitors of delivery and of inbox edits catch, each beside a lawful stream."""

from __future__ import annotations

from claim_notation import person
from model.monitors.claim_streams import assert_caught, broken, judge, sentences, stream

from turnproof_model import vocabulary as v

IN_STEP = "followup a; enter; "


def test_a_preset_that_names_another_list_is_caught():
    """C-SEND-1: a steer goes where a send of its target goes."""
    good = stream("inject d; steer b")
    bad = good.change("next-step[1]+b", "next-turn[0]+b").change("next-step[0]-2", "next-step[0]-1 next-turn[0]-1")

    assert_caught("C-SEND-1", good, bad, also="C-SEND-2")


def test_another_id_than_the_callers_is_caught():
    """C-SEND-1: the caller's id is the message's everywhere."""
    good = stream(IN_STEP + "inject d")
    bad = good.change("next-step[0]+d", "next-step[0]+d2").change("inserted(d)", "inserted(d2)").show(step="d2")

    assert_caught("C-SEND-1", good, bad, also="C-SEND-2")


def test_a_steer_into_an_aborted_turn_may_join_the_prompts():
    """C-SEND-1: the exception of an aborted activity."""
    moved = stream("reset pre-step model!; followup a; enter; cancel keep; steer s")

    assert "next-turn[0]+s" in moved.tokens
    assert broken(moved) == set()


def test_a_send_into_another_list_is_caught():
    """C-SEND-2: the list is the one that the send names."""
    good = stream(IN_STEP + "steer s; quiet p")
    bad = good.change("next-turn[0]+p", "next-step[1]+p").show(turn="", step="s p")

    assert_caught("C-SEND-2", good, bad)


def test_a_send_beside_one_that_was_refused_is_not_taken_for_it():
    """C-SEND-1, C-SEND-2: where one of the two was refused, the stream doesn't tell which of them entered."""
    quiet = "quiet a; [quiet d; quiet a; steer e; inject a]"
    deferred = "on agent/inbox/claimed +1 { inject a }; [followup f; quiet a]"

    assert broken(stream(quiet)) == broken(stream(deferred)) == set()


def test_a_send_in_the_name_of_a_reference_is_not_taken_for_it():
    """C-SEND-1, C-SEND-2: it names its list, and a reference enters either."""
    assert broken(stream("steer m; on agent/inbox/inserted { inject r; cancel }; reference r s")) == set()


def test_what_is_deferred_may_come_behind_a_refusal():
    """C-CLAIM-3: the refusal may be another's, and then its id enters anew."""
    told = stream("on agent/inbox/inserted #2 +2 { steer e }; steer e; [steer d; steer d]")

    assert broken(told) == set()


def test_a_refusal_is_not_that_of_a_send_beside_it_whose_message_entered():
    """C-SEND-2, C-SEND-4: the other was refused, and what is replaced by then may be sent anew."""
    woken = "steer w; on agent/status { inject z }; cancel keep; [inject a; inject z; replace z b; steer z]"

    assert broken(stream(woken)) == set()


def test_what_is_deferred_may_come_when_its_id_is_not_pending_any_more():
    """C-CLAIM-3: of two sends the other was refused, and this one enters behind the claim."""
    armed = "reset pre-step model; on assistant/message { quiet e }; on assistant/message +1 { quiet i }; "

    assert broken(stream(armed + "followup h; enter; steer i; text")) == set()


def test_a_replacement_is_that_of_what_it_takes_the_place_of():
    """C-CLAIM-3: one before it in the stack finds nothing to replace any more."""
    twice = "followup b; followup b; prepend next-step d; [prepend next-turn d; remove d; replace d b; replace b b]"

    assert broken(stream(twice)) == set()


def test_a_send_is_told_from_a_deferred_one_of_its_id():
    """C-SEND-2, C-SEND-4: what stands in the stack comes first, and the other wakes an agent later."""
    twice = "reset tool request-error; on agent/inbox/inserted +2 { steer y }; [followup j; inject y]"

    assert broken(stream(twice)) == set()


def test_what_an_idle_listener_sends_may_come_behind_a_refusal():
    """C-CLAIM-3: the loop runs in the stack of its first send, and what is refused is its second."""
    armed = "on agent/status status=idle { followup h; followup h }; steer i; followup f; on agent/status #2 "

    assert broken(stream(f"{armed} {{ followup i }}; enter -")) == set()


def test_a_send_that_jumps_the_list_is_caught():
    """C-SEND-2: a send appends."""
    good = stream(IN_STEP + "steer s; inject i")

    assert_caught("C-SEND-2", good, good.change("next-step[1]+i", "next-step[0]+i").show(step="i s"))


def test_an_insertion_that_is_not_announced_once_is_caught():
    """C-SEND-2: one live event follows each insertion."""
    good = stream(IN_STEP + "steer s; inject i")

    assert_caught("C-SEND-2", good, good.without("inserted(i)"), good.put("inserted(i)", after="inserted(i)"))


def test_a_send_that_vanishes_is_caught():
    """C-SEND-2: what isn't refused enters."""
    good = stream(IN_STEP + "steer s; inject i")

    assert_caught("C-SEND-2", good, good.without("next-step[1]+i", "inserted(i)").show(step="s"))


def test_a_pending_id_that_enters_again_is_caught():
    """C-SEND-3: no id is pending twice."""
    good = stream(IN_STEP + "inject b; inject b")
    bad = stream(IN_STEP + "inject b").then(v.inject(person("b")), "next-step[1]+b inserted(b)").show(step="b b")

    assert_caught("C-SEND-3", good, bad)


def test_a_refusal_without_a_reason_is_caught():
    """C-SEND-3: an id that has left the inbox may be used again."""
    good = stream(IN_STEP + "inject b; inject b")
    bad = stream(IN_STEP + "text; stop").then(v.followup(person("a")), refused="known")

    assert_caught("C-SEND-3", good, bad)


def test_a_refusal_that_changes_the_inbox_is_caught():
    """C-SEND-3: a refusal changes nothing."""
    good = stream(IN_STEP + "inject b; inject b")
    again = stream(IN_STEP + "inject b").then(v.inject(person("b")), "next-step[0]-1! discarded(b)", refused="pending")

    assert_caught("C-SEND-3", good, again.show(step=""))


def test_a_tool_that_brings_a_pending_id_along_fails_its_turn():
    """C-SEND-3: a tool's context of a pending id is refused like any other message."""
    good = stream(IN_STEP + "tools c1:par; inject y; result +y")
    bad = good.change("end(1,error)", "end(1,completed)").without("error(1.1)")

    assert_caught("C-SEND-3", good, bad, also="C-STEP-4")


def test_a_claim_that_leaves_input_behind_is_caught():
    """C-CLAIM-1: a boundary takes the whole of next-step."""
    good = stream("[inject i; inject j]; followup a")
    bad = good.change("next-step[0]-2", "next-step[0]-1").without("claimed(j,1)").show(step="j")

    assert_caught("C-CLAIM-1", good, bad)


def test_a_claim_without_its_prompt_is_caught():
    """C-CLAIM-1: the first boundary takes a prompt as well."""
    good = stream("inject i; followup a; enter")
    bad = (
        good.without("next-turn[0]-1", "claimed(a,1)", "user(a)")
        .change("request(i,a)", "request(i)")
        .show(at=2, turn="a")
        .show(turn="a")
    )

    assert_caught("C-CLAIM-1", good, bad)


def test_a_prompt_that_is_claimed_before_context_is_caught():
    """C-CLAIM-1: next-step first, then the prompt."""
    good = stream("inject i; followup a")
    bad = good.swap("next-step[0]-1", "next-turn[0]-1").swap("claimed(i,1)", "claimed(a,1)")

    assert_caught("C-CLAIM-1", good, bad)


def test_a_prompt_out_of_its_turn_is_caught():
    """C-CLAIM-1: the head of the list is next."""
    good = stream("quiet p; followup a")
    bad = good.change("next-turn[0]-1", "next-turn[1]-1").change("claimed(p,1)", "claimed(a,1)").show(turn="p")

    assert_caught("C-CLAIM-1", good, bad)


def test_a_decision_about_a_batch_in_another_order_is_caught():
    """C-CLAIM-1: the batch stands in the order of the claim."""
    good = stream("inject i; followup a")
    gate = good.turns[-1][1].gates[0]
    turned = type(gate)(gate.id, gate.kind, claimed=("a", "i"), turn=1, step=1)

    assert_caught("C-CLAIM-1", good, good.show(gates=(turned,)))


def test_a_claim_with_an_outcome_or_an_insertion_is_caught():
    """C-CLAIM-2: a claim is pure deletion."""
    good = stream("followup a; enter; text")
    bad = good.change("next-turn[0]-1", "next-turn[0]-1+b").show(at=1, turn="b").show(at=2, turn="b").show(turn="b")

    assert_caught("C-CLAIM-2", good, bad.put("inserted(b)", after="claimed(a,1)"), also="C-SEND-1")


def test_a_claim_outside_a_turn_is_caught():
    """C-CLAIM-2: turn/start precedes the first claim."""
    good = stream("followup a")

    assert_caught("C-CLAIM-2", good, good.swap("turn(1)", "next-turn[0]-1"), also="C-CLAIM-1")


def test_a_claim_that_is_announced_wrongly_is_caught():
    """C-CLAIM-2: one live event per message, in batch order, with the number of the turn."""
    good = stream("inject i; followup a; enter")
    bad = (
        good.swap("claimed(i,1)", "claimed(a,1)"),
        good.without("claimed(a,1)"),
        good.change("claimed(a,1)", "claimed(a,2)"),
    )

    assert_caught("C-CLAIM-2", good, *bad)


def test_a_claimed_message_that_is_put_back_is_caught():
    """C-CLAIM-3: a claimed message never returns."""
    good = stream("followup a; reject")
    bad = good.put("next-turn[0]+a inserted(a)", after="end(1,blocked)").show(turn="a")

    assert_caught("C-CLAIM-3", good, bad)


def test_a_late_arrival_that_is_entered_at_once_is_caught():
    """C-CLAIM-3: what arrives after the claim waits for the next boundary."""
    good = stream("followup a; inject i; enter")
    bad = good.put("user(i)", after="user(a)").change("request(a)", "request(a,i)")

    assert_caught("C-CLAIM-3", good, bad, also="C-PRE-1")


def test_a_message_that_leaves_silently_is_caught():
    """C-CLAIM-4: a discard is announced, once, and what didn't leave is pending."""
    good = stream(IN_STEP + "[inject i; quiet p]; remove i")
    bad = (
        good.without("discarded(i)"),
        good.put("discarded(i)", after="discarded(i)"),
    )

    assert_caught("C-CLAIM-4", good, *bad)
    assert_caught("C-CLAIM-4", good, good.show(turn=""), good.show(step="i"), also="C-EDIT-2")


def test_an_edit_that_misses_its_place_is_caught():
    """C-EDIT-1: replace swaps in place."""
    good = stream(IN_STEP + "[inject i; inject j]; replace i k")
    bad = good.change("next-step[0]-1+k!", "next-step[0]-1! next-step[1]+k").show(step="j k")

    assert_caught("C-EDIT-1", good, bad)


def test_an_edit_that_lies_about_what_it_did_is_caught():
    """C-EDIT-1: the answer says whether the message was still pending."""
    good = stream(IN_STEP + "inject i; remove i")

    assert_caught("C-EDIT-1", good, good.show(answer=False))
    assert_caught("C-EDIT-1", good, stream(IN_STEP + "remove a").show(answer=True))


def test_an_edit_that_does_nothing_is_caught():
    """C-EDIT-1: a pending message is touched."""
    good = stream(IN_STEP + "inject i; remove i")

    assert_caught("C-EDIT-1", good, good.without("next-step[0]-1!", "discarded(i)").show(step="i"))


def test_a_splice_that_reaches_beyond_its_list_is_caught():
    """C-EDIT-2: start and count lie inside the list."""
    good = stream(IN_STEP + "inject i; remove i")

    assert_caught("C-EDIT-2", good, good.change("next-step[0]-1!", "next-step[0]-2!"), also="C-EDIT-1")


def test_lists_that_the_splices_do_not_replay_to_are_caught():
    """C-EDIT-2: the splices are the inbox."""
    good = stream(IN_STEP + "[inject i; inject j]")

    assert_caught("C-EDIT-2", good, good.show(step="j i"))


def test_a_finding_names_who_did_what_instead_of_what():
    """A violation is one sentence with the events involved."""
    bad = stream(IN_STEP + "steer s; inject i").change("next-step[1]+i", "next-step[0]+i").show(step="i s")
    [violation] = [violation for violation in judge(bad).violations if violation.rule == "C-SEND-2"]

    assert list(sentences(bad, "C-SEND-2")) == ["i entered next-step at 0, not at the end, 1"]
    assert violation.request == 4
    assert [bad.tokens[place] for place in violation.events] == ["next-step[0]+i"]
