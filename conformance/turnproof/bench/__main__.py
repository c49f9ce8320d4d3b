"""Run the benches: ``python -m turnproof.bench [--commands N]``."""

from __future__ import annotations

import argparse
import itertools
import sys

from turnproof.bench import check_speed, explore_speed
from turnproof.bench.judging import measure


def main() -> int:
    """Print a line for each ratio."""
    parser = argparse.ArgumentParser("python -m turnproof.bench", description="Print speed ratios.")
    parser.add_argument("--commands", type=int, default=6_000, help="commands that each side is given (default 6000)")
    options = parser.parse_args()
    for line in itertools.chain(measure(options.commands), check_speed.measure(), explore_speed.measure()):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
