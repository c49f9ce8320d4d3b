"""
Run the steps of a turn of contract ``claim``: claim, decision, request, answer, and whether another step follows.

    claim → claim-prompt → announce* → ask → decided → enter → commit* → request → answer → tools (claim_tools.py)
          → close-step → boundary → claim … | stopping → claim … | end

A claim is one synchronous stack, and so are ``step/start`` and its batch: nothing lands inside them, only listeners
call back. Absent here: what opens and closes turns, and what callers do.
"""

from __future__ import annotations

from turnproof_model.algebra import EMPTY, entered
from turnproof_model.claim_state import BOOK, REENTRY, ClaimState
from turnproof_model.claim_tools import lay_out
from turnproof_model.events import AssistantMessage, Claimed, Spliced, StepEnd, StepStart, UserMessage
from turnproof_model.rulebook import Reading
from turnproof_model.vocabulary import Enter, Error, MaxTokens, Outcome, Reject, Retry, Text, Throw, Tools

_CLAIMS = ("C-CLAIM-1", "C-CLAIM-2", "C-CLAIM-4", "C-EDIT-2")


def _take(s: ClaimState) -> Outcome | None:
    """Take what the awaited gate settled with."""
    outcome, s.outcome = s.outcome, None
    return outcome


# ------------------------------------------------------------------------------------------------ claim, pre-step
@BOOK.phase("claim")
def claim(m: Reading, s: ClaimState) -> None:
    """
    Claim the whole next-step list and, first in a turn, one prompt; once begun this runs to its end.

    Rules: C-CLAIM-1, C-CLAIM-2, C-CAN-5, C-TURN-3
    """
    if s.cause is not None:
        s.at = "end"
        return
    taken = s.next_step
    s.prompt = s.next_turn.head() if s.step == 0 else EMPTY
    s.claimed = s.due = taken.join(s.prompt)
    s.at = "claim-prompt"
    if m.has(REENTRY):
        s.next_step = EMPTY
        s.next_turn = s.next_turn.tail() if s.step == 0 else s.next_turn
    if taken.occupied:
        m.publish(Spliced("next-step", 0, taken.size), *_CLAIMS)
        s.next_step = s.next_step if m.has(REENTRY) else EMPTY


@BOOK.phase("claim-prompt", joined=True)
def claim_prompt(m: Reading, s: ClaimState) -> None:
    """
    Log that the claim took its prompt, if it took one.

    Rules: C-CLAIM-1, C-CLAIM-2, C-TURN-3
    """
    s.at = "announce"
    if s.prompt.occupied:
        m.publish(Spliced("next-turn", 0, 1), "C-TURN-3", *_CLAIMS)
        s.next_turn = s.next_turn if m.has(REENTRY) else s.next_turn.tail()


@BOOK.phase("announce", joined=True)
def announce_claimed(m: Reading, s: ClaimState) -> None:
    """
    Publish the next claimed message.

    Rules: C-CLAIM-2
    """
    if s.due.empty:
        s.at = "ask"
        return
    item, s.due = s.due.pop()
    m.publish(Claimed(item.id, s.turn), "C-CLAIM-2", "C-CLAIM-1", "C-CLAIM-4")


@BOOK.phase("ask")
def ask_what_enters(m: Reading, s: ClaimState) -> None:
    """
    Ask for the one decision of this boundary, unless an abort came after the claim.

    Rules: C-PRE-1, C-CAN-4
    """
    if s.cause is not None:
        s.at = "end"
        return
    s.at = "decided"
    m.open("pre-step", rules=(*_continues(s), "C-PRE-1"), claimed=s.claimed.ids, turn=s.turn, step=s.step + 1)


def _continues(s: ClaimState) -> tuple[str, ...]:
    """Name the rule by which a turn goes on behind its first step; rules: C-STEP-4."""
    return ("C-STEP-4",) if s.step > 0 else ()


@BOOK.phase("decided", awaits="pre-step")
def take_decision(m: Reading, s: ClaimState) -> None:
    """
    Let the decided batch in, or let nothing of it; after an abort no decision counts.

    Rules: C-PRE-1, C-PRE-2, C-PRE-3, C-PRE-4, C-CAN-4, C-XREF-1
    """
    outcome = _take(s)
    s.at = "end"
    if s.cause is not None:
        m.cite("C-CAN-4")
    elif isinstance(outcome, Enter):
        _let_in(m, s, outcome)
    elif isinstance(outcome, Reject):
        s.verdict = "blocked"
    else:
        s.verdict, s.at = "failing", "fail"


def _let_in(m: Reading, s: ClaimState, outcome: Enter) -> None:
    """
    Enter a step with the decided batch; an empty one only where the model owes an answer.

    Rules: C-PRE-1, C-PRE-3, C-PRE-4
    """
    s.due = entered(outcome, s.claimed, m.message)
    m.cite("C-PRE-1", *(() if outcome.messages is None else ("C-PRE-4",)))
    s.at = "enter"
    if s.due.empty:
        m.cite("C-PRE-3")
        s.at = "enter" if s.owes else "end"


