"""
Map the rule families of one contract to those of the other: what each asks, what it looks at, what to mind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from attrs import frozen

from turnproof.contractdiff_play import Decision, Move
from turnproof.contractdiff_views import View, delivered, discarded, fates, shown, statuses, turns, woken
from turnproof_model import vocabulary as v


def _has(move: Move, *classes: type[object]) -> bool:
    parts = move.ops if isinstance(move, v.Batch) else (move,)
    return any(isinstance(part, classes) for part in parts)


def _refuses(move: Move) -> bool:
    return isinstance(move, Decision) and move.verdict != "enter"


@frozen
class Family:
    """
    Map rule families of the contracts to each other.

    Attributes:
        question: what the view answers.
        moving: what to mind when moving from one contract to the other.
        rules: the prefixes of the rules of each contract.
        view: what to compare.
        nothing: what to say of a story without any fact.
        about: which moves the family is about; a difference counts from the first of them on, none is any move.
        parting: where the family sees a difference, all that follows is of that cause, whoever sees it.
    """

    title: str
    question: str
    moving: str
    rules: Mapping[v.Contract, Collection[str]]
    view: View
    about: Callable[[Move], bool] | None = None
    nothing: str = "nothing of the kind happens"
    parting: bool = False


FAMILIES: tuple[Family, ...] = (
    Family(
        "Delivery",
        "Where is a message as soon as it was sent?",
        "In `window` the moment of sending decides where a message goes, and context injected at idle is "
        "history at once. In `claim` every message waits in the list that it names until a claim takes it "
        "out, so an id can wait only once.",
        {"window": ("W-SEND", "W-ROUTE", "W-FIFO", "W-WIN", "W-DIS"), "claim": ("C-SEND", "C-CLAIM", "C-DIS")},
        delivered,
        parting=True,
    ),
    Family(
        "Waking",
        "What does a message set going, and what is left waiting?",
        "In `window` a waking prompt always gets a turn of its own, also after a turn that failed, and a "
        "quiet one never starts anything. In `claim` the first send of a stack starts the loop at once and "
        "the next one joins it; unless an agent takes a freedom, anything that waits starts a turn after a "
        "completed one, and nothing does after a failed one.",
        {"window": ("W-WAKE",), "claim": ("C-WAKE", "C-PRE-5", "C-TURN-6")},
        woken,
        parting=True,
    ),
    Family(
        "Decision",
        "A prompt is refused, or its hook fails: what becomes of everything that was sent?",
        "`window` decides before there is a turn: a refusal lets staged context into the log, and the next "
        "prompt has its chance. `claim` decides inside the turn: a refusal takes the claimed batch with it, "
        "and whatever else waits goes on waiting, unless an agent takes the freedom to start the next turn.",
        {"window": ("W-ADM",), "claim": ("C-PRE",)},
        fates,
        _refuses,
    ),
    Family(
        "Turns",
        "Which turns does the log hold, and how do they end?",
        "An admission of `window` that comes to nothing leaves no turn; in `claim` it is a turn with a "
        "number, a start and an end. A retried request is a turn of its own in `window`, and part of the same "
        "step in `claim`.",
        {"window": ("W-TURN", "W-ADM", "W-DIS"), "claim": ("C-TURN", "C-PRE", "C-CAN", "C-DIS")},
        turns,
        nothing="there is no turn",
    ),
    Family(
        "Steps and requests",
        "Which request is the first to show a message to the model?",
        "What arrives while a prompt is decided on is in the first request of a `window` turn, and in the "
        "second of a `claim` turn. Context alone makes only `claim` ask the model again.",
        {"window": ("W-STEP", "W-REQ", "W-WIN", "W-ADM"), "claim": ("C-STEP", "C-REQ", "C-CLAIM", "C-PRE")},
        shown,
    ),
    Family(
        "Cancel",
        "The caller cancels: what becomes of everything that was sent?",
        "With `keepInbox`, `window` goes on with the queue after the abort, while `claim` waits for the next "
        "waking send. What is sent during an abort follows the window in `window`; in `claim` it restarts the "
        "loop.",
        {"window": ("W-CAN",), "claim": ("C-WAKE", "C-CAN")},
        fates,
        lambda move: _has(move, v.Cancel),
    ),
    Family(
        "Discards",
        "Which messages does a cancel announce as discarded?",
        "Context is in no queue of `window`, so it is dropped without a word; in `claim` each message that "
        "entered a list leaves it by an event.",
        {"window": ("W-CAN", "W-FIFO"), "claim": ("C-CAN", "C-CLAIM")},
        discarded,
        nothing="no message is announced",
        about=lambda move: _has(move, v.Cancel),
    ),
    Family(
        "Disposal",
        "The agent is disposed of: what becomes of everything that was sent?",
        "After a disposal `window` takes nothing any more. In `claim` late input is refused, or waits in the "
        "log's inbox for whoever resumes it.",
        {"window": ("W-DIS",), "claim": ("C-DIS",)},
        fates,
        lambda move: _has(move, v.Dispose),
    ),
    Family(
        "Status",
        "What does the agent say of itself?",
        "One running interval of `window` spans an abort and the work that follows it. `claim` announces "
        "`idle` and `running` again: a restart, and no idleness.",
        {"window": ("W-STAT", "W-CAN"), "claim": ("C-STAT", "C-WAKE")},
        statuses,
    ),
    Family(
        "Resume",
        "The process dies, and a new agent goes on over the log: what is left of everything that was sent?",
        "The inbox of `window` lives in memory and dies with the process; that of `claim` is rebuilt from the log.",
        {"window": ("W-LOG",), "claim": ("C-LOG",)},
        fates,
        lambda move: _has(move, v.Resume),
    ),
)
"""Each family of ``window`` with its counterpart in ``claim``."""
