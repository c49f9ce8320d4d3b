"""
Take one step of contract ``window`` after another: hook, drain, request, reply, tool batch, and what comes after it.

The window is open throughout. Between an assistant message with calls and the last result of its batch nothing else
is committed, which is why the outbox is drained at step boundaries only. After an abort the loop goes the same way as
without one and looks at ``s.abort`` at each fork: nothing starts, nothing more is drained, what was begun is closed.
"""

from __future__ import annotations

from turnproof_model.algebra import NO_BATCH, Queue, Slot, ToolBatch, contexts_of
from turnproof_model.events import AssistantMessage, StepEnd, StepStart, ToolCall, ToolResult
from turnproof_model.policies import CONTEXT_AT_STOP, CONTEXT_ON_ABORT
from turnproof_model.rulebook import Reading
from turnproof_model.vocabulary import Error, MaxTokens, Result, Retry, Text, Throw, Tools
from turnproof_model.window_state import BOOK, WindowState, aborted, begin_drain, passes_over, take_outcome


# ------------------------------------------------------------------------------------------------ a step
@BOOK.phase("hook")
def ask_step_hook(m: Reading, s: WindowState) -> None:
    """
    Number the next step and ask the hook before it.

    Rules: W-STEP-1
    """
    if passes_over(m, s, "step"):
        s.at = "ending"
        return
    s.step += 1
    s.at = "hooked"
    m.open("step", aborted=aborted(s), rules=("W-STEP-1",), turn=s.turn, step=s.step)


@BOOK.phase("hooked", awaits="step")
def heed_step_hook(m: Reading, s: WindowState) -> None:  # noqa: ARG001  # nothing is published here
    """
    Drain the outbox for the request, unless the turn is aborted or the hook failed.

    Rules: W-STEP-2, W-TURN-5
    """
    outcome = take_outcome(s)
    if aborted(s):
        s.at = "ending"
    elif isinstance(outcome, Throw):
        s.failed, s.at = True, "ending"
    else:
        begin_drain(s, "step")


@BOOK.phase("step")
def open_step(m: Reading, s: WindowState) -> None:
    """
    Open the step and show the model the log as it stands; after an abort there is no request.

    Rules: W-STEP-1, W-STEP-5, W-STEP-6, W-REQ-1, W-CAN-1
    """
    if aborted(s):
        s.at = "ending"
        return
    cause = ("W-STEP-5", "W-STEP-8") if s.owed else ("W-STEP-6",)
    s.owed = False
    s.at = "cut"
    m.publish(StepStart(s.turn, s.step), *(cause if s.step > 1 else ()), "W-STEP-1", "W-TURN-2")
    if aborted(s):
        return
    s.at = "reply"
    m.request("W-REQ-1", "W-WIN-4", "W-STEP-1")
    m.open("model", aborted=aborted(s), rules=("W-STEP-1",))


@BOOK.phase("reply", awaits="model")
def take_reply(m: Reading, s: WindowState) -> None:
    """
    Commit what the model said; the calls of a truncated reply are dropped, and so is a reply after an abort.

    Rules: W-CAN-1, W-STEP-3, W-TURN-5
    """
    outcome = take_outcome(s)
    if aborted(s):
        s.at = "cut"
        if m.partial():
            m.publish(AssistantMessage(s.turn, s.step, (), m.partial(), interrupted=True), "W-CAN-1")
    elif isinstance(outcome, Tools):
        s.batch = ToolBatch.of(outcome.calls, {call.name: m.tool_mode(call.name) for call in outcome.calls})
        s.at = "tools"
        said = AssistantMessage(s.turn, s.step, tuple(call.id for call in outcome.calls), m.partial() + outcome.text)
        m.publish(said, "W-STEP-1", "W-TURN-2")
    elif isinstance(outcome, (Text, MaxTokens)):
        s.ceiling = s.ceiling or isinstance(outcome, MaxTokens)
        m.publish(AssistantMessage(s.turn, s.step, (), m.partial() + outcome.text), "W-STEP-1", "W-TURN-2")
        begin_drain(s, "step-end")
    else:
        s.at = "unanswered"


