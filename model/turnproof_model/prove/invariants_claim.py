"""
Strengthen the properties of contract ``claim`` until they are inductive.

Most lines tie a ghost to where the loop stands; the rest follow a batch from its claim to the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnproof_model.prove.invariants import View
from turnproof_model.readings import counter_batch
from turnproof_model.readings.counters import well_formed
from turnproof_model.readings.observers import neither
from turnproof_model.readings.terms import Truth, both, choice, either, implies, negate, var

REENTRY: Any = var("can.sessionReentry", "bool")

LISTS = ("turns", "steps", "batch", "entering", "dropped")
BOUNDARY = ("claim", "claim-prompt", "announce", "ask", "decided", "enter")
BATCH = ("tools", "contexts")
IN_STEP = ("commit", "request", "answer", "failed-request", *BATCH, "close-step")
IN_TURN = (*BOUNDARY, *IN_STEP, "boundary", "stopping", "end", "fail")


def strengthening(v: View) -> Iterator[tuple[str, Truth]]:
    """List the lines."""
    yield from _places(v)
    yield from _turns(v)
    yield from _verdicts(v)
    yield from _steps(v)
    yield from _batch(v)
    yield from _claims(v)
    yield from _decisions(v)
    yield from _contexts(v)
    yield from _waking(v)


def _cause(v: View) -> Truth:
    return either(v.g.by_user, v.g.by_parent, v.g.by_disposal)


def _same(line: tuple[Any, Any, Any], queue: Any) -> Truth:
    return both(line[0] == queue.n, line[1] == queue.a, line[2] == queue.b)


def _places(v: View) -> Iterator[tuple[str, Truth]]:
    s, g = v.s, v.g
    queues = (s.next_turn, s.next_step, s.claimed, s.prompt, s.due)
    yield "queues are queues", both(*(well_formed(q) for q in queues))
    lists = [(getattr(g, f"{name}_n"), getattr(g, f"{name}_{tag}")) for name in LISTS for tag in ("a", "b")]
    yield "lists are lists", both(*(both(place >= -1, place < n) for n, place in lists))
    yield "disposing", both(g.disposing == negate(s.life.among("live")), g.gone == s.life.among("gone"))
    yield "disposals", both(s.disposals >= 0, implies(s.disposals > 0, g.disposing))
    yield "no cancel is under way between moves", s.discarding == 0
    causes = ((g.by_user, "user"), (g.by_parent, "parent"), (g.by_disposal, "disposed"))
    yield "the cause", both(*(known == both(g.running, s.cause.among(name)) for known, name in causes))
    yield "a disposal aborts", implies(both(g.disposing, g.running), _cause(v))


def _turns(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield "a turn is open where the loop is in one", g.turn_open == at(*IN_TURN)
    yield "a step is open where the loop is in one", g.step_open == at(*IN_STEP)
    yield "the number of the step", both(g.step == s.step, g.step >= 0)
    yield "a step was taken", implies(at(*IN_STEP, "boundary", "stopping"), g.step > 0)
    yield "the ceiling", implies(g.turn_open, g.ceiling == s.ceiling)
    taken = both(g.turn_open, either(g.stopping, g.ceiling))
    yield "only a step is answered", implies(taken, g.step > 0)
    yield "nothing of a turn is left", either(g.turn_open, both(s.verdict.among(""), neither(s.ceiling, s.owes)))
    ends = both(at("end"), negate(_cause(v)), s.verdict.among(""))
    yield "an ending has a reason", implies(ends, both(either(g.stopping, g.emptied), negate(g.owes)))


def _verdicts(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    verdict = s.verdict.among
    yield "a verdict is one of four", verdict("", "blocked", "failing", "failed")
    yield "a failure is fixed", implies(g.turn_open, g.fixed == verdict("failed"))
    yield "a batch was rejected", implies(g.turn_open, g.blocked == verdict("blocked"))
    yield (
        "a failure has a cause",
        implies(both(g.turn_open, verdict("failing"), negate(_cause(v))), either(g.failing, g.brings)),
    )
    yield (
        "where a failure is found",
        both(
            implies(at("fail"), verdict("failing")),
            implies(both(at("end"), negate(_cause(v))), negate(verdict("failing"))),
            implies(both(g.turn_open, verdict("failing")), at(*BATCH, "close-step", "boundary", "fail", "end")),
            implies(both(g.turn_open, verdict("blocked", "failed")), at("end")),
        ),
    )
    failing = both(g.turn_open, g.failing)
    yield (
        "where a failure is known",
        both(
            implies(failing, at("close-step", "boundary", "fail", "end")),
            implies(both(failing, negate(_cause(v))), verdict("failing", "failed")),
        ),
    )


def _steps(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    yield (
        "the request is made",
        both(
            implies(at("commit"), negate(g.asked)),
            implies(at("request"), either(negate(g.asked), _cause(v))),
            implies(at("answer", "failed-request", *BATCH), g.asked),
        ),
    )
    waits = at("commit", "request", "answer", "failed-request")
    yield "a step that waits for a reply has none", implies(waits, negate(g.spoken))
    goes_well = both(g.turn_open, negate(_cause(v)), s.verdict.among(""))
    settled = both(goes_well, negate(at(*BATCH)))
    yield "what the model owes", implies(settled, g.owes == s.owes)
    inside = both(goes_well, at(*BATCH))
    yield (
        "what a batch owes",
        implies(inside, both(g.concluded == s.batch.ends, g.owes == both(g.answered > 0, negate(g.concluded)))),
    )
    yield "turn-stopping waits for nothing owed", implies(both(at("stopping"), negate(_cause(v))), negate(g.owes))


def _batch(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    batch = s.batch
    yield "the batch is a batch", counter_batch.well_formed(batch)
    same = both(g.calls == batch.size, g.called == batch.logged, g.answered == batch.committed)
    yield "calls are the calls of the batch", implies(at(*BATCH), both(same, batch.size > 0))
    yield "elsewhere no call is open", either(at(*BATCH), both(g.answered == g.calls, batch.size == 0))
    reason = either(_cause(v), s.verdict.among("failing"))
    yield "a batch is cut for a reason", implies(batch.cut, both(at(*BATCH), reason))


def _claims(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    claimed, due, prompt = s.claimed, s.due, s.prompt
    yield (
        "a boundary may ask",
        implies(at("claim", "claim-prompt", "announce", "ask", "boundary", "stopping"), g.may_ask),
    )
    yield "one prompt at most", both(prompt.n <= 1, implies(at("claim"), either(g.step > 0, negate(g.prompt))))
    taken: Any = claimed.n - prompt.n
    first = [choice(place < taken, place, -1) for place in (claimed.a, claimed.b)]
    middle = both(g.batch_n == taken, g.batch_a == first[0], g.batch_b == first[1], taken >= 0, g.announced == 0)
    yield "in the middle of a claim", implies(at("claim-prompt"), both(middle, _same((due.n, due.a, due.b), claimed)))
    last = [choice(place >= 0, taken + place, -1) for place in (prompt.a, prompt.b)]
    behind = [choice(place >= taken, place, -1) for place in (claimed.a, claimed.b)]
    yield "the prompt comes last", implies(at("claim-prompt"), both(last[0] == behind[0], last[1] == behind[1]))
    batch = (g.batch_n, g.batch_a, g.batch_b)
    yield "a claimed batch", implies(at("announce", "ask", "decided"), _same(batch, claimed))
    gone = [choice(p >= g.announced, p - g.announced, -1) for p in (claimed.a, claimed.b)]
    rest = both(due.n == claimed.n - g.announced, due.a == gone[0], due.b == gone[1], g.announced >= 0)
    yield "what is announced of it", implies(at("announce"), rest)
    yield "all of it is announced", implies(at("ask"), g.announced == g.batch_n)
    before = at("claim", "boundary", "stopping")
    yield "nothing is claimed before a claim", implies(before, both(g.batch_n == 0, g.announced == 0))
    yield "no cancel comes into a claim", implies(at("claim-prompt", "announce", "commit"), negate(_cause(v)))
    steps = (g.steps_n, g.steps_a, g.steps_b)
    yield "next-step is taken as it is logged", implies(at("claim-prompt"), _same(steps, s.next_step))
    held: Any = [choice(prompt.n > 0, choice(q >= 0, q + 1, p), q) for p, q in _pairs(prompt, s.next_turn)]
    shown = both(g.turns_n == s.next_turn.n + prompt.n, g.turns_a == held[0], g.turns_b == held[1])
    yield "a prompt is taken before it is logged", implies(both(at("claim-prompt"), REENTRY), shown)
    heads = both(
        prompt.n <= g.turns_n,
        implies(prompt.n > 0, both((prompt.a == 0) == (g.turns_a == 0), (prompt.b == 0) == (g.turns_b == 0))),
    )
    yield "the prompt is the head", implies(at("claim-prompt"), heads)
    yield (
        "a prompt is logged before it is taken",
        implies(both(at("claim-prompt"), negate(REENTRY)), _same((g.turns_n, g.turns_a, g.turns_b), s.next_turn)),
    )
    yield (
        "a prompt of the first boundary",
        implies(both(at("claim-prompt"), prompt.n > 0), both(g.step == 0, negate(g.prompt))),
    )
    yield "what has to be claimed", both(g.waiting >= 0, g.waiting <= g.steps_n)
    yield "it is claimed", implies(at("claim-prompt", "announce", "ask"), g.waiting == 0)
    yield (
        "a prompt has to be claimed",
        both(
            implies(g.prompt_due, both(g.step == 0, g.turns_n > 0, at("claim", "claim-prompt", "end"))),
            implies(at("claim-prompt"), implies(g.prompt_due, prompt.n > 0)),
        ),
    )


def _pairs(first: Any, second: Any) -> list[tuple[Any, Any]]:
    return [(first.a, second.a), (first.b, second.b)]


def _decisions(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    entering = (g.entering_n, g.entering_a, g.entering_b)
    yield "what was let in", implies(at("enter", "commit"), _same(entering, s.due))
    yield "a step has something to do", implies(at("enter"), both(g.entered, either(g.entering_n > 0, g.owes)))
    cleared = at("request", "answer", "failed-request", *BATCH, "close-step")
    yield "it is written", implies(cleared, g.entering_n == 0)


def _contexts(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    due, here = s.due, at("contexts")
    free_a, free_b = neither(g.turns_a >= 0, g.steps_a >= 0), neither(g.turns_b >= 0, g.steps_b >= 0)
    yield (
        "contexts are awaited",
        implies(
            here,
            both(due.n > 0, implies(due.a >= 0, g.context_a), implies(due.b >= 0, g.context_b), g.calls > 0, g.brings),
        ),
    )
    ahead = both(here, due.b >= 0, g.context_a, g.context_ab, free_a)
    yield (
        "contexts come in order",
        both(
            implies(ahead, both(due.a >= 0, due.a < due.b)),
            implies(both(here, due.a >= 0, due.b >= 0), g.context_ab == (due.a < due.b)),
        ),
    )
    yield (
        "the first context comes first",
        both(implies(g.first_a, both(here, due.a == 0, free_a)), implies(g.first_b, both(here, due.b == 0, free_b))),
    )


def _waking(v: View) -> Iterator[tuple[str, Truth]]:
    s, g, at = v.s, v.g, v.s.at.among
    waking = s.next_turn.counts["waking"] + s.next_step.counts["waking"]
    late = s.next_turn.counts["late"] + s.next_step.counts["late"]
    stops = both(at("stop"), negate(_cause(v)))
    yield "what wakes at the end is late", implies(stops, either(g.excused, waking <= late))
    ended = both(at("ended"), negate(_cause(v)))
    bad = s.reason.among("blocked", "error")
    empty = both(s.reason.among("completed"), g.step == 0)
    known = s.reason.among("completed", "max-tokens", "blocked", "error")
    yield "why a turn ended", implies(ended, both(known, g.excused == either(bad, empty)))
    yield "a ceiling needs a step", implies(both(at("ended"), s.reason.among("max-tokens")), g.step > 0)
