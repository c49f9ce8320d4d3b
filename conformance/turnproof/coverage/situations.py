"""
Tell situations apart: what of a machine's state matters to what can happen next, and to a reader.

A *situation* is where a settled agent stands (the position of the loop), which input is pending, and what has been
decided on the way. Forgotten are identities, texts, numbers beyond the second step, and whatever the position gives no
meaning to. Pending input is written as one letter for each message, head first: ``w`` waking, ``q`` quiet, ``s``
steering, ``c`` context, a late one with ``*``, one with a snapshot with ``&``. A call of a batch is its tool (``p``
parallel, ``x`` exclusive, ``u`` unknown) and how far it is (``w`` waiting, ``r`` running, ``f`` returned, ``d`` done),
with ``!`` where it concludes and ``+`` where it brings context along.

A *place* is a situation seen from further away: the position, whether it is being aborted, whether input is pending.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from turnproof_model.algebra import Item, Queue, Slot, contexts_of
from turnproof_model.vocabulary import Result

Situation: TypeAlias = tuple[Any, ...]
"""The position first; equal ones are the same situation."""

TURN_STEPS = 2
"""Steps of a turn that are told apart; any later one counts as the last of them."""

_AT_REST = ("idle", "gone")


def situation(machine: Any) -> Situation:
    """Tell the situation of a settled machine."""
    return _SITUATIONS[machine.book.contract](machine)


def pending(machine: Any) -> int:
    """Count the pending messages."""
    s = machine.s
    queues = (s.queued, s.outbox, s.due) if machine.book.contract == "window" else (s.next_turn, s.next_step)
    return sum(queue.size for queue in queues)


def circumstances(machine: Any) -> int:
    """Count what has gathered: a later step, a ceiling that was hit, text that has streamed, context behind a turn."""
    s = machine.s
    if s.at in (*_AT_REST, "admission", "checkpoint") or _aborted(machine):
        return int(s.at in ("idle", "admission") and _log(machine) == "context")
    streamed = machine.streamed != "" and s.at in ("reply", "answer")
    return int(s.step >= TURN_STEPS) + int(s.ceiling) + int(streamed)


def _aborted(machine: Any) -> bool:
    return machine.book.aborting(machine.s)  # type: ignore[no-any-return]  # machines are untyped here


def place(at: Situation) -> str:
    """Tell the place of a situation."""
    aborted = " aborted" if at[1] else ""
    log = " after context" if at[0] == "idle" and at[5] == "context" else ""
    return f"{at[0]}{log}{aborted}{' with input' if any(at[2:5]) else ''}"


# ------------------------------------------------------------------------------------------------ window
def _window(machine: Any) -> Situation:
    s = machine.s
    at = s.at
    queues = (_queue(s.queued), _staged(s.due), _staged(s.outbox))
    if at in _AT_REST:
        return (at, "", *queues, _log(machine) if at == "idle" else "")
    if at == "admission":
        return (at, s.abort, *queues, s.life, s.requeue, _item(s.claimed), _log(machine))
    if at == "checkpoint":
        return (at, "", *queues, s.life, s.reason, s.retry)
    gathered = (min(s.step, TURN_STEPS), s.owed, s.concluded, s.ceiling)
    turn = (s.life, *((0, False, False, False) if s.abort else gathered))
    if at == "tools":
        return (at, s.abort, *queues, *turn, _batch(s.batch.slots))
    return (at, s.abort, *queues, *turn, at == "reply" and machine.streamed != "")


# ------------------------------------------------------------------------------------------------ claim
def _claim(machine: Any) -> Situation:
    s = machine.s
    at = s.at
    queues = (_queue(s.next_turn), _queue(s.next_step), "")
    if at == "idle":
        return (at, "", *queues, s.life)
    cause = "" if s.cause is None else "disposed" if s.cause == "disposed" else "aborted"
    turn = (s.life, *((0, False, False) if cause else (min(s.step, TURN_STEPS), s.owes, s.ceiling)))
    if at == "decided":
        return (at, cause, *queues, *turn, _queue(s.claimed))
    if at == "tools":
        return (at, cause, *queues, *turn, _batch(s.batch.slots))
    return (at, cause, *queues, *turn, at == "answer" and machine.streamed != "")


def _log(machine: Any) -> str:
    """Tell how the log ends between turns: with a turn, with context behind one, or before there was any."""
    history = machine.history
    if not history.turns:
        return ""
    return "context" if history.entries and history.entries[-1].between else "turn"


_SITUATIONS = {"window": _window, "claim": _claim}


# ------------------------------------------------------------------------------------------------ input and calls
def _item(item: Item | None) -> str:
    if item is None:
        return ""
    kind = "s" if item.steering else "w" if item.waking else "q"
    return f"{kind}{'*' if item.late else ''}{'&' if item.attached else ''}"


def _queue(queue: Queue) -> str:
    return "".join(map(_item, queue.each())) if queue.occupied else ""  # mostly empty, and asked at every command


def _staged(queue: Queue) -> str:
    return "".join("s" if item.steering else "c" for item in queue.each()) if queue.occupied else ""


def _batch(slots: tuple[Slot, ...]) -> str:
    return " ".join(map(_call, slots))


def _call(slot: Slot) -> str:
    outcome = slot.outcome
    concludes = "!" if isinstance(outcome, Result) and outcome.concludes and not slot.settled_by_abort else ""
    if slot.state == "committed":
        return f"d{concludes}"
    tool = {"parallel": "p", "exclusive": "x", "unknown": "u"}[slot.mode]
    brings = "+" if contexts_of(outcome) else ""
    ended = f"{'a' if slot.settled_by_abort else ''}{'e' if slot.early else ''}"
    return f"{tool}{slot.state[0]}{concludes}{brings}{ended}"


# ------------------------------------------------------------------------------------------------ words
_NAMES = {
    "window": {
        "admission": ("life", "requeue", "claimed", "after"),
        "checkpoint": ("life", "reason", "retry"),
        "idle": ("after",),
        "turn": ("life", "step", "owed", "concluded", "ceiling", "streamed"),
        "queues": ("queued", "retained", "staged"),
    },
    "claim": {
        "decided": ("life", "step", "owes", "ceiling", "claimed"),
        "turn": ("life", "step", "owes", "ceiling", "streamed"),
        "queues": ("next-turn", "next-step", ""),
    },
}


def words(contract: str, at: Situation) -> str:
    """Write a situation for a person; different ones read differently."""
    return ", ".join([at[0], *filter(None, _words(_NAMES[contract], at))])


def _words(names: dict[str, tuple[str, ...]], at: Situation) -> Iterator[str]:
    yield at[1]
    for name, queue in zip(names["queues"], at[2:5], strict=True):
        yield f"{name} {queue}" if queue else ""
    for name, value in zip(names.get(at[0], names["turn"]), at[5:], strict=False):  # a position may know less
        if at[0] == "tools" and name == "streamed":
            yield f"calls {value}"
        elif name == "life":
            yield "" if value == "live" else value
        elif name == "step":
            yield "" if at[1] else f"step {value}" if value < TURN_STEPS else "later step"
        elif value is True:
            yield name
        elif value:
            yield f"{name} {value}"