# ------------------------------------------------------------------------------------------------ tools
def _tools_can_move(s: WindowState) -> bool:
    """Tell whether a call can start, a result can be committed, or the batch is complete."""
    if s.batch.committable() >= 0:
        return True
    if aborted(s):
        return not s.batch.running
    if s.batch.done:
        return True
    return s.batch.startable() >= 0


@BOOK.phase("tools", ready=_tools_can_move)
def run_tools(m: Reading, s: WindowState) -> None:
    """
    Start a call, or commit the next result in call order; after an abort settle what was started, then skip the rest.

    Rules: W-STEP-3
    """
    start = -1 if aborted(s) else s.batch.startable()
    commit = s.batch.committable()
    if _starts(m, start, commit):
        start_call(m, s, start)
    elif commit >= 0:
        commit_result(m, s, commit)
    elif s.batch.next_open() >= 0:
        skip_call(m, s, s.batch.next_open())
    else:
        complete_batch(m, s)


def _starts(m: Reading, start: int, commit: int) -> bool:
    """Choose between a call that may start and a result that may be committed: either may come first."""
    if start < 0:
        return False
    if commit < 0:
        return True
    return m.pick("start the next call before committing the result that is in", 2) == 0


def start_call(m: Reading, s: WindowState, i: int) -> None:
    """
    Record a call, then run its tool; an unknown one answers at once, and so does one whose listener aborts the turn.

    Rules: W-STEP-3
    """
    slot, s.batch = s.batch.at(i), s.batch.start(i)
    m.publish(ToolCall(slot.call.id, slot.call.name), "W-STEP-3", "W-TURN-2")
    if aborted(s):
        s.batch = s.batch.finish(i, None)
    elif slot.mode == "unknown":
        s.batch = s.batch.finish(i, Error())
    else:
        m.open("tool", slot=i, rules=("W-STEP-3",), call_id=slot.call.id, name=slot.call.name)


def commit_result(m: Reading, s: WindowState, i: int) -> None:
    """
    Commit a result, then stage its contexts; a conclusion counts only while nothing has aborted the turn.

    Rules: W-STEP-3, W-STEP-4, W-STEP-6
    """
    slot, s.batch = s.batch.at(i), s.batch.commit(i)
    event = _result(slot, aborted=aborted(s))
    if isinstance(slot.outcome, Result) and slot.outcome.concludes and not event.is_error:
        s.concluded = True
    m.publish(event, "W-STEP-3", "W-TURN-2")
    contexts = Queue.of(contexts_of(slot.outcome))
    if contexts.occupied:
        m.cite("W-STEP-4", "W-FIFO-5")
        s.outbox = s.outbox.join(contexts)


def _result(slot: Slot, *, aborted: bool) -> ToolResult:
    """Say how a started call is answered: after an abort a success is an error, a failure stays what it is."""
    if slot.outcome is None:
        return ToolResult(slot.call.id, is_error=True, code="ABORTED_BEFORE_DISPATCH")
    if slot.mode == "unknown":
        return ToolResult(slot.call.id, is_error=True, code="UNKNOWN_TOOL")
    if isinstance(slot.outcome, Error):
        return ToolResult(slot.call.id, is_error=True)
    if aborted:
        return ToolResult(slot.call.id, is_error=True, code="ABORTED")
    return ToolResult(slot.call.id)


def skip_call(m: Reading, s: WindowState, i: int) -> None:
    """
    Record and answer a call that an abort kept from starting.

    Rules: W-STEP-3
    """
    slot, s.batch = s.batch.at(i), s.batch.commit(i)
    m.publish(ToolCall(slot.call.id, slot.call.name), "W-STEP-3", "W-TURN-2")
    m.publish(ToolResult(slot.call.id, is_error=True, code="ABORTED_BEFORE_DISPATCH"), "W-STEP-3", "W-TURN-2")


def complete_batch(m: Reading, s: WindowState) -> None:
    """
    Drain the outbox behind the complete batch; after an abort at most context that no steering accompanies.

    Rules: W-STEP-2, W-STEP-3, W-CAN-6
    """
    if not aborted(s):
        begin_drain(s, "step-end")
        return
    m.cite("W-CAN-6")
    if _appends_context(m, s):
        begin_drain(s, "step-end", firm=True)
    else:
        s.at = "step-end"


