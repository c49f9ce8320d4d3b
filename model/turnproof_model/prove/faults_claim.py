"""
List faults of contract ``claim``: one change of the rules each, and the rule that must fail.
"""

from __future__ import annotations

from turnproof_model.prove.faults import Fault, fault

COMMANDS, STATE, LOOP, STEPS, TOOLS = "claim_commands", "claim_state", "claim", "claim_steps", "claim_tools"

FAULTS: tuple[Fault, ...] = (
    # ---------------------------------------------------------------------------------------- the inbox
    fault(
        *("inserted-in-front", "C-EDIT-2", "a message that is logged at the end is put in front", STATE),
        *("(queue.size, queue.push(item))", "(queue.size, queue.unshift(item))"),
    ),
    fault(
        *("start-of-insertion", "C-SEND-2", "a message is inserted in front of the list that it names", STATE),
        *("(queue.size, queue.push(item))", "(0, queue.unshift(item))"),
    ),
    fault(
        *("wrong-list", "C-EDIT-2", "the two lists are mixed up", STATE),
        *('return s.next_turn if target == "next-turn" else s.next_step',),
        'return s.next_step if target == "next-turn" else s.next_turn',
    ),
    fault(
        *("pending-id-accepted", "C-SEND-3", "an id that is pending is accepted once more", STATE),
        *("if all_pending(s).has(message_id):", "if s.next_step.has(message_id):"),
    ),
    fault(
        *("silent-insertion", "C-CLAIM-4", "an insertion has no live event", STATE),
        'm.publish(Inserted(item.id), *rules, "C-SEND-2")',
        "m.cite(*rules)",
    ),
    fault(
        *("silent-discard", "C-CLAIM-4", "a discarded list has no live events", STATE),
        'm.each(dropped, lambda item: Discarded(item.id), *rules, "C-CLAIM-4")',
        'm.cite("C-CLAIM-4")',
    ),
    fault(
        *("half-discard", "C-CAN-1", "a cancel says that it discards one message of many", STATE),
        *('Spliced(target, start, dropped.size, (), "canceled")', 'Spliced(target, start, 1, (), "canceled")'),
    ),
    fault(
        *("discard-not-made", "C-EDIT-2", "what a discard logs isn't done", STATE),
        *('(), "canceled"), EMPTY, *rules)', '(), "canceled"), dropped, *rules)'),
    ),
    fault(
        *("removed-by-wrong-place", "C-EDIT-1", "a removal logs the head in the place of its message", COMMANDS),
        *("logged_at(m, s, target, queue.index(op.id)), 1, (), ", "logged_at(m, s, target, 0), 1, (), "),
    ),
    fault(
        *("removal-not-announced", "C-CLAIM-4", "a removal has no live event", COMMANDS),
        'm.publish(Discarded(op.id), "C-EDIT-1", "C-CLAIM-4")\n    m.cite',
        "m.cite",
    ),
    fault(
        *("prepend-appends", "C-EDIT-2", "a message that is to come first comes last", COMMANDS),
        *('"C-EDIT-2", *_meanwhile(s), ahead=True)', '"C-EDIT-2", *_meanwhile(s))'),
    ),
    # ---------------------------------------------------------------------------------------- sends, waking
    fault(
        *(
            "late-wake-keeps-its-list",
            "C-SEND-2",
            "waking input joins next-step although the activity is aborted",
            COMMANDS,
        ),
        'joins: Target = "next-turn" if running(s) and s.cause is not None else target',
        "joins: Target = target",
    ),
    fault(
        *("quiet-input-wakes", "C-SEND-4", "a quiet send starts the driver", COMMANDS),
        *(
            "    if not item.waking:\n        insert(m, s, item, target",
            "    if item.late:\n        insert(m, s, item, target",
        ),
    ),
    fault(
        *("wake-without-driver", "C-WAKE-1", "a waking send to an idle agent starts nothing", COMMANDS),
        *('if not running(s) and s.life == "live":', 'if not running(s) and s.life == "gone":'),
    ),
    fault(
        *("lateness-forgotten", "C-WAKE-3", "waking input sent after a cancel isn't late", COMMANDS),
        *("item if not late else _as_late(item)", "item"),
    ),
    fault(
        *("everything-is-late", "C-WAKE-3", "waking input sent to a running turn is late", STATE),
        's.cause is not None or s.discarding > 0 or s.at in {"ended", "stop"}',
        's.cause is not None or s.discarding > 0 or s.at != "idle"',
    ),
    fault(
        *("no-restart", "C-WAKE-3", "late input doesn't restart the driver", LOOP),
        *('if s.at == "idle" and s.life == "live":', 'if s.at == "idle" and s.life == "gone":'),
    ),
    fault(
        *("restart-after-disposal", "C-DIS-1", "late input restarts a driver that is disposed of", LOOP),
        *('if s.at == "idle" and s.life == "live":', 'if s.at == "idle":'),
    ),
    # ---------------------------------------------------------------------------------------- cancel, dispose
    fault(
        *("keep-forgotten", "C-CAN-2", "a cancel that is to keep the inbox discards it", COMMANDS),
        *("if op.keep_inbox:", "if op.keep_inbox and s.disposals < 0:"),
    ),
    fault(
        *("cancel-keeps-next-turn", "C-CAN-1", "a cancel leaves next-turn alone", COMMANDS),
        *('discard_list(m, s, "next-turn", *rules)', "m.cite(*rules)"),
    ),
    fault(
        *("next-turn-discarded-first", "C-CAN-1", "a cancel discards next-turn before next-step", COMMANDS),
        'discard_list(m, s, "next-step", *rules)\n    discard_list(m, s, "next-turn", *rules)',
        'discard_list(m, s, "next-turn", *rules)\n    discard_list(m, s, "next-step", *rules)',
    ),
    fault(
        *("last-cause-wins", "C-CAN-1", "a later cause takes the place of the first", STATE),
        *("if s.cause is None:\n        s.cause = cause", "if s.life:\n        s.cause = cause"),
    ),
    fault(
        *("parent-as-user", "C-CAN-1", "a cancel by the parent counts as one by the user", COMMANDS),
        *("abort(m, s, op.cause)", 'abort(m, s, "user")'),
    ),
    fault(
        *("disposal-doesnt-abort", "C-DIS-1", "a disposal lets the activity go on", COMMANDS),
        *('abort(m, s, "disposed")', 'm.cite("C-DIS-1")'),
    ),
    fault(
        *("turn-after-cancel", "C-CAN-1", "a cancel before turn/start doesn't stop the driver", LOOP),
        *('if s.cause is not None:\n        s.at = "stop"', 'if not s.life:\n        s.at = "stop"'),
    ),
    # ---------------------------------------------------------------------------------------- claim, pre-step
    fault(
        *("claim-after-cancel", "C-CAN-5", "a claim begins although the activity is aborted", STEPS),
        *(
            'if s.cause is not None:\n        s.at = "end"\n        return\n    taken',
            "if not s.life:\n        return\n    taken",
        ),
    ),
    fault(
        *("prompt-at-every-boundary", "C-TURN-3", "every boundary claims a prompt", STEPS),
        *("s.prompt = s.next_turn.head() if s.step == 0 else EMPTY", "s.prompt = s.next_turn.head()"),
    ),
    fault(
        *("prompt-claimed-first", "C-CLAIM-2", "a batch has its prompt in front", STEPS),
        *("s.claimed = s.due = taken.join(s.prompt)", "s.claimed = s.due = s.prompt.join(taken)"),
    ),
    fault(
        *("claim-not-announced", "C-CLAIM-2", "claimed messages have no live events", STEPS),
        'm.publish(Claimed(item.id, s.turn), "C-CLAIM-2", "C-CLAIM-1", "C-CLAIM-4")',
        'm.cite("C-CLAIM-2")',
    ),
    fault(
        *("claim-stays-pending", "C-EDIT-2", "claimed next-step input stays in its list", STEPS),
        *("s.next_step = s.next_step if m.has(REENTRY) else EMPTY", 'm.cite("C-CLAIM-3")'),
    ),
    fault(
        *("asked-after-cancel", "C-CAN-4", "pre-step is asked although a cancel came after the claim", STEPS),
        *('if s.cause is not None:\n        s.at = "end"\n        return\n    s.at = "decided"', 's.at = "decided"'),
    ),
    fault(
        *("empty-step", "C-PRE-3", "an empty batch opens a step although nothing is owed", STEPS),
        *('s.at = "enter" if s.owes else "end"', 's.at = "enter"'),
    ),
    fault(
        *("step-after-cancel", "C-CAN-4", "a step opens although a cancel came before it", STEPS),
        *('if s.cause is not None:\n        s.due, s.at = EMPTY, "end"\n        return\n    ', ""),
    ),
    # ---------------------------------------------------------------------------------------- turns, steps, tools
    fault(
        *("turn-number-reused", "C-TURN-1", "a turn has the number of the one before", LOOP),
        *("s.turn, s.step = s.turn + 1, 0", "s.turn, s.step = s.turn, 0"),
    ),
    fault(
        *("step-left-open", "C-TURN-2", "a step isn't closed", STEPS),
        *('m.publish(StepEnd(s.turn, s.step), "C-STEP-1", "C-TURN-2")', 'm.cite("C-STEP-1")'),
    ),
    fault(
        *("late-reply-taken", "C-CAN-1", "a reply that comes after a cancel is written", STEPS),
        *("if s.cause is not None:\n        _interrupt(m, s)", "if not s.life:\n        _interrupt(m, s)"),
    ),
    fault(
        *("result-unanswered", "C-STEP-4", "a turn stops although tool results are unanswered", STEPS),
        *("elif s.owes:", "elif not s.life:"),
    ),
    fault(
        *("pending-input-passed-over", "C-STEP-4", "a turn is asked to stop although next-step input waits", STEPS),
        *(
            'if s.next_step.occupied:\n        s.at = "claim"\n    else:',
            'if not s.life:\n        s.at = "claim"\n    else:',
        ),
    ),
    fault(
        *("ceiling-forgotten", "C-TURN-5", "a turn that hit the ceiling ends as completed", LOOP),
        *('"max-tokens" if s.ceiling else "completed"', '"completed"'),
    ),
    fault(
        *("failure-not-announced", "C-TURN-5", "a turn fails without agent/error", LOOP),
        *('m.publish(AgentError(s.turn, s.step), "C-TURN-5")', 'm.cite("C-TURN-5")'),
    ),
    fault(
        *("context-in-front", "C-STEP-3", "a tool's context overtakes what waits", TOOLS),
        *('insert(m, s, item, "next-step", "C-STEP-3")', 'insert(m, s, item, "next-step", "C-STEP-3", ahead=True)'),
    ),
    fault(
        *("context-queued-for-a-turn", "C-STEP-3", "a tool's context goes to next-turn", TOOLS),
        *('insert(m, s, item, "next-step", "C-STEP-3")', 'insert(m, s, item, "next-turn", "C-STEP-3")'),
    ),
    fault(
        *("tool-asked-after-abort", "C-STEP-2", "a tool is asked although the turn is aborted", TOOLS),
        *('return ("abandon",)', 'return ("dispatch",)'),
    ),
    fault(
        *("call-not-logged", "C-STEP-2", "a call isn't logged", TOOLS),
        *('m.publish(ToolCall(call.id, call.name), "C-STEP-2", "C-TURN-2")', "m.cite(call.name)"),
    ),
    fault(
        *("idle-in-a-turn", "C-STAT-1", "idle isn't published when the driver stops", LOOP),
        'm.publish(StatusChanged("idle"), *_stopped(s), "C-STAT-1", "C-STAT-2")',
        "m.cite(*_stopped(s))",
    ),
)
"""Every fault by name."""
