"""What a gate says about its turn and step is judged where a candidate says it."""

from __future__ import annotations

import pytest
from attrs import evolve, frozen

from turnproof.candidate import InProcessCandidate
from turnproof.notation import read_schedule
from turnproof.trial import Trial

SCHEDULE = {
    "window": "reset gates step,model · followup a · step continue · model text",
    "claim": "reset gates pre-step,model · followup a · pre-step enter · model text",
}


@frozen
class Misnumbering:
    """Be a client whose gates tell another step than they are about, or none."""

    client: object
    told: object

    def initialize(self):
        return self.client.initialize()

    def ask(self, request):
        seen = self.client.ask(request)
        gates = tuple(gate if gate.step is None else evolve(gate, step=self.told(gate.step)) for gate in seen.gates)
        return evolve(seen, gates=gates)


def failures(contract, told):
    client = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract}).connect()
    trial = Trial.open(Misnumbering(client, told), contract)
    reset, *commands = read_schedule(SCHEDULE[contract])
    found = [trial.begin(reset)]
    for command in commands:
        if found[-1] is None:
            found.append(trial.do(command))
    client.close()
    return [failure for failure in found if failure is not None]


@pytest.mark.parametrize(("contract", "rule"), [("window", "W-STEP-1"), ("claim", "C-STEP-1")])
def test_a_gate_that_names_another_step_breaks_the_numbering(contract, rule):
    """
    W-STEP-1, C-STEP-1: steps are numbered from 1 within their turn, at their gates too.
    """
    (failure,) = failures(contract, lambda step: step + 1)

    assert failure.rules == (rule,)
    assert failure.difference.where == "gate_numbers"


@pytest.mark.parametrize("contract", ["window", "claim"])
@pytest.mark.parametrize("told", [lambda step: step, lambda _step: None])
def test_a_gate_may_name_its_step_or_keep_silent(contract, told):
    assert failures(contract, told) == []