def _appends_context(m: Reading, s: WindowState) -> bool:
    """Tell whether context that no steering accompanies is committed behind an aborted batch (W-CAN-6)."""
    if not s.outbox.only_context:
        return False
    return m.choose(CONTEXT_ON_ABORT) == "appended"


# ------------------------------------------------------------------------------------------------ after a step
@BOOK.phase("step-end")
def end_step(m: Reading, s: WindowState) -> None:
    """
    Close the step and decide: a conclusion ends the turn; results and steering ask for another request.

    Rules: W-STEP-1, W-STEP-5, W-STEP-6
    """
    called, s.batch = not s.batch.empty, NO_BATCH
    first = ("W-CAN-6", "W-CAN-1") if aborted(s) else ("W-STEP-3",) if called else ()
    m.publish(StepEnd(s.turn, s.step), *first, "W-STEP-1", "W-TURN-2")
    if s.concluded:
        m.cite("W-STEP-6")
        s.at = "ending"
    elif called:
        m.cite("W-STEP-6")
        s.at = "hook"
    else:
        m.cite("W-STEP-5")
        if _wants_step(s):
            s.at = "hook"
        else:
            ask_turn_stopping(m, s)


def _wants_step(s: WindowState) -> bool:
    """Tell whether steering, committed or staged, asks for another step; context alone doesn't (W-STEP-5)."""
    if s.owed:
        return True
    return s.outbox.has_steering


@BOOK.phase("cut")
def close_aborted_step(m: Reading, s: WindowState) -> None:
    """
    Close the step that an abort cut short.

    Rules: W-CAN-1
    """
    s.at = "ending"
    m.publish(StepEnd(s.turn, s.step), "W-CAN-1", "W-STEP-1", "W-TURN-2")


@BOOK.phase("unanswered")
def close_failed_step(m: Reading, s: WindowState) -> None:
    """
    Close the step whose request failed, and ask what to do about it.

    Rules: W-STEP-1, W-TURN-6
    """
    s.failed, s.at = True, "ending"
    m.publish(StepEnd(s.turn, s.step), "W-STEP-1", "W-TURN-2")
    if not aborted(s):
        s.at = "recovery"
        m.open("request-error", rules=("W-TURN-6",), turn=s.turn, step=s.step)


@BOOK.phase("recovery", awaits="request-error")
def heed_recovery(m: Reading, s: WindowState) -> None:  # noqa: ARG001  # nothing is published here
    """
    Note that the request is to be asked again; a hook that fails gives up.

    Rules: W-TURN-6
    """
    outcome = take_outcome(s)
    if not aborted(s):
        s.retry = isinstance(outcome, Retry)
    s.at = "ending"


# ------------------------------------------------------------------------------------------------ turn-stopping
def ask_turn_stopping(m: Reading, s: WindowState) -> None:
    """
    Ask before the turn stops; the loop asks even when an abort has come, and the gate hears of it at once.

    Rules: W-STEP-8
    """
    if passes_over(m, s, "turn-stopping"):
        s.at = "closing"
        return
    s.at = "stopping"
    m.open("turn-stopping", aborted=aborted(s), rules=("W-STEP-8",), turn=s.turn)


@BOOK.phase("stopping", awaits="turn-stopping")
def heed_turn_stopping(m: Reading, s: WindowState) -> None:
    """
    Drain what was staged by now, unless the turn is aborted or the hook failed.

    Rules: W-STEP-8, W-TURN-5
    """
    outcome = take_outcome(s)
    m.cite("W-STEP-8")
    if aborted(s):
        s.at = "ending"
    elif isinstance(outcome, Throw):
        s.failed, s.at = True, "ending"
    else:
        begin_drain(s, "stopped")


@BOOK.phase("stopped")
def stop_or_continue(m: Reading, s: WindowState) -> None:
    """
    Run another step of the same turn for steering, else end the turn.

    Rules: W-STEP-2, W-STEP-8, W-WIN-5
    """
    if aborted(s):
        s.at = "ending"
    elif _wants_step(s):
        s.at = "hook"
    elif _takes_last_context(m, s):
        begin_drain(s, "stopped")
    else:
        s.at = "closing"


def _takes_last_context(m: Reading, s: WindowState) -> bool:
    """Tell whether context that was staged during the last drain is committed before the turn ends."""
    if s.outbox.empty:
        return False
    return m.choose(CONTEXT_AT_STOP) == "appended"
