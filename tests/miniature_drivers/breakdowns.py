"""
Be a sound agent whose driver breaks down at a request: ``python -m miniature_drivers.breakdowns DEFECT REQUEST
[apart]``; ``apart`` leaves it one lane.

Up to that request (counted from 1, ``initialize`` among them) the reference agent of contract ``claim`` answers. A word
about the breakdown goes to stderr first.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import signal
import sys

from turnproof_reference.driver import Driver
from turnproof_reference.driver.stdio import Lanes, respond


def hangs():
    while True:
        signal.pause()


def dies():
    os._exit(3)


def answers_garbage():
    os.write(1, b"I'd rather talk about the weather\n")


def floods():
    while True:
        os.write(1, b"and " * 1000)


DEFECTS = {defect.__name__: defect for defect in (hangs, dies, answers_garbage, floods)}


class Apart(Lanes):
    """Hold one agent, and don't say that there could be more."""

    def perform(self, lane, method, params):
        answer = super().perform(0, method, params)
        if method == "initialize":
            answer["capabilities"].pop("lanes")
        return answer


def main(name, last, apart=""):
    lanes = (Apart if apart else Lanes)(functools.partial(Driver, "claim"))
    for number, line in zip(itertools.count(1), sys.stdin.buffer):
        if number == int(last):
            os.write(2, f"about to break down: {name}\n".encode())
            DEFECTS[name]()
            continue
        answer, more = respond(lanes, line)
        os.write(1, json.dumps(answer).encode() + b"\n")
        if not more:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
