"""
Show a play: the state of the machine, what can be done, and the events with the rules that demand them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from turnproof.making import LETTERS, PLUGIN
from turnproof.outcomes import PLAIN
from turnproof.score import command_text, event_text
from turnproof_model import catalogue
from turnproof_model import vocabulary as v
from turnproof_model.algebra import Item, Queue
from turnproof_model.observation import GateView

if TYPE_CHECKING:
    from turnproof.play import Play, Turn

HELP = """\
send       followup ID · steer ID · inject ID · send ID next-turn|next-step [quiet]; ID (KIND) names another source
gates      GATE OUTCOME: g1 allow · g1 enter [a b] · g2 text · g2 tools c1:par c2:exc · g3 result concludes +x1
stop       cancel [keep] [(parent)] · dispose · resume crash|clean|fork|compact
inbox      replace ID by ID · remove ID · prepend ID next-turn|next-step (claim)
one stack  { followup a; steer b }
in events  on EVENT[field=value] #NTH +BREAKS { cancel keep }
anew       reset [gates KIND,KIND] [parking KIND,KIND]
the play   state · undo · rules · freedom [NAME VALUE] · save FILE · help · quit
Commands joined by · are taken one after the other, as a score prints them."""

WIDTH = 11


# ------------------------------------------------------------------------------------------------ state
def state_lines(play: Play) -> list[str]:
    """Write the state, and what can be done."""
    machine, s = play.now.machine, play.now.machine.s
    seen = play.now.turns[-1].observation
    where = f"{seen.status}, at {s.at}" + (f", turn {s.turn}" if s.turn else "") + (f" step {s.step}" if s.step else "")
    if seen.accepts_next_step is not None:
        where += f", window {'open' if seen.accepts_next_step else 'closed'}"
    lines = [_line("status", where)]
    lines.extend(_pending(play.contract, s))
    lines.append(_line("gates", " · ".join(_gate(gate.view) for gate in machine.gates) or "none open"))
    if machine.arms:
        lines.append(_line("armed", " · ".join(command_text(armed.arm) for armed in machine.arms)))
    if play.now.by:
        lines.append(_line("freedoms", " · ".join(f"{name}={value}" for name, value in play.now.by.items())))
    lines.extend(_line("you can" if first else "", words) for first, words in _possible(play))
    return lines


def _line(name: str, text: str) -> str:
    return f"  {name:<{WIDTH}}{text}"


def _pending(contract: v.Contract, s: Any) -> Iterator[str]:
    """Write both lists, with what each message is."""
    queued, staged = (s.queued, s.outbox) if contract == "window" else (s.next_turn, s.next_step)
    yield _line("next-turn", _list(queued, "waking", "quiet"))
    yield _line("next-step", _list(staged, "steering", "context"))


def _list(queue: Queue, waking: str, other: str) -> str:
    return " · ".join(f"{item.id} {waking if item.waking else other}{_late(item)}" for item in queue.each()) or "empty"


def _late(item: Item) -> str:
    return " late" if item.late else ""


def _gate(gate: GateView) -> str:
    about = [gate.message, gate.call_id, *(gate.claimed or ())]
    return " ".join([gate.id, gate.kind, *filter(None, about), *(["(aborted)"] if gate.aborted else [])])


# ------------------------------------------------------------------------------------------------ what can be done
def _possible(play: Play) -> Iterator[tuple[bool, str]]:
    first = True
    for commands in enabled(play):
        if commands:
            yield first, " · ".join(map(command_text, commands))
            first = False


def enabled(play: Play) -> list[list[v.Command]]:
    """List the plain commands that would be performed now, by kind; the machine itself is asked for each."""
    kinds = [_sends(play), _outcomes(play), _edits(play), _stops()]
    return [[command for command in commands if play.possible(command)] for commands in kinds]


def _sends(play: Play) -> list[v.Command]:
    message = _new_message(play)
    context = v.Message(message.id, message.text, PLUGIN)
    return [
        v.followup(message),
        v.steer(message),
        v.inject(context),
        v.Send(message, "next-turn", wakeup=False),
    ]


def _new_message(play: Play) -> v.Message:
    """Make a message of the first free id: one letter, then a letter and a number."""
    names = (f"{letter}{number or ''}" for number in count() for letter in LETTERS)
    name = next(name for name in names if name not in play.now.known)
    return v.Message(name, name)


def _outcomes(play: Play) -> list[v.Command]:
    return [
        v.Release(outcome, gate=gate.view.id)
        for gate in play.now.machine.gates
        for cls in v.OUTCOMES[gate.view.kind]
        for outcome in _plain(cls, play)
    ]


def _plain(cls: type[Any], play: Play) -> Iterator[v.Outcome]:
    """Make the outcomes of a class that a hand would type first."""
    if cls is v.Tools:
        number = 1 + sum(len(seen.tool_calls or ()) for seen in play.now.machine.history.messages)
        yield from (v.Tools((v.Call(f"c{number}", tool),)) for tool in play.profile.tools)
    elif cls is v.Partial:
        yield v.Partial("some")
    else:
        yield PLAIN.get(cls.kind) or cls()
        if cls is v.Result:
            yield v.Result(concludes=True)


def _edits(play: Play) -> list[v.Command]:
    inbox = play.now.turns[-1].observation.inbox
    pending = () if inbox is None else inbox.next_turn + inbox.next_step
    message = _new_message(play)
    edits = [edit for name in pending for edit in (v.Remove(name), v.Replace(name, message))]
    return [*edits, v.Prepend("next-turn", message), v.Prepend("next-step", message)]


def _stops() -> list[v.Command]:
    return [v.Cancel(), v.Cancel(keep_inbox=True), v.Dispose(), *(v.Resume(mode) for mode in ("crash", "clean"))]


# ------------------------------------------------------------------------------------------------ events
def turn_lines(turn: Turn) -> list[str]:
    """Write a command, and its events with the rules that demand them."""
    lines = [f"> {command_text(turn.command)}"]
    if turn.observation.refused is not None:
        lines.append(f"  refused: {turn.observation.refused}   {' '.join(turn.cited)}".rstrip())
    if turn.observation.answer is not None:
        lines.append(f"  answered: {'yes' if turn.observation.answer else 'no'}")
    texts = [event_text(demand.event) for demand in turn.demands]
    width = min(max(map(len, texts), default=0), 60)
    lines.extend(f"  {t:<{width}}   {' '.join(d.rules)}".rstrip() for t, d in zip(texts, turn.demands, strict=True))
    return lines if len(lines) > 1 else [*lines, "  (no event)"]


def rules_lines(turn: Turn) -> list[str]:
    """Write the rules at work in a command, one line each."""
    at_work = dict.fromkeys([*(rule for demand in turn.demands for rule in demand.rules), *turn.cited])
    return [f"  {name:<{WIDTH}}{catalogue.rule(name).title}" for name in at_work] or ["  no rule was at work"]
