"""
Ask who is to blame for a difference in a driver session: the agent, or a recording that has lost or moved events.

The exchange that differs is changed and played again on the oracle as it stood before it. What is expected there, and
what is observed, name the suspects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from attrs import evolve, frozen

from turnproof.check.diagnosis import Diagnosis
from turnproof.check.results import Blame, EditKind, LogEdit
from turnproof.check.sessions import Exchange
from turnproof.hypotheses import Difference, Hypothesis
from turnproof.oracle import AmbiguousError, Oracle
from turnproof.score import event_text
from turnproof_model.events import Event

MOST_EDITS = 2
MOST_TRIALS = 60

REACH = 4
"""How far from the first difference an event may be that is one too many or out of place."""

TWICE, MISSING, MOVED, EXTRA = 0, 1, 2, 4
"""How far-fetched an edit is, as in a log without commands."""


class Moment(NamedTuple):
    """Be an exchange with what explained everything before it."""

    exchange: Exchange
    before: list[Hypothesis]


@frozen
class EventEdit:
    """Undo one change of an observation: leave an event out, put ``event`` in before ``at``, or move one to ``to``."""

    at: int
    event: Event | None = None
    to: int | None = None
    weight: int = 1

    def words(self, moment: Moment) -> LogEdit:
        """Say it for a reader; all events of an exchange stand in one line."""
        line, events = moment.exchange.line, moment.exchange.observation.events
        if self.event is not None:
            return LogEdit("missing", event_text(self.event), line)
        kind: EditKind = "extra" if self.to is None else "moved"
        return LogEdit(kind, event_text(events[self.at]), line, None if self.to is None else line)


class Differing(NamedTuple):
    """Be the first difference of a changed exchange: what, and at which of its events as they were recorded."""

    difference: Difference
    place: int


def blame_session(moment: Moment, oracle: Oracle, difference: Difference | None) -> Blame:
    """
    Say who is to blame for what broke in an exchange.

    Args:
        moment: the exchange.
        oracle: of the session; it is not changed.
        difference: what the oracle found; None where only a monitor objects.
    """
    if difference is None:
        return Blame("agent", "the exchange is what the rules demand, but for what a monitor says")
    found = Diagnosis(
        mark=lambda edits: _mark(moment, oracle, edits),
        suspects=lambda mark: _suspects(moment, mark),
        key=lambda mark: (mark.place, mark.difference.where, repr(mark.difference.expected)),
        reached=lambda mark: mark.place,
        most_edits=MOST_EDITS,
        most_trials=MOST_TRIALS,
        likely=MISSING,
    ).smallest()
    if not found:
        return Blame("agent", f"nothing that {MOST_EDITS} lost, repeated or moved events would explain")
    edits, *others = (tuple(edit.words(moment) for edit in sorted(one, key=lambda e: e.at)) for one in found)
    said = "; ".join(map(str, edits))
    return Blame("open", f"the agent broke the rule, or {said} of the recording", edits, tuple(others[:3]))


def _mark(moment: Moment, oracle: Oracle, edits: frozenset[EventEdit]) -> Differing | None:
    """Play the changed exchange; tell where it differs first."""
    events, places = _applied(moment.exchange.observation.events, edits)
    played = Oracle(oracle.profile, oracle.contract, unseen=oracle.unseen, assumed=oracle.assumed)
    played.hypotheses = list(moment.before)
    observation = evolve(moment.exchange.observation, events=events)
    try:
        difference = played.judge(moment.exchange.command, observation).difference
    except AmbiguousError:
        return None
    if difference is None:
        return None
    judged = played.judged_events(moment.exchange.command, observation)
    index = difference.index if difference.where == "events" else len(judged)
    return Differing(difference, _place(events, places, judged[index] if index < len(judged) else None))


def _place(events: tuple[Event, ...], places: list[int], event: Event | None) -> int:
    """Name the recorded event at which a changed one stands; behind all of them where there is none."""
    found = next((place for place, other in zip(places, events, strict=True) if other is event), None)
    return len(events) if found is None else found


def _applied(events: tuple[Event, ...], edits: frozenset[EventEdit]) -> tuple[tuple[Event, ...], list[int]]:
    """Apply edits at once; also tell at which recorded event each of the changed ones stands."""
    gone = {edit.at for edit in edits if edit.event is None}
    out: list[tuple[Event, int]] = []
    for place in range(len(events) + 1):
        for edit in edits:
            if edit.event is not None and edit.at == place:
                out.append((edit.event, place))
            elif edit.to == place:
                out.append((events[edit.at], place))
        if place < len(events) and place not in gone:
            out.append((events[place], place))
    return tuple(event for event, _ in out), [place for _, place in out]


def _suspects(moment: Moment, mark: Differing) -> Iterator[EventEdit]:
    """List the edits that may help against a difference."""
    events, place = moment.exchange.observation.events, mark.place
    expected = mark.difference.expected
    if isinstance(expected, Event):
        yield EventEdit(place, expected, weight=MISSING)
        for at, event in enumerate(events):
            if expected.admits(event) and at not in (place, place - 1):
                yield EventEdit(at, to=place, weight=MOVED)
    for at in range(max(place - REACH, 0), min(place + REACH, len(events))):
        twice = events[at] in events[max(at - REACH, 0) : at]
        yield EventEdit(at, weight=TWICE if twice else EXTRA)
        for to in range(max(at - REACH, 0), min(at + REACH, len(events)) + 1):
            if to not in (at, at + 1):
                yield EventEdit(at, to=to, weight=MOVED)
