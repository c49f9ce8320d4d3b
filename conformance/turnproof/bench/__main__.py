"""
Run the benches: ``python -m turnproof.bench [NAME…]``.

Finding takes longest, minutes on two processors; ``--searches``, ``--seeds`` and ``--cap`` cut it to parts.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from turnproof.bench import check_speed, driver_speed, explore_speed, fault_speed, finding, judging, throughput

Options: TypeAlias = argparse.Namespace

BENCHES: Mapping[str, Callable[[Options], Iterator[str]]] = {
    "judging": lambda options: judging.measure(options.commands),
    "throughput": lambda options: throughput.measure(options.commands),
    "driver": lambda _: driver_speed.measure(),
    "finding": lambda options: finding.measure(
        range(1, options.seeds + 1), options.cap, options.jobs, against=options.searches.split(",")
    ),
    "check": lambda _: check_speed.measure(),
    "explore": lambda _: explore_speed.measure(),
    "faults": lambda _: fault_speed.measure(),
}
"""What can be measured, by name."""


def main() -> int:
    """Print a line for each ratio."""
    parser = argparse.ArgumentParser("python -m turnproof.bench", description="Print speed ratios.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure ({', '.join(BENCHES)}; default all)")
    parser.add_argument("--commands", type=int, default=6_000, help="commands that each side is given (default 6000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that share the finding")
    of_finding = parser.add_argument_group("parts of finding")
    plain = ",".join(finding.PLAIN)
    of_finding.add_argument("--searches", default=plain, help=f"plain searches to compare with (default {plain})")
    of_finding.add_argument("--seeds", type=int, default=finding.SEEDS, help="seeds of each search, from 1 (default 3)")
    of_finding.add_argument("--cap", type=int, default=finding.CAP, help="commands of a search (default 600)")
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHES:
            parser.error(f"a bench is one of {', '.join(BENCHES)} (got {name!r})")
    for name in options.searches.split(","):
        if name not in finding.PLAIN:
            parser.error(f"a plain search is one of {plain} (got {name!r})")
    for name in options.names or BENCHES:
        for line in BENCHES[name](options):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