# ------------------------------------------------------------------------------------------------ step
@BOOK.phase("enter")
def open_step(m: Reading, s: ClaimState) -> None:
    """
    Open the step, unless an abort came before it; the batch is part of the same publication.

    Rules: C-STEP-1, C-TURN-2, C-CAN-4
    """
    if s.cause is not None:
        s.due, s.at = EMPTY, "end"
        return
    rules = (*_continues(s), "C-STEP-1", "C-TURN-2")
    s.step, s.at = s.step + 1, "commit"
    m.publish(StepStart(s.turn, s.step), *rules)


@BOOK.phase("commit", joined=True)
def commit_entered(m: Reading, s: ClaimState) -> None:
    """
    Commit the next message of the entered batch, exactly as it was let in.

    Rules: C-PRE-1, C-TURN-2, C-LOG-1, C-LOG-2
    """
    if s.due.empty:
        s.at = "request"
        return
    item, s.due = s.due.pop()
    accepted = s.claimed.get(item.id)
    replaced = accepted is not None and accepted.message.text != item.message.text
    committed = UserMessage(item.id, item.message.source.kind, item.message.text, replaced=replaced)
    m.publish(committed, "C-PRE-1", "C-TURN-2", "C-LOG-1", "C-LOG-2")


@BOOK.phase("request")
def make_request(m: Reading, s: ClaimState) -> None:
    """
    Show the model the log, unless a listener aborted the turn; a cancel meanwhile meets the gate as it opens.

    Rules: C-REQ-1, C-STEP-1, C-CAN-4
    """
    if s.cause is not None:
        m.cite("C-CAN-4")
        s.at = "close-step"
        return
    s.at = "answer"
    m.request("C-REQ-1", "C-STEP-1")
    m.open("model", aborted=s.cause is not None, rules=("C-STEP-1",))


@BOOK.phase("answer", awaits="model")
def take_answer(m: Reading, s: ClaimState) -> None:
    """
    Commit what the model said; after an abort only what it had streamed before, as interrupted.

    Calls of an answer that hit the ceiling are no calls (observed).

    Rules: C-STEP-1, C-STEP-2, C-TURN-5, C-CAN-1
    """
    outcome = _take(s)
    s.at = "close-step"
    if s.cause is not None:
        _interrupt(m, s)
    elif isinstance(outcome, Error):
        s.at = "failed-request"
        m.open("request-error", rules=("C-STEP-1",), turn=s.turn, step=s.step)
    elif isinstance(outcome, (Text, Tools, MaxTokens)):
        s.owes = False
        s.ceiling = s.ceiling or isinstance(outcome, MaxTokens)
        calls = outcome.calls if isinstance(outcome, Tools) else ()
        if calls:
            lay_out(m, s, calls)
        said = AssistantMessage(s.turn, s.step, tuple(call.id for call in calls), m.partial() + outcome.text)
        m.publish(said, "C-STEP-1", "C-TURN-2")


def _interrupt(m: Reading, s: ClaimState) -> None:
    """
    Keep what was streamed before the abort.

    Rules: C-CAN-1
    """
    streamed = m.partial()
    if streamed:
        m.publish(AssistantMessage(s.turn, s.step, (), streamed, interrupted=True), "C-CAN-1", "C-STEP-1", "C-TURN-2")


@BOOK.phase("failed-request", awaits="request-error")
def take_error_decision(m: Reading, s: ClaimState) -> None:
    """
    Make the request again inside the step, or let the turn fail; an abort is looked at where either goes on.

    Rules: C-STEP-1, C-TURN-5
    """
    if isinstance(_take(s), Retry):
        s.at = "request"
        m.cite("C-STEP-1")
        return
    s.at = "close-step"
    if s.cause is None:
        s.verdict = "failing"


@BOOK.phase("close-step")
def close_step(m: Reading, s: ClaimState) -> None:
    """
    Close the step.

    Rules: C-STEP-1
    """
    s.at = "boundary"
    s.claimed = s.prompt = EMPTY
    m.publish(StepEnd(s.turn, s.step), "C-STEP-1", "C-TURN-2")


@BOOK.phase("boundary")
def reach_boundary(m: Reading, s: ClaimState) -> None:
    """
    Go on with another boundary while input is pending or an answer is owed; else ask whether the turn stops.

    Rules: C-STEP-4, C-STEP-5, C-CAN-1
    """
    if s.cause is not None:
        s.at = "end"
    elif s.verdict != "":
        s.at = "fail"
    elif s.owes:
        m.cite("C-STEP-4")
        s.at = "claim"
    else:
        _reach_content(m, s)


def _reach_content(m: Reading, s: ClaimState) -> None:
    """
    Go on where the model owes nothing: only pending input asks for another step.

    Rules: C-STEP-4, C-STEP-5
    """
    m.cite("C-STEP-4")
    if s.next_step.occupied:
        s.at = "claim"
    else:
        s.at = "stopping"
        m.open("turn-stopping", rules=("C-STEP-4",), turn=s.turn)


@BOOK.phase("stopping", awaits="turn-stopping")
def take_stopping(m: Reading, s: ClaimState) -> None:
    """
    End the turn, unless next-step input came meanwhile; an abort is looked at where either goes on.

    Rules: C-STEP-4, C-TURN-5
    """
    if isinstance(_take(s), Throw):
        s.verdict, s.at = "failing", "fail"
        return
    m.cite("C-STEP-4")
    s.at = "claim" if s.next_step.occupied else "end"
