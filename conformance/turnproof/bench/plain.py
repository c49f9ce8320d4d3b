"""
List what can be given to a candidate, each operation once: all that the plain searches know of commands.

What is listed are ways of making a command; a message gets its number when its command is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from attrs import define, field

from turnproof.habits import LISTENED
from turnproof.trial import Trial
from turnproof_model import vocabulary as v
from turnproof_model.observation import GateView

Way: TypeAlias = Callable[[], Any]
"""Makes one command."""

Pick: TypeAlias = Callable[[Sequence[Any]], Any]

PLUGIN = v.Source("plugin", {"plugin": "t"})
SESSION = v.Source("session", {"session": "s0"})
TARGETS: tuple[v.Target, ...] = ("next-turn", "next-step")
CAUSES: tuple[v.Cause, ...] = ("user", "parent")

RESUMES: Mapping[v.ResumeMode, str] = {"crash": "resume", "clean": "resume", "fork": "fork", "compact": "compact"}
"""The capability that each way of resuming needs."""


@define
class Alphabet:
    """
    List the ways of going on with one schedule of one candidate.

    ``pick`` takes one of several values.
    """

    trial: Trial
    pick: Pick
    made: int = field(default=0, init=False)

    def message(self, source: v.Source = v.USER) -> v.Message:
        """Make a new message."""
        self.made += 1
        return v.Message(f"m{self.made}", f"m{self.made}", source)

    def _has(self, capability: str) -> bool:
        return self.trial.profile.has(capability)

    # -------------------------------------------------------------------------------------------- operations
    def release(self) -> list[Way]:
        """List every open gate with each outcome that it takes."""
        gates = [gate.view for gate in self.trial.machine.gates]
        return [
            lambda gate=gate, make=make: v.Release(make(), gate=gate.id)  # type: ignore[misc]  # bound in the loop
            for gate in gates
            for make in self._outcomes(gate)
        ]

    def _outcomes(self, gate: GateView) -> Iterator[Way]:
        match gate.kind:
            case "model":
                yield from (v.Text, v.MaxTokens, v.Error, lambda: v.MaxTokens(calls=self._calls("par")))
                yield from (partial(self._tools, *names) for names in (("par",), ("exc",), ("par", "exc")))
                if self._has("model.partial"):
                    yield partial(v.Partial, "p")
            case "pre-step":
                claimed = gate.claimed or ()
                yield from (v.Enter, partial(v.Enter, ()), v.Reject, v.Throw)
                yield lambda: v.Enter((*claimed, self.message(PLUGIN)))
            case "prompt-submit" | "tool":
                yield from (way for kind in v.OUTCOMES[gate.kind] for way in self._with_contexts(kind, gate.kind))
            case _:
                yield from v.OUTCOMES[gate.kind]

    def _with_contexts(self, kind: Any, gate: str) -> Iterator[Way]:
        yield kind
        if kind is not v.Throw and self._has("tool.contexts" if gate == "tool" else "prompt.contexts"):
            yield lambda: kind(additional_contexts=(self.message(PLUGIN),))
        if gate == "tool" and self._has("tool.concludes"):
            yield partial(kind, concludes=True)

    def _calls(self, *names: str) -> tuple[v.Call, ...]:
        return tuple(v.Call(self.message().id, name) for name in names)

    def _tools(self, *names: str) -> v.Tools:
        return v.Tools(self._calls(*names))

    def send(self) -> list[Way]:
        """List a new message for each target, waking and quiet, of a person and a plugin; and one that is pending."""
        again: list[Way] = [
            lambda n=name, t=target: v.Send(self.trial.machine.message(n), t)  # type: ignore[misc]
            for name in self._pending()[-1:]
            for target in TARGETS
        ]
        return again + [
            lambda s=source, t=target, w=wakeup: v.Send(self.message(s), t, w)
            for source in (v.USER, PLUGIN)
            for target in TARGETS
            for wakeup in (True, False)
        ]

    def cancel(self) -> list[Way]:
        """List the ways of cancelling."""
        keeps = (False, True) if self._has("keepInbox") else (False,)
        return [partial(v.Cancel, cause, keep) for cause in CAUSES for keep in keeps]

    def _pending(self) -> tuple[str, ...]:
        inbox = self.trial.machine.observation().inbox
        return () if inbox is None else inbox.next_turn + inbox.next_step

    def edit(self) -> list[Way]:
        """List the edits of what is pending."""
        pending = self._pending()
        remove: list[Way] = [partial(v.Remove, name) for name in pending]
        replace: list[Way] = [lambda n=name: v.Replace(n, self.message()) for name in pending]  # type: ignore[misc]
        prepend: list[Way] = [lambda t=target: v.Prepend(t, self.message()) for target in TARGETS]  # type: ignore[misc]
        every = {"inbox.remove": remove, "inbox.replace": replace, "inbox.prepend": prepend}
        return [way for name, ways in every.items() if self._has(name) for way in ways]

    def dispose(self) -> list[Way]:
        """List the disposal."""
        return [v.Dispose] if self._has("dispose") else []

    def reference(self) -> list[Way]:
        """List the prompt with a snapshot of another session."""
        return [lambda: v.Reference(self.message(), self.message(SESSION))] if self._has("reference") else []

    def inside(self) -> list[Way]:
        """List what can stand in a stack or an event."""
        parts = (self.release, self.send, self.cancel, self.edit, self.dispose, self.reference)
        return [way for part in parts for way in part()]

    # -------------------------------------------------------------------------------------------- commands
    def resume(self) -> list[Way]:
        """List the ways of going on over the log so far that can be taken now."""
        ways = [v.Resume(mode) for mode, capability in RESUMES.items() if self._has(capability)]
        return [partial(v.Resume, way.mode) for way in ways if self.trial.allows(way)]

    def look(self) -> list[Way]:
        """List what changes nothing."""
        return [v.Inspect, *([v.Goal] if self._has("goal") else [])]

    def stack(self) -> list[Way]:
        """List one stack of two operations."""
        return [lambda: v.Batch((self._one(), self._one()))] if self._has("batch") else []

    def arm(self) -> list[Way]:
        """List one operation armed on an event."""
        events = tuple(LISTENED[self.trial.profile.contract])
        return [lambda: v.Arm(self.pick(events), (self._one(),))] if self._has("arm") else []

    def _one(self) -> Any:
        return self.pick(self.inside())()

    def reset(self) -> v.Reset:
        """Begin a schedule: the usual gates or, in ``window``, the checkpoint too; each settles on an abort or not."""
        contract = self.trial.profile.contract
        usual = v.TURN_GATES[contract]
        checkpoint = contract == "window" and self._has("gates.select") and self._has("flush")
        every = (None, (*usual, "flush")) if checkpoint else (None,)
        parks = (False, True) if self._has("onAbort.select") else (False,)
        return v.Reset(self.pick(every), {kind: "park" for kind in usual if self.pick(parks)})


FORMS: Mapping[str, Callable[[Alphabet], list[Way]]] = {
    form.__name__: form
    for form in (
        *(Alphabet.release, Alphabet.send, Alphabet.cancel, Alphabet.edit, Alphabet.dispose, Alphabet.reference),
        *(Alphabet.resume, Alphabet.look, Alphabet.stack, Alphabet.arm),
    )
}
"""The forms of a command."""
