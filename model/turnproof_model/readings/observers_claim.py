"""
Watch contract ``claim``: replay its splices, follow each batch from the claim to the request.

``turns`` and ``steps`` are the two lists of the inbox as the splices in the log give them; ``batch`` what a boundary
has claimed, ``announced`` how much of it is; ``entering`` what a decision lets in and isn't written yet; ``dropped``
what was removed and isn't announced as discarded. A tag follows an id here, which may be used again once it has left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from turnproof_model import events as e
from turnproof_model.readings.observers import Ghosts, Line, Sight, counted, neither
from turnproof_model.readings.observers_claim_asked import Asked
from turnproof_model.readings.observers_claim_lists import Lists, ends_command, late
from turnproof_model.readings.observers_claim_turns import Turns
from turnproof_model.readings.terms import both, either, implies, negate

_FALSE = (
    *("turn_open", "step_open", "asked", "spoken", "running", "by_user", "by_parent", "by_disposal"),
    *("fixed", "failing", "blocked", "ceiling", "concluded", "owes", "stopping", "emptied", "entered"),
    *("may_ask", "prompt_due", "prompt", "inserting", "inserting_a", "inserting_b", "first_a", "first_b"),
    *("context_a", "context_b", "context_ab", "brings", "excused", "disposing", "gone"),
)
_ZERO = (
    *("last", "step", "calls", "called", "answered", "announced", "waiting"),
    *("in_a", "out_a", "lost_a", "in_b", "out_b", "lost_b"),
)
_LISTS = ("turns", "steps", "batch", "entering", "dropped")


class ClaimObserver(Turns, Lists, Asked):
    """Watch contract ``claim``."""

    once: ClassVar[bool] = False
    ghosts: ClassVar[Ghosts] = {
        **dict.fromkeys(_FALSE, False),
        **dict.fromkeys(_ZERO, 0),
        **{k: v for name in _LISTS for k, v in Line.ghosts(name).items()},
    }
    handlers: ClassVar[Mapping[type[e.Event], str]] = {
        e.TurnStart: "turn_start",
        e.TurnEnd: "turn_end",
        e.StepStart: "step_start",
        e.StepEnd: "step_end",
        e.RequestMade: "request",
        e.AssistantMessage: "assistant",
        e.ToolCall: "tool_call",
        e.ToolResult: "tool_result",
        e.UserMessage: "user_message",
        e.Spliced: "spliced",
        e.Inserted: "inserted",
        e.Claimed: "claimed",
        e.Discarded: "discarded",
        e.GateOpened: "gate_opened",
        e.GateAborted: "gate_aborted",
        e.StatusChanged: "status_changed",
        e.AgentError: "agent_error",
        e.Disposed: "is_gone",
        e.DisposeResolved: "disposal_resolved",
    }

    def before(self, m: Sight, event: e.Event) -> None:
        """
        Check what holds of every event.

        Rules: C-STEP-2, C-STEP-3, C-CAN-1, C-CAN-3, C-LOG-2
        """
        g = m.g
        if event.kind == "session" and not isinstance(event, (e.ToolCall, e.ToolResult, e.Spliced)):
            m.check("C-STEP-2", g.answered == g.calls)
        if not isinstance(event, e.Spliced):
            m.check("C-STEP-3", neither(g.first_a, g.first_b))
        if event.kind in {"session", "live"}:
            m.check("C-LOG-2", type(event) in self.handlers)
        if event.kind != "driver" and ends_command(m.frames[-1] if m.frames else None):
            m.check("C-CAN-3", isinstance(event, (e.Spliced, e.Discarded, e.GateAborted)))

    def resumed(self, m: Sight) -> None:
        """
        Begin again over the same log: the lists are those of its splices, the log is closed, the numbers go on.

        Rules: C-LOG-3, C-TURN-1
        """
        s, g = m.s, m.g
        m.check("C-LOG-3", both(neither(g.turn_open, g.step_open), g.answered == g.calls))
        m.check("C-TURN-1", s.turn == g.last)
        kept = {"last", "in_a", "out_a", "lost_a", "in_b", "out_b", "lost_b"}
        kept |= {name for line in ("turns", "steps") for name in Line.ghosts(line)}
        for name, value in self.ghosts.items():
            if name not in kept:
                setattr(g, name, value)
        g.excused = True

    def holds(self, m: Sight) -> None:
        """
        Say what holds between two moves: the inbox is what the splices give, and nothing is left half done.

        Rules: C-CLAIM-4, C-EDIT-2, C-SEND-3, C-STAT-1, C-STAT-2, C-WAKE-3, C-TURN-1
        """
        s, g = m.s, m.g
        turns, steps = Line(g, "turns"), Line(g, "steps")
        seen = negate(s.at.among("claim-prompt"))  # a claim is one stack: nobody looks at the lists in its middle
        for tag, entered, left, lost in (("A", g.in_a, g.out_a, g.lost_a), ("B", g.in_b, g.out_b, g.lost_b)):
            places = (turns.a, steps.a) if tag == "A" else (turns.b, steps.b)
            m.check("C-CLAIM-4", entered == left + lost + counted(*(place >= 0 for place in places)))
            m.check("C-SEND-3", counted(*(place >= 0 for place in places)) <= 1)
            shown = (m.place(s.next_turn.ids, tag), m.place(s.next_step.ids, tag))
            m.check("C-EDIT-2", implies(seen, both(shown[0] == places[0], shown[1] == places[1])))
        m.check("C-EDIT-2", implies(seen, both(s.next_turn.size == turns.n, s.next_step.size == steps.n)))
        m.check("C-CLAIM-4", both(negate(g.inserting), g.dropped_n == 0))
        rests = negate(g.running)
        m.check("C-STAT-1", both(s.at.among("idle") == rests, s.status.among("idle") == rests))
        m.check("C-STAT-1", implies(rests, neither(g.turn_open, g.step_open)))
        waking = either(s.next_turn.has_waking, s.next_step.has_waking)
        m.check("C-STAT-2", implies(both(rests, negate(g.disposing)), either(g.excused, negate(waking))))
        m.check("C-WAKE-3", implies(both(rests, negate(g.disposing)), late(s) == 0))
        m.check("C-TURN-1", s.turn == g.last)
