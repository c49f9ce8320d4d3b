"""
Look at a story from the side of one rule family, in words that both contracts share.

A *view* draws *facts* from what was observed: short sentences without any contract's own event names. Two stories
differ for a family where its facts do. A fact knows the event that shows it, and through it the rules that demand it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeAlias

from attrs import frozen

from turnproof.contractdiff_play import ASKS, Decision, Exchange, Move
from turnproof_model import events as e
from turnproof_model import vocabulary as v
from turnproof_model.observation import InboxView

Story: TypeAlias = tuple[Exchange, ...]
Place: TypeAlias = tuple[int, int]


@frozen
class Fact:
    """Say one thing about a story; ``at`` is the event that shows it (exchange, event; from 0), if one does."""

    text: str
    at: Place | None = None


View: TypeAlias = Callable[[v.Contract, Story], tuple[Fact, ...]]


# ------------------------------------------------------------------------------------------------ reading a story
def happened(story: Story) -> Iterator[tuple[Place, e.Event]]:
    """Go through the events of a story with their places."""
    for number, exchange in enumerate(story):
        for position, event in enumerate(exchange.observation.events):
            yield (number, position), event


def sends(command: v.Request) -> Iterator[v.Send]:
    """Go through the sends of a command."""
    if isinstance(command, v.Send):
        yield command
    elif isinstance(command, v.Batch):
        for op in command.ops:
            yield from sends(op)


def _sent(story: Story) -> dict[str, v.Send]:
    return {send.message.id: send for exchange in story for send in sends(exchange.command)}


def _waiting(inbox: InboxView | None) -> tuple[str, ...]:
    return () if inbox is None else inbox.next_turn + inbox.next_step


def committed(story: Story) -> dict[str, Place]:
    """Find the messages that the log holds, with the places of the events that logged them."""
    logs = (e.UserMessage, e.SteeringMessage)
    return {event.id: place for place, event in happened(story) if isinstance(event, logs)}


def _mentions(event: e.Event, message_id: str) -> bool:
    named = getattr(event, "id", None) == message_id
    return named or message_id in getattr(event, "ids", ()) or message_id in getattr(event, "inserted", ())


def _last_mention(story: Story, message_id: str) -> Place | None:
    places = [place for place, event in happened(story) if _mentions(event, message_id)]
    return places[-1] if places else None


# ------------------------------------------------------------------------------------------------ the views
def delivered(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell where each message is as soon as it was sent."""
    return tuple(
        _delivered(story, number, send.message.id)
        for number, exchange in enumerate(story)
        for send in sends(exchange.command)
    )


def _delivered(story: Story, number: int, name: str) -> Fact:
    answer = story[number].observation
    place = next(((number, at) for at, event in enumerate(answer.events) if _mentions(event, name)), None)
    if answer.refused is not None or any(isinstance(event, e.OpThrew) for event in answer.events):
        return Fact(f"`{name}` is refused")
    if name in _waiting(answer.inbox):
        return Fact(f"`{name}` waits", place)
    if committed(story[number : number + 1]).get(name) is not None:
        return Fact(f"`{name}` is in the log at once", place)
    return Fact(f"`{name}` is taken up at once", place)


