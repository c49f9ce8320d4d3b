"""
Name the freedoms of the contracts, and the known ways out of them.

A *latitude* is a freedom that the documents leave: every value conforms, and a candidate lives by one of them
throughout. A *deviation* is a named fault that an oracle can follow a candidate past, to go on judging the rest; a run
reports every name it needed. Values in the order in which an oracle tries them: the observed one first.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Policy:
    """Name one freedom: the rules that leave it, its values, and what each means."""

    name: str
    rules: tuple[str, ...]
    values: tuple[str, ...]
    meaning: str
    deviation: bool = False

    @property
    def default(self) -> str:
        """The value tried first; of a deviation, the lawful one."""
        return self.values[0]


CLAIMED_ON_KEEP = Policy(
    "claimed-on-keep",
    ("W-CAN-3",),
    ("dropped", "requeued"),
    "a keep-inbox cancel of an admission drops its claimed prompt, or puts it back at the head of the queue",
)
CONTEXT_ON_ABORT = Policy(
    "context-on-abort",
    ("W-CAN-6",),
    ("appended", "staged"),
    "with no steering staged, context may be appended after the last result of an aborted batch, or stays staged",
)
LATE_SEND = Policy(
    "late-send",
    ("W-DIS-2",),
    ("admitted", "discarded", "refused"),
    "a send between dispose and its resolution is claimed by an admission aborted at once, discarded at once, or "
    "refused",
)
BESIDE_LATE_SEND = Policy(
    "beside-late-send",
    ("W-DIS-1", "W-DIS-2"),
    ("discarded", "kept"),
    "what is pending when the admission of a late send is aborted is discarded with it, or stays until it is claimed",
)
SENT_AFTER_DISPOSAL = Policy(
    "sent-after-disposal",
    ("W-DIS-2",),
    ("refused", "ignored"),
    "a send after the disposal resolved is refused, or has no effect",
)
CONTEXT_AT_STOP = Policy(
    "context-at-stop",
    ("W-STEP-2", "W-WIN-5"),
    ("staged", "appended"),
    "context that a listener stages while the last drain of a turn is under way stays staged, or is committed too",
)
GATES_AFTER_ABORT = Policy(
    "gates-after-abort",
    ("W-CAN-1",),
    ("asked", "skipped"),
    "a step hook or turn-stopping that the loop reaches after an abort opens and is aborted at once, or is not asked",
)
WINDOW_AT_ERROR = Policy(
    "window-at-error",
    ("W-WIN-1",),
    ("open", "closed"),
    "while agent/error announces that the turn fails, its outcome fixed, the window is still open or closed already",
)
SECOND_KEEP_CANCEL = Policy(
    "second-keep-cancel",
    ("C-WAKE-3",),
    ("lateness-kept", "lateness-lost"),
    "a later keep-inbox cancel leaves late input late, or takes lateness back",
)
WAKE_AFTER_ABORT = Policy(
    "wake-after-abort",
    ("C-WAKE-3",),
    ("restart", "parked"),
    "late input restarts the driver after convergence, or stays parked until the next wake",
)
AFTER_EMPTY = Policy(
    "after-empty",
    ("C-PRE-3",),
    ("park", "continue"),
    "after a turn that an empty entering batch closed without a step, pending input waits or starts the next turn",
)
AFTER_REJECT = Policy(
    "after-reject",
    ("C-PRE-5",),
    ("park", "continue"),
    "after a turn that ended blocked or error, pending waking input waits or starts the next turn",
)
IDLE_CONTEXT = Policy(
    "idle-context",
    ("C-TURN-6",),
    ("any", "waking"),
    "after a completed turn any pending input starts the next turn, or only waking input does",
)
PARALLEL_RESULTS = Policy(
    "parallel-results",
    ("C-STEP-2",),
    ("in-turn", "together"),
    "a result of a parallel group is committed as soon as call order allows, or when the whole group has returned",
)
REFUSED_CONTEXT = Policy(
    "refused-context",
    ("C-SEND-3", "C-STEP-3"),
    ("rest-dropped", "rest-kept"),
    "what a tool brought along behind a refused context is dropped, or enters the inbox",
)
DISPOSED_SEND = Policy(
    "disposed-send",
    ("C-DIS-1",),
    ("pending", "refused"),
    "input after a disposal stays pending, or is refused",
)

POLICIES = {
    policy.name: policy
    for policy in (
        *(CLAIMED_ON_KEEP, CONTEXT_ON_ABORT, CONTEXT_AT_STOP, LATE_SEND, BESIDE_LATE_SEND, SENT_AFTER_DISPOSAL),
        *(GATES_AFTER_ABORT, WINDOW_AT_ERROR),
        *(SECOND_KEEP_CANCEL, WAKE_AFTER_ABORT, AFTER_EMPTY, AFTER_REJECT, IDLE_CONTEXT, DISPOSED_SEND),
        *(PARALLEL_RESULTS, REFUSED_CONTEXT),
    )
}
"""Every named freedom."""
