"""
List faults of contract ``window``: one change of the rules each, and the rule that must fail.
"""

from __future__ import annotations

from turnproof_model.prove.faults import Fault, fault

COMMANDS, STATE, LOOP, STEPS = "window_commands", "window_state", "window", "window_steps"

FAULTS: tuple[Fault, ...] = (
    # ---------------------------------------------------------------------------------------- routing, entries
    fault(
        *("prompt-queued-in-front", "W-FIFO-7", "a new prompt overtakes those that wait", COMMANDS),
        *("s.queued.push(item)", "s.queued.unshift(item)"),
    ),
    fault(
        *("steering-staged-in-front", "W-FIFO-7", "new steering overtakes what is staged", COMMANDS),
        *("s.outbox.push(Item(message, waking=True", "s.outbox.unshift(Item(message, waking=True"),
    ),
    fault(
        *("context-staged-in-front", "W-FIFO-7", "injected context overtakes what is staged", COMMANDS),
        *("s.outbox = s.outbox.push(Item(message))", "s.outbox = s.outbox.unshift(Item(message))"),
    ),
    fault(
        *("next-turn-joins-window", "W-ROUTE-2", "a prompt for the next turn joins the running one", COMMANDS),
        'if op.target == "next-turn":',
        'if op.target == "next-turn" and not (s.window and op.wakeup):',
    ),
    fault(
        *("steers-a-shut-window", "W-ROUTE-2", "steering is staged although the window is closed", COMMANDS),
        *("elif _joins(m, s):", "elif s.status:"),
    ),
    fault(
        *("injects-into-batches", "W-STEP-3", "context is appended at once in the middle of a turn", COMMANDS),
        *("if _joins(m, s):\n        s.outbox", "if not s.status:\n        s.outbox"),
    ),
    fault(
        *("idle-context-staged", "W-ROUTE-3", "context injected at idle waits instead of being appended", COMMANDS),
        *("if _joins(m, s):\n        s.outbox", "if s.status:\n        s.outbox"),
    ),
    fault(
        *("silent-steering", "W-FIFO-1", "steering enters without an enqueue", COMMANDS),
        'm.publish(Enqueue(message.id, "steering"), "W-ROUTE-2", "W-FIFO-1", "W-FIFO-4")\n',
        'm.cite("W-ROUTE-2")\n',
    ),
    fault(
        *("enqueued-twice", "W-ROUTE-1", "a prompt is announced twice", COMMANDS),
        'm.publish(Enqueue(item.id, "queued"), *rules, "W-FIFO-1", "W-FIFO-4")\n',
        'm.publish(Enqueue(item.id, "queued"), *rules)\n    m.publish(Enqueue(item.id, "queued"), *rules)\n',
    ),
    fault(
        *("wrong-placement", "W-ROUTE-1", "steering is announced as a queued prompt", COMMANDS),
        *('Enqueue(message.id, "steering")', 'Enqueue(message.id, "queued")'),
    ),
    # ---------------------------------------------------------------------------------------- cancel, discard
    fault(
        *("keep-forgotten", "W-FIFO-8", "a cancel that is to keep the inbox drops it", COMMANDS),
        *("if not op.keep_inbox:\n        drop", "if s.life:\n        drop"),
    ),
    fault(
        *("cancel-keeps-all", "W-CAN-2", "a cancel drops nothing", COMMANDS),
        *('drop_pending(m, s, "W-CAN-2", "W-CAN-4")', 'm.cite("W-CAN-2")'),
    ),
    fault(
        *("idle-cancel-announced", "W-CAN-4", "a cancel with nothing to do is announced", COMMANDS),
        *("if not _has_effect(m, s, op):", "if not s.life:"),
    ),
    fault(
        *("retry-survives-cancel", "W-CAN-4", "a cancel leaves a decided retry alone", COMMANDS),
        *("if s.retry or (abortable", "if (abortable"),
    ),
    fault(
        *("late-cancel-aborts", "W-CAN-5", "a cancel aborts a turn whose failure is announced", STATE),
        *("return s.window and not s.fixed", "return s.window"),
    ),
    fault(
        *("steering-discarded-first", "W-FIFO-3", "a discard lists steering before prompts", STATE),
        *("s.queued.join(staged(s).steering())", "staged(s).steering().join(s.queued)"),
    ),
    fault(
        *("context-discarded-aloud", "W-FIFO-5", "a discard lists context", STATE),
        *("s.queued.join(staged(s).steering())", "s.queued.join(staged(s))"),
    ),
    fault(
        *("queue-survives-discard", "W-FIFO-7", "discarded prompts stay in the queue", STATE),
        *("s.queued = s.outbox = s.due = EMPTY", "s.outbox = s.due = EMPTY"),
    ),
    fault(
        *("empty-discard", "W-FIFO-8", "a discard of nothing is announced", STATE),
        *("if dropped.occupied:", "if s.life:"),
    ),
    fault(
        *("disposal-keeps-retry", "W-DIS-2", "a decided retry outlives a disposal", COMMANDS),
        *("s.retry = s.requeue = False", "s.requeue = False"),
    ),
    fault(
        *("last-cause-wins", "W-DIS-1", "a disposal takes the place of the cancel before it", COMMANDS),
        'first = abortable(s) and not aborted(s)\n    if first:\n        s.abort = "disposed"',
        'first = abortable(s)\n    if first:\n        s.abort = "disposed"',
    ),
    # ---------------------------------------------------------------------------------------- admission
    fault(
        *("quiet-prompts-served", "W-WAKE-3", "a quiet prompt alone is served after a turn", LOOP),
        *('if s.queued.has_waking:\n        claim(m, s)\n        return\n    s.at = "idle"',),
        'if s.queued.occupied:\n        claim(m, s)\n        return\n    s.at = "idle"',
    ),
    fault(
        *("wake-lost", "W-WAKE-4", "the loop goes idle although a waking prompt waits", LOOP),
        *('if s.queued.has_waking:\n        claim(m, s)\n        return\n    s.at = "idle"', 's.at = "idle"'),
    ),
    fault(
        *("aborted-admission-admits", "W-ADM-5", "an allow that comes after a cancel opens the turn", LOOP),
        *("if aborted(s) or not isinstance(outcome, Allow)", "if not isinstance(outcome, Allow)"),
    ),
    fault(
        *("retained-skipped", "W-ADM-3", "the prompt is written before what was retained", LOOP),
        *('s.at = "retained"', 's.at = "prompt"'),
    ),
    fault(
        *("rejected-context-kept", "W-FIFO-7", "a rejection keeps context that stands alone", LOOP),
        *("s.contexts, s.outbox = everything, EMPTY", 'm.cite("W-ADM-6")'),
    ),
    fault(
        *("rejected-steering-released", "W-FIFO-7", "a rejection lets steering go with the context", LOOP),
        *("if everything.has_steering:", "if not s.life:"),
    ),
    fault(
        *("rejection-leaves-window", "W-WIN-2", "the window stays open after a rejection", LOOP),
        *('s.window, s.abort, s.due, s.outbox = False, ""', 's.window, s.abort, s.due, s.outbox = True, ""'),
    ),
    fault(
        *("contexts-lost", "W-ADM-4", "the contexts of a decision are lost", LOOP),
        *("Queue.of((*outcome.additional_contexts, *s.claimed.attached))", "Queue.of(())"),
    ),
    # ---------------------------------------------------------------------------------------- turns
    fault(
        *("turn-number-reused", "W-TURN-1", "a turn has the number of the one before", LOOP),
        *("s.turn + 1, 0, trigger", "s.turn, 0, trigger"),
    ),
    fault(
        *("window-outlives-turn", "W-WIN-1", "the window is open while turn/end is published", LOOP),
        *('s.window, s.abort, s.at = False, "", "checkpoint"', 's.abort, s.at = "", "checkpoint"'),
    ),
    fault(
        *("checkpoint-not-awaited", "W-TURN-4", "a turn settles before its checkpoint", LOOP),
        *('s.window, s.abort, s.at = False, "", "checkpoint"', 's.window, s.abort, s.at = False, "", "settlement"'),
    ),
    fault(
        *("retry-forgotten", "W-TURN-6", "a turn settles although its request is to be retried", LOOP),
        *("if s.retry:\n", "if not s.life:\n"),
    ),
    fault(
        *("ceiling-forgotten", "W-TURN-5", "a turn that hit the ceiling ends as completed", LOOP),
        *('return "max-tokens" if s.ceiling else "completed"', 'return "completed"'),
    ),
    fault(
        *("drain-outlives-cancel", "W-CAN-6", "a drain goes on after a cancel", LOOP),
        *("if aborted(s) and not s.firm:", "if not s.life:"),
    ),
    # ---------------------------------------------------------------------------------------- steps, tools
    fault(
        *("steps-not-numbered", "W-STEP-1", "every step is the first", STEPS),
        *("s.step += 1", "s.step = 1"),
    ),
    fault(
        *("failed-step-left-open", "W-TURN-2", "the step of a failed request isn't closed", STEPS),
        's.failed, s.at = True, "ending"\n    m.publish(StepEnd(s.turn, s.step), "W-STEP-1", "W-TURN-2")',
        's.failed, s.at = True, "ending"',
    ),
    fault(
        *("late-reply-taken", "W-CAN-1", "a reply that comes after a cancel is written", STEPS),
        *('if aborted(s):\n        s.at = "cut"\n', 'if not s.life:\n        s.at = "cut"\n'),
    ),
    fault(
        *("success-after-abort", "W-STEP-3", "a success is written although the turn is aborted", STEPS),
        *("    if aborted:\n", "    if slot.mode == 'unknown':\n"),
    ),
    fault(
        *("steering-not-dequeued", "W-FIFO-6", "steering is written without its dequeue", STATE),
        'm.publish(Dequeue(item.id, "steering"), *rules, "W-STEP-2", "W-FIFO-3", "W-FIFO-4", "W-FIFO-2")',
        'm.cite("W-STEP-2")',
    ),
    fault(
        *("steering-not-written", "W-FIFO-6", "dequeued steering is never written", STATE),
        'm.publish(steering, *rules, "W-STEP-2", "W-FIFO-6", "W-WIN-4", "W-TURN-2", "W-LOG-1")',
        "m.cite(steering.type)",
    ),
    fault(
        *("steering-owes-nothing", "W-STEP-7", "steering that was taken in gets no request", STATE),
        *("s.owed = True", "s.owed = False"),
    ),
    fault(
        *("turn-stopping-skipped", "W-STEP-8", "a turn ends without asking", STEPS),
        *("            ask_turn_stopping(m, s)", '            s.at = "ending"'),
    ),
    fault(
        *("context-forces-a-step", "W-STEP-5", "context alone makes the model run again", STEPS),
        *("return s.outbox.has_steering", "return s.outbox.occupied"),
    ),
    fault(
        *("results-unanswered", "W-STEP-7", "a turn completes after a tool batch without another request", STEPS),
        *('m.cite("W-STEP-6")\n        s.at = "hook"', 'm.cite("W-STEP-6")\n        ask_turn_stopping(m, s)'),
    ),
    fault(
        *("conclusion-ignored", "W-STEP-6", "a concluding result doesn't end the turn", STEPS),
        *("if s.concluded:\n", "if not s.life:\n"),
    ),
    fault(
        *("tool-contexts-lost", "W-FIFO-7", "what a tool returned is lost", STEPS),
        *("s.outbox = s.outbox.join(contexts)", 'm.cite("W-STEP-4")'),
    ),
    fault(
        *("steering-appended-after-abort", "W-CAN-6", "steering is drained behind an aborted batch", STEPS),
        *("if not s.outbox.only_context:", "if s.outbox.empty:"),
    ),
)
"""Every fault by name."""
