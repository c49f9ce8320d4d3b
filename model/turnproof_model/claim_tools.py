"""
Run the tool calls of one assistant message: contract ``claim``, between ``answer`` and ``close-step``.

    tools → call | dispatch | commit → contexts* → tools …until every call is committed → close-step

A call is logged, its tool is asked, its result is committed in call order, its contexts enter next-step. What may
happen next is a short list, the observed preference first; where it has several entries the order is free (C-STEP-2).
After an abort or a failure no further tool is asked; what was asked is waited for. Absent here: turns and requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from turnproof_model.algebra import EMPTY, NO_BATCH, Queue, Slot, ToolBatch, contexts_of
from turnproof_model.claim_state import BOOK, ClaimState, all_pending, insert
from turnproof_model.events import ToolCall, ToolResult
from turnproof_model.policies import PARALLEL_RESULTS, REFUSED_CONTEXT
from turnproof_model.rulebook import Reading
from turnproof_model.vocabulary import Call, Error, Result

Move: TypeAlias = Literal["dispatch", "abandon", "call", "commit", "close"]


def lay_out(m: Reading, s: ClaimState, calls: tuple[Call, ...]) -> None:
    """
    Begin the batch of an assistant message.

    Rules: C-STEP-2
    """
    s.batch = ToolBatch.of(calls, {call.name: m.tool_mode(call.name) for call in calls})
    s.together = m.choose(PARALLEL_RESULTS) == "together" if s.batch.parallel else False
    s.at = "tools"


def _halted(s: ClaimState) -> bool:
    """Tell whether no further tool is asked."""
    return s.cause is not None or s.verdict != ""


def _moves(s: ClaimState) -> tuple[Move, ...]:
    """List what the batch may do next, the observed preference first; nothing while it waits for a tool."""
    if s.batch.done:
        return ("close",)
    if _halted(s):
        return _closing_moves(s)
    return (
        *(("dispatch",) if s.batch.dispatchable() >= 0 else ()),
        *(("call",) if s.batch.startable() >= 0 else ()),
        *(("commit",) if s.batch.committable(together=s.together) >= 0 else ()),
    )


def _closing_moves(s: ClaimState) -> tuple[Move, ...]:
    """List the one thing a halted batch does next: give up a call, commit, log the next call, or wait."""
    if s.batch.dispatchable() >= 0:
        return ("abandon",)
    if s.batch.committable() >= 0:
        return ("commit",)
    return ("call",) if s.batch.at(s.batch.next_open()).state == "waiting" else ()


@BOOK.phase("tools", ready=lambda s: bool(_moves(s)))
def run_tools(m: Reading, s: ClaimState) -> None:
    """
    Make the next move of the batch.

    Rules: C-STEP-2
    """
    moves = _moves(s)
    _MOVES[moves[m.pick("tools", len(moves)) if len(moves) > 1 else 0]](m, s)


def _call(m: Reading, s: ClaimState) -> None:
    """
    Log the next call; its tool is asked after that, unless a listener aborts the turn.

    Rules: C-STEP-2
    """
    i = s.batch.next_open() if _halted(s) else s.batch.startable()
    s.batch = s.batch.call(i)
    call = s.batch.at(i).call
    m.publish(ToolCall(call.id, call.name), "C-STEP-2", "C-TURN-2")


def _dispatch(m: Reading, s: ClaimState) -> None:
    """
    Ask the tool of a logged call; nobody is asked for a name that the agent doesn't know.

    Rules: C-STEP-2
    """
    i = s.batch.dispatchable()
    slot = s.batch.at(i)
    if slot.mode == "unknown":
        s.batch = s.batch.finish(i, Error())
        return
    s.batch = s.batch.start(i)
    m.open("tool", slot=i, rules=("C-STEP-2",), call_id=slot.call.id, name=slot.call.name)


def _abandon(m: Reading, s: ClaimState) -> None:
    """
    Give up a logged call whose tool wasn't asked.

    Rules: C-STEP-2
    """
    s.batch = s.batch.finish(s.batch.dispatchable(), None)
    m.cite("C-STEP-2")


def _commit(m: Reading, s: ClaimState) -> None:
    """
    Commit the next result in call order; its contexts follow at once.

    Rules: C-STEP-2, C-STEP-3
    """
    i = s.batch.committable()
    slot = s.batch.at(i)
    s.batch = s.batch.commit(i)
    s.due = Queue.of(contexts_of(slot.outcome))
    s.at = "contexts" if s.due.occupied else "tools"
    is_error, code = _answer(m, s, slot)
    m.publish(ToolResult(slot.call.id, is_error, code), "C-STEP-2", "C-TURN-2")


def _answer(m: Reading, s: ClaimState, slot: Slot) -> tuple[bool, str | None]:
    """
    Tell what a result shows: whether it is an error, and its code.

    A success that comes after an abort is an error, a failure stays what it is. Nothing is said of a success that was
    there before the abort and is committed after it: an error (observed), or what it is.

    Rules: C-STEP-2
    """
    if slot.outcome is None:
        return True, "ABORTED_BEFORE_DISPATCH"
    if slot.mode == "unknown":
        return True, "UNKNOWN_TOOL"
    if not isinstance(slot.outcome, Result):
        return True, None
    if s.cause is None or (slot.early and m.pick("early-result", 2) == 1):
        return False, None
    return True, "ABORTED"


@BOOK.phase("contexts", joined=True)
def enter_context(m: Reading, s: ClaimState) -> None:
    """
    Insert the next context of the committed result; one whose id is pending fails the turn.

    Rules: C-STEP-3, C-SEND-3
    """
    item, s.due = s.due.pop()
    s.at = "contexts" if s.due.occupied else "tools"
    if all_pending(s).has(item.id):
        s.verdict = "failing"
        m.cite("C-SEND-3")
        _drop_rest(m, s)
    else:
        insert(m, s, item, "next-step", "C-STEP-3")


def _drop_rest(m: Reading, s: ClaimState) -> None:
    """
    Drop what came behind a refused context, or leave it to enter.

    Rules: C-STEP-3
    """
    if s.due.empty:
        return
    if m.choose(REFUSED_CONTEXT) == "rest-dropped":
        s.due, s.at = EMPTY, "tools"


def _close(m: Reading, s: ClaimState) -> None:
    """
    End the batch: the model owes an answer to it, unless a successful result concluded the turn.

    Rules: C-STEP-4, C-STEP-5
    """
    if s.batch.concluded:
        m.cite("C-STEP-5")
    s.owes, s.batch = s.batch.owed, NO_BATCH
    s.at = "close-step"


_MOVES: Mapping[Move, Callable[[Reading, ClaimState], None]] = {
    "dispatch": _dispatch,
    "abandon": _abandon,
    "call": _call,
    "commit": _commit,
    "close": _close,
}
