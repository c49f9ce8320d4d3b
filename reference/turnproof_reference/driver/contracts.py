"""Which contracts there are, and the adapter of each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turnproof_reference.driver.adapter import Adapter
    from turnproof_reference.fault import Fault

# Loaded when asked for, so that a process that serves one contract doesn't pay for the other.
ADAPTERS: Final = {
    "window": ("turnproof_reference.window.adapter", "WindowAdapter"),
    "claim": ("turnproof_reference.claim.adapter", "ClaimAdapter"),
}
FAULTS: Final = {"window": "turnproof_reference.faults.window", "claim": "turnproof_reference.faults.claim"}


def adapter_of(contract: str, fault: str | None = None) -> Adapter:
    """
    Answer the adapter of a contract, with a defect built in if one is named.

    Raises:
        ValueError: when there is no such contract or fault.
    """
    if contract not in ADAPTERS:
        raise ValueError(f"contract must be one of {', '.join(ADAPTERS)} (got {contract!r})")
    module, name = ADAPTERS[contract]
    adapter: type[Adapter] = getattr(import_module(module), name)
    return adapter(None if fault is None else _fault(contract, fault))


def faults_of(contract: str) -> dict[str, Fault]:
    """Answer the deliberate defects of a contract by name."""
    found: dict[str, Fault] = import_module(FAULTS[contract]).FAULTS
    return found


def _fault(contract: str, name: str) -> Fault:
    known = faults_of(contract)
    if name not in known:
        raise ValueError(f"fault of contract {contract} must be one of {', '.join(sorted(known))} (got {name!r})")
    return known[name]
