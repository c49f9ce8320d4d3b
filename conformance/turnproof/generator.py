"""
Make the next command of a schedule from what the rules allow now, one small choice at a time.

What keeps an agent going comes most often; while it converges after an abort, what callers do to late input does.
Which gates are open, what is pending and whether an abort is under way is read from the machine of the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from attrs import define, field

from turnproof.habits import AMBUSHES
from turnproof.making import PLUGIN, Maker
from turnproof.outcomes import outcome
from turnproof_model import vocabulary as v
from turnproof_model.events import Event, GateOpened
from turnproof_model.goals import goal_text
from turnproof_model.observation import GateView, InboxView
from turnproof_model.surroundings import Chooser

LADEN = 2
"""Staged messages from which on what takes them in is worth an ambush."""


@define
class Generator(Maker):
    """
    Make commands for one schedule of one candidate.

    ``steer`` makes a command that leads to something new, if there is one. ``ready``: what an ambush waits for, to be
    given next; ``occasion``: what is going on while a command is made.
    """

    steer: Callable[[Maker], v.Command | None] = field(default=lambda _: None, kw_only=True)
    ready: v.Command | None = field(default=None, init=False)
    occasion: str = field(default="act", init=False)

    def command(self) -> v.Command:
        """Make any command that a caller may give now."""
        ready = self.awaited()
        if ready is not None:
            return ready
        self.occasion = self._occasion()
        return _COMMANDS[self.choose(self.occasion)](self)

    def awaited(self) -> v.Command | None:
        """Take what an ambush waits for; nothing else may be given before it, or it may not be allowed any more."""
        ready, self.ready = self.ready, None
        return ready

    def _occasion(self) -> str:
        """Tell what is going on: after an abort, a cut answer, and while a retry is due, other commands matter."""
        machine = self.machine()
        if machine.gates and machine.book.aborting(machine.s):
            return "converging"
        if self.window and machine.s.retry:
            return "retrying"
        if machine.s.ceiling and machine.gates:
            return "cut"
        return "laden" if machine.gates and self._laden(machine.observation().inbox) else "act"

    def _laden(self, inbox: InboxView | None) -> bool:
        """Tell whether several messages wait to be taken in at one boundary."""
        return inbox is not None and len(inbox.next_step) >= LADEN

    def proceed(self) -> v.Command:
        """Settle an open gate, or send where there is none: what keeps an agent going."""
        return self.release() or self.send()

    def reach(self) -> v.Command:
        """Do what was never done in this situation; where nothing is left, go on."""
        return self.steer(self) or self.proceed()

    # -------------------------------------------------------------------------------------------- operations
    def send(self) -> v.Send:
        """Send something over the whole matrix of target and wakeup."""
        return self._sent(self._way_to_send())

    def _way_to_send(self) -> str:
        return self.choose("send" if self.machine().s.status == "idle" else "send-meanwhile")

    def _sent(self, way: str) -> v.Send:
        match way:
            case "steer":
                return v.steer(self.sent_message())
            case "inject":
                return v.inject(self.sent_message(PLUGIN))
            case "quiet":
                return v.Send(self.sent_message(), "next-turn", wakeup=False)
            case "other":
                target = self.pick(("next-turn", "next-step"))
                return v.Send(self.sent_message(), target, wakeup=self.pick((True, False)))
            case "goal":
                return self.goal_message()
            case _:
                return v.followup(self.sent_message())

    def goal_message(self) -> v.Send:
        """Send a goal's state change or a continuation round; rarely one that disagrees with itself."""
        if self.chance(3):
            self.rounds += 1
            return v.followup(self.message(v.Source("goal", {"round": self.rounds})))
        change = {"objective": self.pick(("ship", "rest"))}
        text = "goal {}" if self.chance(6) else goal_text(change)
        return v.inject(self.message(v.Source("goal", {"round": 0, "change": change}), text))

    def cancel(self) -> v.Cancel:
        """Cancel, with and without keeping the inbox."""
        keep = self.choose("cancel") == "keep"
        return v.Cancel(self.pick(("user", "user", "parent")), keep_inbox=keep)

    def edit(self) -> v.Operation:
        """Edit the inbox, what was sent last most often (claim)."""
        kind = self.choose("edit")
        if kind == "prepend":
            return v.Prepend(self.pick(("next-turn", "next-step")), self.sent_message())
        target = self._target()
        if target is None:
            return self.send()
        return v.Remove(target) if kind == "remove" else v.Replace(target, self.sent_message())

    def _target(self) -> str | None:
        """Choose what to edit: what is pending, else anything that was made."""
        pending = self.pending()
        if pending and self.choose("target") == "latest":
            order = [message.id for message in self.made]
            return max(pending, key=lambda name: order.index(name) if name in order else -1)
        names = pending or tuple(message.id for message in self.made)
        return self.pick(names) if names else None

    def reference(self) -> v.Reference:
        """Send a prompt with a snapshot of another session."""
        return v.Reference(self.message(), self.message(v.Source("session", {"session": "s0"})))

    def release(self) -> v.Release | None:
        """Settle one of the open gates, or nothing if there is none."""
        gate = self._open_gate()
        return None if gate is None else v.Release(outcome(self, gate), gate=gate.id)

    def release_by_kind(self) -> v.Release | None:
        """Settle a gate of an open kind, whichever is the oldest by then."""
        gate = self._open_gate()
        return None if gate is None else v.Release(outcome(self, gate), kind=gate.kind)

    def _open_gate(self) -> GateView | None:
        gates = [gate.view for gate in self.machine().gates]
        return self.pick(gates) if gates else None

    # -------------------------------------------------------------------------------------------- stacks, events
    def small_op(self, where: str = "inside") -> v.Operation:
        """Make an operation for a stack or an event."""
        return _OPERATIONS[self.choose(where)](self)

    def burst(self) -> v.Batch:
        """Send two or three messages in one stack, all of them in one way or each in its own."""
        count = self.pick((2, 2, 3))
        if self.chance(2):
            return v.Batch(tuple(self.send() for _ in range(count)))
        way = self._way_to_send()
        return v.Batch(tuple(self._sent(way) for _ in range(count)))

    def batch(self) -> v.Batch:
        """Put two to four operations into one stack."""
        return v.Batch(tuple(self.small_op() for _ in range(self.pick((2, 2, 3, 4)))))

    def arm(self) -> v.Arm:
        """Arm one or two operations on an event."""
        ops = tuple(self.small_op() for _ in range(self.pick((1, 1, 1, 2))))
        on = self.choose("event")
        where: dict[str, object] = {}
        if on == "agent/status" and self.profile.has("arm.where"):
            where = {"status": self.pick(("idle", "running"))}
        defer = self.pick((0, 0, 0, 0, 1, 2, 3)) if self.profile.has("arm.defer") else 0
        return v.Arm(on, ops, where, self.pick((1, 1, 1, 2)), defer)

    def ambush(self) -> v.Command:
        """
        Arm an operation on one of the events that a next command is about to cause, and give that command next.

        An event chosen blindly is seldom published while the arm means something. Where several messages are taken in
        a row, that row is chosen more often, and mostly a place amid it: what comes there cuts the row.
        """
        cause = _COMMANDS[self.choose("cause")](self) if self.occasion != "laden" else self.proceed()
        names = Counter(map(_heard_as, self._consequences(cause)))
        listened = [name for name in self.habits.tables["event"] if name in names]
        if not listened:
            return cause
        rows = [name for name in listened if names[name] > 1 and AMBUSHES.get(name) == "ambush-taking"]
        on = self.pick(rows if rows and not self.chance(3) else listened)
        amid = names[on] - 1 if on in rows and not self.chance(4) else names[on]
        self.ready = cause
        inside = AMBUSHES.get(on, "ambush")
        ops = tuple(self.small_op(inside) for _ in range(self.pick((1, 1, 1, 2))))
        defer = self.pick((0, 0, 0, 0, 0, 1, 2)) if self.profile.has("arm.defer") else 0
        return v.Arm(on, ops, nth=self.pick(range(amid)) + 1, defer=defer)

    def _consequences(self, command: v.Command) -> list[Event]:
        """Tell what the rules expect of a command, every freedom taken as it usually is."""
        machine = self.machine().copy(Chooser())
        machine.play(command)
        return [demand.event for demand in machine.demands]

    # -------------------------------------------------------------------------------------------- whole agents
    def resume(self) -> v.Resume:
        """Go on over the log so far."""
        return v.Resume(self.choose("resume"))  # type: ignore[arg-type]  # the options are the modes

    def reset(self) -> v.Reset:
        """Begin a schedule: which kinds are gated, and which of them ignore an abort."""
        usual = v.TURN_GATES[self.profile.contract]
        extra = tuple(kind for kind in v.OPTIONAL_GATES[self.profile.contract] if self._offers(kind))
        gates = self._gated(usual, extra) if self.profile.has("gates.select") else None
        parked: dict[v.GateKind, v.AbortStyle] = {}
        if self.profile.has("onAbort.select"):
            for kind in (*usual, *(kind for kind in extra if kind != "flush")):
                if self.chance(3):
                    parked[kind] = "park"
        return v.Reset(gates, parked)

    def _gated(self, usual: Sequence[v.GateKind], extra: Sequence[v.GateKind]) -> tuple[v.GateKind, ...] | None:
        """Choose kinds to gate: where some are not, one command carries an agent through more of its turn."""
        match self.choose("gates"):
            case "all":
                return (*usual, *extra)
            case "flush":
                return (*usual, *extra[-1:])
            case "most":
                return tuple(kind for kind in (*usual, *extra[-1:]) if not self.chance(4))
            case "some":
                return tuple(kind for kind in (*usual, *extra) if not self.chance(2))
            case _:
                return None

    def _offers(self, kind: v.GateKind) -> bool:
        """Tell whether the candidate has an optional gate; a checkpoint of ``claim`` changes nothing that is ruled."""
        return self.window and self.profile.has({"step": "step-gate", "flush": "flush"}[kind])


def _heard_as(event: Event) -> str:
    """Name an event as an arm waits for it."""
    return f"gate:{event.gate_kind}" if isinstance(event, GateOpened) else event.type


_OPERATIONS: Mapping[str, Callable[[Generator], v.Operation]] = {
    "send": Generator.send,
    "cancel": Generator.cancel,
    "release": lambda make: make.release_by_kind() or make.send(),
    "edit": Generator.edit,
    "reference": Generator.reference,
    "dispose": lambda _: v.Dispose(),
}

_COMMANDS: Mapping[str, Callable[[Generator], v.Command]] = {
    **_OPERATIONS,
    "proceed": Generator.proceed,
    "reach": Generator.reach,
    "burst": Generator.burst,
    "batch": Generator.batch,
    "ambush": Generator.ambush,
    "arm": Generator.arm,
    "resume": Generator.resume,
    "goal": lambda _: v.Goal(),
    "inspect": lambda _: v.Inspect(),
}
