"""
Write traces as one line of short tokens, to judge them by the rules of ``core``.

``+m queued`` a waking entry (``+m? queued`` a quiet one), ``-m queued`` a dequeue, ``<m queued`` a requeue,
``drop m n`` a discard with its cause behind ``:`` (``drop m :removal``), ``ask m``, ``allow m``, ``block m`` and
``fail m`` an admission, ``turn 1``, ``end 1 completed``, ``step 1.1``, ``step-end 1.1``, ``user m``, ``steering m``,
``assistant c1 c2``, ``call c1``, ``result c1`` (``result c1!`` an error, ``result c1.`` one that concludes),
``request m A:c1 c1# A``, ``retry``, ``running``, ``idle``, ``cancel``, ``cancel keep``, ``cancel keep 1``, ``dispose``,
``resume``, ``waited``, ``pending m``. Tokens are parted by ``;``.
"""

from __future__ import annotations

from typing import Any

from turnproof_model import trace as t
from turnproof_model.monitors.base import Report
from turnproof_model.monitors.core import judge_trace

ALL: tuple[t.TraceKind, ...] = ("inbox", "admission", "log", "request", "status", "cancel", "idle")
TURN = "+m queued; running; -m queued; turn 1; user m; step 1.1; request m; "
DONE = "assistant; step-end 1.1; end 1 completed; idle; "


def records(text: str) -> list[t.Record]:
    """Read the records of a trace."""
    return [_record(part.split()) for part in text.split(";") if part.strip()]


def judged(text: str, kinds: str = "", contract: t.TraceContract = "core") -> Report:
    """
    Judge a trace.

    Args:
        text: tokens parted by ``;``.
        kinds: which kinds the trace holds, parted by spaces; all of them if none is named.
        contract: whose rules it was recorded under.
    """
    held: Any = tuple(kinds.split()) or ALL
    return judge_trace(t.Header(contract, held), enumerate(records(text), 2))


def broken(text: str, kinds: str = "", contract: t.TraceContract = "core") -> set[str]:
    """Name the rules that a trace breaks."""
    return set(judged(text, kinds, contract).broken())


def _record(words: list[str]) -> t.Record:
    word, rest = words[0], words[1:]
    where: Any = rest[0] if rest else None
    if word[0] == "+":
        return t.InboxEnqueue(word[1:].rstrip("?"), where, wakeup=not word.endswith("?"))
    if word[0] in "-<":
        made: Any = t.InboxDequeue if word[0] == "-" else t.InboxRequeue
        return made(word[1:], where)  # type: ignore[no-any-return]
    match word:
        case "drop":
            cause: Any = next((part[1:] for part in rest if part[0] == ":"), None)
            return t.InboxDiscard(tuple(part for part in rest if part[0] != ":"), cause)
        case "ask":
            return t.AdmissionStart(where)
        case "allow":
            return t.AdmissionAllow(where, contexts=tuple(rest[1:]))
        case "block":
            return t.AdmissionBlock(where, tuple(rest[1:]))
        case "fail":
            return t.AdmissionFail(where)
        case "cancel":
            number = next((int(part) for part in rest if part.isdigit()), None)
            return t.Cancelled("user", keep_inbox="keep" in rest, turn=number)
        case "pending":
            return t.End(tuple(rest))
        case "running" | "idle":
            return t.StatusSet(word)  # type: ignore[arg-type]
        case "retry" | "dispose" | "resume" | "waited":
            plain: Any = {"retry": t.RequestRetry, "dispose": t.DisposeCalled, "resume": t.SessionResume}
            return plain.get(word, t.IdleResolved)()  # type: ignore[no-any-return]
    return _logged(word, rest)


def _logged(word: str, rest: list[str]) -> t.Record:
    match word:
        case "turn":
            return t.TurnStart(int(rest[0]))
        case "end":
            return t.TurnEnd(int(rest[0]), rest[1])
        case "step" | "step-end":
            place: Any = tuple(int(number) for number in rest[0].split("."))
            return (t.StepStart if word == "step" else t.StepEnd)(*place)
        case "user":
            return t.UserMessage(rest[0])
        case "steering":
            return t.SteeringMessage(rest[0])
        case "assistant":
            return t.AssistantMessage(calls=tuple(rest))
        case "call":
            return t.ToolCall(rest[0])
        case "result":
            return t.ToolResult(rest[0].rstrip("!."), error=rest[0].endswith("!"), concludes=rest[0].endswith("."))
        case "request":
            return t.Requested(tuple(_shown(part) for part in rest))
    raise AssertionError(f"no record is written {word!r}")


def _shown(part: str) -> t.Shown:
    if part.endswith("#"):
        return ("tool", part[:-1])
    if part[0] == "A":
        return ("assistant", *(call for call in part[2:].split(",") if call))
    return ("user", part)
