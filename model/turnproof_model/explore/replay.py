"""
Replay a trace of packed states on real messages: the concrete reading must show the same, and break the same.

The walker tries all ways of each action, and keeps the one that reaches the packed state of the trace while its
observer, which reads along concretely, remembers the same. Tags are given to the messages that the trace gave them to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from turnproof_model.events import Event
from turnproof_model.explore.encoding import encode
from turnproof_model.explore.plays import STEPS, Memory
from turnproof_model.explore.product import NOTHING, Step
from turnproof_model.explore.walker import Walker
from turnproof_model.readings.codegen import Transition
from turnproof_model.readings.layout import Layout
from turnproof_model.readings.loading import Change, load_rules
from turnproof_model.readings.observers import Observer
from turnproof_model.readings.packed_sight import freedoms
from turnproof_model.readings.sight import ConcreteSight
from turnproof_model.vocabulary import AbortStyle, GateKind, Operation


class ReplayError(RuntimeError):
    """Say that a trace doesn't replay on real messages: the two readings disagree."""

    def __init__(self, step: Step, number: int) -> None:
        super().__init__(
            f"a trace must replay on real messages, but step {number} ({step.transition.action}) reaches no such state "
            f"or breaks other rules than {step.broken}; one of the two readings is wrong"
        )
        self.step = step
        self.number = number


@frozen
class Played:
    """
    Be one step of a replayed trace.

    ``op``: the operation that was given, ``None`` where the loop moved. ``inside``: operations that listeners gave,
    each with the event inside which it was. ``styles``: how gates heard an abort. ``broken``: the rules it broke.
    """

    op: Operation | None
    events: tuple[Event, ...]
    inside: tuple[tuple[Operation, Event], ...] = ()
    styles: Mapping[GateKind, AbortStyle] = field(factory=dict, hash=False)
    broken: tuple[str, ...] = ()


def replay(
    layout: Layout,
    observer: Observer | None,
    steps: Sequence[Step],
    changes: Sequence[Change] = (),
    spent: Mapping[str, int] = NOTHING,
) -> tuple[Played, ...]:
    """
    Replay a trace.

    Args:
        layout: how its states are packed.
        observer: who watches, if anybody does.
        steps: from a new agent on.
        changes: made to the rules.
        spent: what of the bounds was spent before.

    Raises:
        ReplayError: real messages can't take this way.
    """
    forest = layout.program.forest
    book = load_rules(forest.contract, changes=changes)
    walker = Walker.fresh(book, forest.bounds, forest.around)
    walker.spent = dict(spent)
    if observer is not None:
        walker.sights = [ConcreteSight(observer, freedom=freedoms(forest.around.policies))]
    played: list[Played] = []
    for number, step in enumerate(steps, 1):
        walker = _follow(walker, layout, step, number)
        outside = [op for op, event in walker.given if event is None]
        inside = tuple((op, event) for op, event in walker.given if event is not None)
        events = tuple(demand.event for demand in walker.demands)
        styles = {kind: walker.on_abort[kind] for kind in walker.on_abort}
        broken = tuple(dict.fromkeys(rule for sight in walker.sights for rule in sight.broken))
        played.append(Played(outside[0] if outside else None, events, inside, styles, broken))
    return tuple(played)


def _follow(walker: Walker, layout: Layout, step: Step, number: int) -> Walker:
    """Take the way of one step."""
    tags = _tags(walker, step)
    ready = walker._twin(walker.answers)
    for sight in ready.sights:
        sight.tags = tags
    for way in ready.ways(step.transition.action):
        way.demand()
        if encode(way, layout, tags) == step.state and _agrees(way, step):
            return way
    raise ReplayError(step, number)


def _tags(walker: Walker, step: Step) -> dict[str, str]:
    """Foretell the ids of the messages to which a step gives tags."""
    picks = [str(value) for name, value in step.transition.picks if name.startswith("tag ")]
    made = len(walker.history.known)
    new = {tag: f"m{made + i}" for i, tag in enumerate(picks, 1) if tag}
    before = walker.sights[0].tags if walker.sights else {}
    return {**before, **new}


def _agrees(walker: Walker, step: Step) -> bool:
    """Tell whether the same is shown, and whether the concrete observer breaks and remembers the same."""
    return _shows_the_same(walker, step.transition) and (step.memory is None or _remembers_the_same(walker, step))


def _shows_the_same(walker: Walker, transition: Transition) -> bool:
    """Compare the types of events, each once: what is announced item by item is announced at once over terms."""
    if transition.script is None:
        return True
    told = (one.told[0].type for one in transition.script.shown if one.hook == "see")
    return list(dict.fromkeys(told)) == list(dict.fromkeys(demand.event.type for demand in walker.demands))


def _remembers_the_same(walker: Walker, step: Step) -> bool:
    sight, s = walker.sights[0], walker.s
    beyond = max(0, s.step - STEPS)
    ghosts = {**vars(sight.g), "last": sight.g.last - s.turn, "step": sight.g.step - beyond}
    memory = Memory(tuple(ghosts[name] for name in sight.observer.ghosts), s.step - beyond)
    return set(sight.broken) == set(step.broken) and memory == step.memory