def fates(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell what has become of each message when all is at rest."""
    logged, waiting = committed(story), _waiting(story[-1].observation.inbox)
    facts = []
    for name in _sent(story):
        if name in logged:
            facts.append(Fact(f"`{name}` is in the log", logged[name]))
        elif name in waiting:
            facts.append(Fact(f"`{name}` still waits", _last_mention(story, name)))
        else:
            facts.append(Fact(f"`{name}` is gone", _last_mention(story, name)))
    return tuple(facts)


def woken(contract: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell how often work begins, by a prompt admitted or a turn opened, and which prompts are left waiting."""
    waiting, sent = _waiting(story[-1].observation.inbox), _sent(story)
    begun = [place for place, event in happened(story) if _begins(contract, event)]
    facts = [Fact("work begins again" if count else "work begins", place) for count, place in enumerate(begun)]
    for name, send in sent.items():
        if name in waiting and (send.wakeup or send.target == "next-turn"):
            facts.append(Fact(f"`{name}` is left waiting", _last_mention(story, name)))
    return tuple(facts)


def _begins(contract: v.Contract, event: e.Event) -> bool:
    """Tell what begins an activity: an admission, or a turn where the decision is asked inside it."""
    if contract == "window":
        return isinstance(event, e.GateOpened) and event.gate_kind == ASKS[contract]
    return isinstance(event, e.TurnStart)


def turns(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell which turns there are, when it is asked whether one may stop, and how they end."""
    facts: list[Fact] = []
    for place, event in happened(story):
        if isinstance(event, e.GateOpened) and event.gate_kind == "turn-stopping":
            facts.append(Fact("it is asked whether the turn may stop", place))
        elif isinstance(event, e.TurnEnd):
            facts.append(Fact(f"turn {event.turn} ends `{event.reason}`", place))
    return tuple(facts)


def shown(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell what each request shows for the first time."""
    facts: list[Fact] = []
    seen: set[str] = set()
    for place, event in happened(story):
        if isinstance(event, e.RequestMade):
            new = [seen_.id for seen_ in event.messages if seen_.id is not None and seen_.id not in seen]
            seen.update(new)
            news = " ".join(f"`{name}`" for name in new) or "no new message"
            facts.append(Fact(f"a request shows {news}", place))
    return tuple(facts)


def discarded(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell which messages are announced as discarded."""
    facts: list[Fact] = []
    for place, event in happened(story):
        ids = event.ids if isinstance(event, e.Discard) else (event.id,) if isinstance(event, e.Discarded) else ()
        facts.extend(Fact(f"`{name}` is announced as discarded", place) for name in ids)
    return tuple(sorted(facts, key=lambda fact: fact.text))


def statuses(_: v.Contract, story: Story) -> tuple[Fact, ...]:
    """Tell what status the agent announces, one after the other."""
    return tuple(
        Fact(f"status `{event.status}`", place)
        for place, event in happened(story)
        if isinstance(event, e.StatusChanged)
    )


# ------------------------------------------------------------------------------------------------ the families
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
        about: which moves the family is about; a difference counts from the first of them on, none is any move.
        parting: where the family sees a difference, all that follows is of that cause, whoever sees it.
    """

    title: str
    question: str
    moving: str
    rules: Mapping[v.Contract, Collection[str]]
    view: View
    about: Callable[[Move], bool] | None = None
    parting: bool = False


FAMILIES: tuple[Family, ...] = (
    Family(
        "Delivery",
        "Where is a message as soon as it was sent?",
        "In `window` the moment of sending decides where a message goes, and context injected at idle is "
        "history at once. In `claim` every message waits in the list that it names until a claim takes it "
        "out: so an id can wait only once, and even an agent that was disposed of keeps what it is sent.",
        {"window": ("W-SEND", "W-ROUTE", "W-FIFO", "W-WIN", "W-DIS"), "claim": ("C-SEND", "C-CLAIM", "C-DIS")},
        delivered,
        parting=True,
    ),
    Family(
        "Waking",
        "What does a message set going, and what is left waiting?",
        "In `window` a waking prompt always gets its turn, also after a turn that failed, and a quiet one "
        "never starts anything. In `claim` the first send of a stack starts the loop at once and the next one "
        "joins it; after a completed turn anything that waits starts the next, and after a failed one nothing "
        "does.",
        {"window": ("W-WAKE", "W-ROUTE"), "claim": ("C-WAKE", "C-TURN-6", "C-CLAIM")},
        woken,
        parting=True,
    ),
    Family(
        "Decision",
        "A prompt is refused, or its hook fails: what becomes of everything that was sent?",
        "`window` decides before there is a turn: a refusal lets staged context into the log, and the next "
        "prompt has its chance. `claim` decides inside the turn: a refusal takes the claimed batch with it "
        "and parks whatever else waits.",
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
        {"window": ("W-CAN",), "claim": ("C-CAN", "C-WAKE")},
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
        lambda move: _has(move, v.Cancel),
    ),
    Family(
        "Disposal",
        "The agent is disposed of: what becomes of everything that was sent?",
        "After a disposal, `window` takes nothing any more; `claim` may let late input wait in the log's "
        "inbox for an agent that resumes it.",
        {"window": ("W-DIS",), "claim": ("C-DIS",)},
        fates,
        lambda move: _has(move, v.Dispose),
    ),
    Family(
        "Status",
        "What does the agent say of itself?",
        "One running interval of `window` spans an abort and the work that follows it; `claim` announces "
        "`idle` and `running` again, which is a restart and not idleness.",
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
