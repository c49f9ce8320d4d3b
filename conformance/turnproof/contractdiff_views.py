"""
Look at a story from the side of one rule family, in words that both contracts share.

A *view* draws *facts* from what was observed: short sentences without any contract's own event names. Two stories
differ for a family where its facts do. A fact knows the event that shows it, and through it the rules that demand it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from attrs import frozen

from turnproof.contractdiff_play import ASKS, Exchange
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
