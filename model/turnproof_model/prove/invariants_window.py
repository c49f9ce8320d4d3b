"""
Strengthen the properties of contract ``window`` until they are inductive.

Most lines tie a ghost to where the loop stands; the rest say that lists of the machine are the lists of the observer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnproof_model.prove.invariants import View
from turnproof_model.readings import counter_batch
from turnproof_model.readings.counters import RIGID, well_formed
from turnproof_model.readings.observers import counted, neither
from turnproof_model.readings.terms import Truth, both, choice, either, implies, negate

OPENING = ("retained", "prompt", "supplements")
IN_STEP = ("reply", "tools", "step-end", "cut", "unanswered")
ENDING = ("closing", "ending")
IN_TURN = (
    *(*OPENING, "hook", "hooked", "step", *IN_STEP, "recovery", "stopping", "stopped"),
    *(*ENDING, "turn-end", "draining"),
)
AFTER_TURN = ("checkpoint", "settlement")
AT_REST = ("idle", "gone")


def strengthening(v: View) -> Iterator[tuple[str, Truth]]:
    """List the lines."""
    yield from _places(v)
    yield from _turns(v)
    yield from _steps(v)
    yield from _batch(v)
    yield from _admission(v)
    yield from _lists(v)
    yield from _abort(v)
    yield from _tags(v)


def _drains(v: View, *then: str) -> Truth:
    return both(v.s.at.among("draining"), v.s.then.among(*then))


def _cause(v: View) -> Truth:
    return either(v.g.aborted, v.g.disposed)


def _places(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield "queues are queues", both(*(well_formed(q) for q in (s.queued, s.due, s.outbox, s.contexts)))
    yield "a drain goes on somewhere", implies(at("draining"), negate(s.then.among("")))
    yield "the status is running unless the loop rests", g.running == negate(at(*AT_REST))
    yield "nothing is bound between moves", neither(g.bound, g.bound_a, g.bound_b, g.taken, g.taken_a, g.taken_b)
    yield "disposing", both(g.disposing == negate(s.life.among("live")), g.gone == s.life.among("gone"))
    yield "gone", s.life.among("gone") == at("gone")
    yield "disposals", both(s.disposals >= 0, implies(s.disposals > 0, g.disposing))


def _turns(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield "a turn is open where the loop is in one", g.turn_open == at(*IN_TURN)
    yield "the window is open in an admission and in a turn", g.window == at("admission", *IN_TURN)
    yield "a checkpoint is pending after a turn", g.checkpoint == at("checkpoint")
    yield "a turn is unsettled until it is settled", g.unsettled == at(*AFTER_TURN)
    ended = both(g.ended_aborted == s.reason.among("aborted", "disposed"), g.ended_failed == s.reason.among("error"))
    yield "how the last turn ended", implies(at(*AFTER_TURN), ended)
    yield "a retry is decided", both(g.retry == s.retry, implies(s.retry, at(*ENDING, "turn-end", *AFTER_TURN)))
    yield "opening", g.opening == both(g.turn_open, g.step == 0)
    yield "an opening comes first", implies(either(at(*OPENING), _drains(v, "hook")), g.step == 0)
    yield "a failure has a cause", implies(both(g.turn_open, s.failed), g.failing)
    yield "the ceiling", implies(g.turn_open, g.ceiling == s.ceiling)
    yield "the conclusion", implies(g.turn_open, g.concluded == s.concluded)
    yield "steering is owed a request", implies(g.turn_open, g.owed == s.owed)
    asked = both(g.stopping, neither(g.owed, g.answers), g.steering == 0)
    yield "a turn that stops was asked and has nothing to do", implies(at("closing"), either(asked, _cause(v)))
    yield "any other ending has a reason", implies(at("ending"), either(g.concluded, _cause(v), s.failed))
    yield (
        "turn-stopping was answered",
        implies(
            both(either(at("stopped"), _drains(v, "stopped")), negate(_cause(v))), both(g.stopping, negate(g.answers))
        ),
    )


def _steps(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    closing = _drains(v, "step-end")
    yield "a step is open where the loop is in one", g.step_open == either(at(*IN_STEP), closing)
    yield "an open step has asked", implies(g.step_open, g.asked)
    yield "a step that waits for a reply has none", implies(at("reply"), negate(g.spoken))
    counted_ahead = either(at("hooked", "step"), _drains(v, "step"))
    level = either(
        at(*OPENING, "hook", *IN_STEP, "recovery", "stopping", "stopped"), _drains(v, "hook", "step-end", "stopped")
    )
    yield "the number of the next step", both(implies(counted_ahead, s.step == g.step + 1), g.step >= 0)
    yield "the number of this step", implies(level, s.step == g.step)
    results = either(at("tools", "step-end"), closing)
    yield "results are unanswered", implies(results, g.answers == (g.answered > 0))
    after = either(at("hook", "hooked", "step", *ENDING, "turn-end"), _drains(v, "step"))
    yield "results wait for a request", implies(both(g.turn_open, g.answers), either(results, after))
    asks = either(g.step == 0, g.owed, g.answers, _cause(v))
    yield (
        "a further step has a reason",
        both(
            implies(at("hook", "hooked"), either(asks, g.steering > 0)),
            implies(_drains(v, "step"), either(asks, s.due.counts["steering"] > 0)),
            implies(at("step"), asks),
        ),
    )
    yield "a request that failed", implies(at("unanswered", "recovery"), g.failing)
    yield "a failed step", implies(at("recovery"), s.failed)
    yield "only an abort cuts a step short", implies(at("cut"), _cause(v))
    yield (
        "a conclusion starts no step",
        implies(g.concluded, either(results, at(*ENDING, "turn-end"), negate(g.turn_open))),
    )


def _batch(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    batch = s.batch
    closing = either(at("step-end"), _drains(v, "step-end"))
    yield "the batch is a batch", both(counter_batch.well_formed(batch), batch.asked == batch.logged)
    same = both(g.calls == batch.size, g.called == batch.logged, g.answered == batch.committed)
    yield "calls are the calls of the batch", implies(either(at("tools"), closing), same)
    yield "elsewhere no call is open", implies(negate(at("tools")), g.answered == g.calls)
    yield "elsewhere there is no batch", either(at("tools"), closing, batch.size == 0)
    yield "a batch has calls", implies(either(at("tools"), batch.cut), batch.size > 0)
    yield "no call is cut without a cause", implies(batch.cut, _cause(v))
    firm = both(at("draining"), s.firm)
    yield (
        "a firm drain closes an aborted batch",
        implies(firm, both(g.alone, s.due.counts["steering"] == 0, g.calls > 0)),
    )
    yield "a firm drain closes a step", implies(firm, s.then.among("step-end"))
    yield "context alone", implies(both(at("tools"), batch.done, g.steering == 0), g.alone)


def _admission(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield "an admission is open", both(g.admission == at("admission"), g.claimed == g.admission, negate(g.allowed))
    yield (
        "the claimed prompt",
        both(s.claimed.there == at("admission"), g.claimed_a == s.claimed.a, g.claimed_b == s.claimed.b),
    )
    yield "nobody is two", neither(both(s.claimed.a, s.claimed.b), both(s.prompt.a, s.prompt.b))
    yield "a kept admission", both(g.kept == s.requeue, implies(s.requeue, both(at("admission"), g.aborted)))
    yield "the prompt is to be written", g.prompt == at("retained", "prompt")
    yield (
        "the prompt",
        both(
            implies(at("retained", "prompt"), s.prompt.there),
            implies(s.prompt.there, at(*OPENING)),
            implies(g.prompt, both(g.prompt_a == s.prompt.a, g.prompt_b == s.prompt.b)),
        ),
    )


def _lists(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    there, contexts = at(*OPENING), s.contexts
    yield (
        "contexts of a decision",
        both(
            g.decision_n == choice(there, contexts.n, 0),
            g.decision_a == choice(there, contexts.a, -1),
            g.decision_b == choice(there, contexts.b, -1),
        ),
    )
    free = at("release")
    yield (
        "released context",
        both(
            g.released_n == choice(free, contexts.n, 0),
            g.released_a == choice(free, contexts.a, -1),
            g.released_b == choice(free, contexts.b, -1),
        ),
    )
    yield "no contexts elsewhere", either(there, free, contexts.n == 0)
    taken = at("admission", "retained")
    yield "what was retained", g.retained == choice(taken, s.due.n, 0)
    yield "nothing is due elsewhere", either(taken, at("draining"), s.due.n == 0)
    yield "what is due", both(g.due >= 0, g.due <= g.outbox_n, either(g.due == 0, g.turn_open))
    lives = negate(_cause(v))
    yield "a drain takes what is due", implies(both(at("draining"), lives), g.due <= s.due.n)
    yield "a step ends with nothing due", implies(both(at("step", "step-end", "stopped"), lives), g.due == 0)


def _abort(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield "the cause", both(g.aborted == s.abort.among("aborted"), g.disposed == s.abort.among("disposed"))
    yield "a disposal aborts", implies(both(g.disposing, either(g.admission, g.turn_open), negate(g.fixed)), _cause(v))
    yield "a disposal withdraws", implies(g.disposing, neither(s.retry, s.requeue))
    yield "the reason is fixed", both(g.fixed == at("turn-end"), implies(g.window, s.fixed == g.fixed))
    yield "an announced failure", implies(at("turn-end"), both(s.reason.among("error"), negate(_cause(v))))


def _tags(v: View) -> Iterator[tuple[str, Truth]]:
    s, g = v.s, v.g
    yield "staged steering", g.steering == s.due.counts["steering"] + s.outbox.counts["steering"]
    for i, (tag, seen, steers) in enumerate((("a", g.seen_a, g.steers_a), ("b", g.seen_b, g.steers_b))):
        waiting = [getattr(q, tag) >= 0 for q in (s.queued, s.due, s.outbox, s.contexts)]
        held = [getattr(s.claimed, tag), getattr(s.prompt, tag)]
        yield f"{tag} is in one place", both(counted(*waiting, *held) <= 1, implies(either(*waiting, *held), seen))
        yield f"{tag} was seen", implies(steers, seen)
        staged: Any = either(waiting[1], waiting[2])
        yield f"{tag} steers", implies(staged, steers == RIGID["steering"][i])
