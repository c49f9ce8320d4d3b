"""Hypotheses in one state are played once, and nothing else comes of it."""

from __future__ import annotations

import pytest

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.hypotheses import Played
from turnproof.oracle import Oracle
from turnproof.trial import Trial

COMMANDS = 400
CONTRACT = "claim"  # two of its freedoms come up early and are settled late


class Overheard(Oracle):
    """Write down each judgement, the policies that are left after it, and how many hypotheses share a machine."""

    def judge(self, command, observed):
        judgement = super().judge(command, observed)
        JUDGED.append((judgement, [hypothesis.policies for hypothesis in self.hypotheses]))
        SHARING.append(len(self.hypotheses) - len({id(hypothesis.machine) for hypothesis in self.hypotheses}))
        return judgement


JUDGED = []
SHARING = []


def judged(fault):
    """Search an agent; give what its oracle found, and whether any hypotheses shared a machine."""
    JUDGED.clear()
    SHARING.clear()
    options = {"contract": CONTRACT, **({"fault": fault} if fault else {})}
    with InProcessCandidate(REFERENCE_DRIVER, options).connect() as client:
        search(Engine(Trial.open(client), lambda _: True, COMMANDS), seed=4)
    return list(JUDGED), any(SHARING)


@pytest.mark.parametrize("fault", [None, "rejected-put-back"])
def test_a_shared_play_tells_what_plays_of_its_own_would_tell(fault, monkeypatch):
    """Judgements and policies that survive are those of an oracle that plays every hypothesis by itself."""
    monkeypatch.setattr("turnproof.trial.Oracle", Overheard)
    sharing, shared = judged(fault)
    monkeypatch.setattr(Played, "stands_for", lambda *_: False)
    monkeypatch.setattr("turnproof.oracle.distinct", told_apart)
    alone, apart = judged(fault)

    assert (shared, apart) == (True, False)
    assert sharing == alone


def told_apart(hypotheses):
    """Keep one hypothesis of each kind, each with a machine of its own."""
    kept = []
    for one in hypotheses:
        state = one.machine.fingerprint()
        if all((other.policies, other.machine.fingerprint()) != (one.policies, state) for other in kept):
            kept.append(one)
    return kept
