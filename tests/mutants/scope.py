"""Say what is mutated: the behaviour of the two reference agents that can be seen behind the driver protocol."""

from __future__ import annotations

from typing import Final

WINDOW: Final = "window"
CLAIM: Final = "claim"
BOTH: Final = (WINDOW, CLAIM)

SHARED: Final = (
    *("abort", "compaction", "events", "goals", "hooks", "messages", "model", "publish", "repair", "session"),
    *("status", "tools"),
)
OF_WINDOW: Final = ("admission", "agent", "core", "decision", "events", "inbox", "snapshots", "steps", "turns")
OF_CLAIM: Final = (
    *("agent", "checkpoints", "decisions", "errors", "events", "extensions", "inbox", "interval", "loop"),
    *("pending", "state", "step", "turn"),
)
MODULES: Final = (
    *(f"window.{name}" for name in OF_WINDOW),
    *(f"claim.{name}" for name in OF_CLAIM),
    *SHARED,
)

UNOBSERVED: Final = frozenset({("window.core", "_warn"), ("window.core", "_report")})
"""Functions of which nothing can be seen: they write to the log of the program."""

UNOBSERVED_LINES: Final = r"\s*(self\._warn|_log\.|@dataclass)"
"""Lines of which nothing can be seen: they write to the log of the program, or say how values are stored."""


def contracts_of(module: str) -> tuple[str, ...]:
    """Name the contracts whose agent a module belongs to."""
    package, dot, _ = module.partition(".")
    return (package,) if dot else BOTH
