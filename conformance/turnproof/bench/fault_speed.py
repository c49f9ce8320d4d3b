"""
Measure how long it takes to see through a fault of the rules: until the proof fails, and until a schedule shows it.

Times are processor seconds of this process. What is done once for all faults, the rules as they are taken apart and
searched, is printed beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from turnproof_model.contracts import CONTRACTS
from turnproof_model.prove.faults import Fault, faults, kill, prepare, show
from turnproof_model.vocabulary import Contract


def measure(contracts: Sequence[Contract] = CONTRACTS, every: int = 1) -> Iterator[str]:
    """
    Measure all faults of these contracts, a line for each contract.

    Args:
        contracts: whose faults.
        every: how many faults there are for each that is measured; ≥ 1.
    """
    for contract in contracts:
        before = prepare(contract)
        took = [(*_seconds(contract, one), one.name) for one in faults(contract)[::every]]
        sums = [(proof + schedule, name) for proof, schedule, name in took]
        worst, slowest = max(sums)
        yield (
            f"faults {contract}: proof and schedule of a fault take {worst:.2f} s at worst ({slowest}),"
            f" {median(seconds for seconds, _ in sums):.2f} s in the middle of {len(took)};"
            f" the proof {max(proof for proof, _, _ in took):.2f} s at worst,"
            f" the schedule {max(schedule for _, schedule, _ in took):.2f} s; before, {before:.1f} s once"
        )


def _seconds(contract: Contract, one: Fault) -> tuple[float, float]:
    killed, shown = kill(contract, one), show(contract, one)
    assert killed.killed, one.name
    assert shown.commands is not None, one.name
    return killed.seconds, shown.seconds
