"""All defects of the `claim` agent, by name."""

from __future__ import annotations

from typing import Final

from turnproof_reference.faults import (  # noqa: F401 - each of them enters its defects
    claim_boundary,
    claim_cancel,
    claim_input,
    claim_log,
    claim_turns,
)
from turnproof_reference.faults.books import CLAIM

FAULTS: Final = CLAIM
