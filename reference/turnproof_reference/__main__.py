"""Serve a reference agent: `python -m turnproof_reference --contract window`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from turnproof_reference.driver.contracts import ADAPTERS
from turnproof_reference.driver.driver import Driver
from turnproof_reference.driver.stdio import Lanes, serve


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Answer requests on standard input until there are no more.

    Args:
        arguments: of the command line; those of the process if none are given.

    Returns:
        the exit status.
    """
    parser = argparse.ArgumentParser("python -m turnproof_reference", description="A reference agent over stdio.")
    parser.add_argument("--contract", required=True, choices=sorted(ADAPTERS), help="which agent")
    parser.add_argument("--fault", help="name of a deliberate defect to run with")
    options = parser.parse_args(arguments)
    try:
        lanes = Lanes(partial(Driver, options.contract, fault=options.fault))
    except ValueError as error:
        parser.error(str(error))
    serve(lanes, sys.stdin.buffer, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
