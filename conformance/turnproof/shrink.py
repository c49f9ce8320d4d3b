"""
Make a failing schedule short: leave out commands and parts of commands while the same failure stays.

Deterministic and without randomness: the same failure always shrinks to the same schedule. Gate ids shift when
commands disappear, so a release is carried as "the nth open gate of its kind" while shrinking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from attrs import evolve, frozen

from turnproof.trial import RuleFailure, Trial
from turnproof_model import vocabulary as v
from turnproof_model.surroundings import MisuseError

Same = Callable[[RuleFailure], bool]
"""Tell whether a failure is the one that is being shrunk."""


@frozen
class Nth:
    """Stand for a release of the nth open gate (from 0) of a kind."""

    kind: v.GateKind
    nth: int
    outcome: v.Outcome


Part = v.Command | Nth


@frozen
class Shrunk:
    """Hold the shortest failing schedule found, what it took, and whether the failure showed again at all."""

    failure: RuleFailure
    tries: int
    reproduced: bool


def shrink(trial: Trial, failure: RuleFailure, most_commands: int) -> Shrunk:
    """
    Shorten a failing schedule.

    Args:
        trial: of the same candidate; its schedules are started anew.
        failure: the failure as it was found.
        most_commands: commands to spend; then the best so far is returned.

    Raises:
        DriverFault: the candidate's driver broke down.
    """
    wanted = failure.signature
    limit = trial.commands + most_commands
    played = _replayed(trial, failure.schedule)
    if played.failure is None or played.failure.signature != wanted:
        return Shrunk(failure, 1, reproduced=False)
    best, tries = played, 1
    ways_to_end = () if failure.difference else (_beginnings,)
    for ways in (*ways_to_end, _endings, smaller_schedules):
        improved = True
        while improved and trial.commands < limit:
            improved, vain = False, 0
            while trial.commands < limit and (smaller := _nth(ways(best.parts), vain)) is not None:
                tries += 1
                found = _played(trial, smaller)
                if found.failure is not None and found.failure.signature == wanted:
                    best, improved = found, True
                else:
                    vain += 1  # what was tried in vain hardly ever helps after a success: go on from here
    assert best.failure is not None
    return Shrunk(best.failure, tries, reproduced=True)


def _nth(schedules: Iterator[tuple[Part, ...]], index: int) -> tuple[Part, ...] | None:
    """Take one of the schedules, if there are so many."""
    return next(islice(schedules, index, None), None)


def play(trial: Trial, parts: tuple[Part, ...]) -> RuleFailure | None:
    """Play a schedule from a fresh reset; ``None`` when nothing breaks or it can't be given."""
    for part in parts:
        try:
            command = _resolved(trial, part)
            failure = trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)
        except MisuseError:
            return None
        if failure is not None:
            return failure
    return trial.end()


def _resolved(trial: Trial, part: Part) -> v.Command:
    if not isinstance(part, Nth):
        return part
    gates = [gate.view for gate in trial.machine.gates if gate.view.kind == part.kind]
    if part.nth >= len(gates):
        raise MisuseError(f"no open gate {part.kind} #{part.nth}")
    return v.Release(part.outcome, gate=gates[part.nth].id)


def as_part(trial: Trial, command: v.Command) -> Part:
    """Say which gate a release means, as the nth of its kind; other commands stay as they are."""
    if isinstance(command, v.Release) and command.gate is not None:
        views = [gate.view for gate in trial.machine.gates]
        kind = next((view.kind for view in views if view.id == command.gate), None)
        if kind is not None:
            same = [view.id for view in views if view.kind == kind]
            return Nth(kind, same.index(command.gate), command.outcome)
    return command


@frozen
class _Played:
    """Hold what of a schedule was given, and the failure it ended with, if any."""

    parts: tuple[Part, ...]
    failure: RuleFailure | None = None


