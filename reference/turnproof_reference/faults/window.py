"""All defects of the `window` agent, by name."""

from __future__ import annotations

from typing import Final

from turnproof_reference.faults import (  # noqa: F401 - each of them enters its defects
    window_admission,
    window_cancel,
    window_input,
    window_log,
    window_rest,
    window_steps,
    window_turns,
)
from turnproof_reference.faults.books import WINDOW

FAULTS: Final = WINDOW