def _replayed(trial: Trial, schedule: tuple[v.Command, ...]) -> _Played:
    """Replay the schedule once to learn which gate each release meant, and whether it fails again."""
    parts: list[Part] = []
    for command in schedule:
        parts.append(as_part(trial, command))
        try:
            failure = trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)
        except MisuseError:
            break
        if failure is not None:
            return _Played(tuple(parts), failure)
    return _Played(tuple(parts), trial.end())


def _played(trial: Trial, parts: tuple[Part, ...]) -> _Played:
    """Play what can be given of a schedule: a release whose gate went with what was left out is left out too."""
    given: list[Part] = []
    for part in parts:
        try:
            command = _resolved(trial, part)
            failure = trial.begin(command) if isinstance(command, v.Reset) else trial.do(command)
        except MisuseError:
            continue
        given.append(part)
        if failure is not None:
            return _Played(tuple(given), failure)
    return _Played(tuple(given), trial.end())


# ------------------------------------------------------------------------------------------------ smaller schedules
def _endings(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """List the ends of a schedule behind its reset, the short ones first: most of what came before is in vain."""
    size = 1
    while size < len(parts) - 1:
        yield (parts[0], *parts[-size:])
        size += max(size // 2, 1)


def _beginnings(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """List the beginnings of a schedule, the short ones first: what its end shows may show sooner."""
    size = 2
    while size < len(parts) - 1:
        yield parts[:size]
        size += size // 2
    yield parts[:-1]


def smaller_schedules(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """List smaller schedules, the much smaller ones first; the reset at the head stays."""
    size = max(len(parts) // 2, 1)
    while size >= 1:
        for at in range(1, len(parts) - 1, size):
            rest = parts[:at] + parts[at + size :]
            if len(rest) > 1:
                yield rest
        size //= 2
    for at, part in enumerate(parts):
        for simpler in _simpler(part):
            yield (*parts[:at], simpler, *parts[at + 1 :])


def _simpler(part: Part) -> Iterator[Part]:
    """List simpler forms of one command."""
    match part:
        case v.Batch(ops):
            if len(ops) == 1:
                yield ops[0]
            for at in range(len(ops)):
                if len(ops) > 1:
                    yield v.Batch(ops[:at] + ops[at + 1 :])
        case v.Arm(_, ops, where, nth, defer):
            for at in range(len(ops)):
                if len(ops) > 1:
                    yield evolve(part, ops=ops[:at] + ops[at + 1 :])
            if where:
                yield evolve(part, where={})
            if nth > 1:
                yield evolve(part, nth=1)
            if defer > 0:
                yield evolve(part, defer=0)
        case v.Reset(gates, on_abort):
            if gates is not None:
                yield evolve(part, gates=None)
            for kind in on_abort:
                yield evolve(part, on_abort={k: style for k, style in on_abort.items() if k != kind})
        case Nth(kind, _, outcome):
            for simpler in _simpler_outcomes(kind, outcome):
                yield evolve(part, outcome=simpler)
        case v.Send(message, _, _, None):
            yield v.followup(message)
        case v.Cancel(cause, _) if cause != "user":
            yield evolve(part, cause="user")
        case v.Resume(mode) if mode != "crash":
            yield v.Resume("crash")
        case _:
            return


def _simpler_outcomes(kind: v.GateKind, outcome: v.Outcome) -> Iterator[v.Outcome]:
    default = v.DEFAULT_OUTCOME[kind]
    if outcome != default:
        yield default
    match outcome:
        case v.Tools(calls) if len(calls) > 1:
            for at in range(len(calls)):
                yield evolve(outcome, calls=calls[:at] + calls[at + 1 :])
        case v.MaxTokens(_, calls) if calls:
            yield v.MaxTokens(outcome.text)
        case v.Result(contexts, _) | v.Error(_, contexts, _) if contexts:
            yield evolve(outcome, additional_contexts=contexts[:-1])
        case v.Allow(content, contexts) if contexts or content is not None:
            yield v.Allow(None, contexts[:-1])
        case _:
            return
