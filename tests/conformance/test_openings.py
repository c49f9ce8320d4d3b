"""The openings are lawful on any candidate, every search begins with them, and nothing stops at one of them."""

from __future__ import annotations

import pytest
from attrs import define, evolve, field

from turnproof.candidate import REFERENCE_DRIVER, InProcessCandidate
from turnproof.engine import Engine, search
from turnproof.faults import DriverFault, Fault
from turnproof.notation import read_schedule
from turnproof.openings import book, file_of, openings
from turnproof.races.needs import needed
from turnproof.runner import run
from turnproof.score import schedule_text
from turnproof.trial import Trial
from turnproof_model.contracts import CONTRACTS
from turnproof_model.vocabulary import Reset

ALONE = ("batch", "arm", "gates.select", "onAbort.select", "flush", "resume", "keepInbox", "dispose")
"""Capabilities that openings depend on."""


def connected(contract, **more):
    return InProcessCandidate(REFERENCE_DRIVER, {"contract": contract, **more}).connect()


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_command_of_an_opening_can_be_given_and_sound_agents_conform(contract):
    trial = Trial.open(connected(contract), contract)

    for opening in openings(trial.profile):
        assert trial.begin(opening[0]) is None
        for command in opening[1:]:
            assert trial.allows(command), schedule_text(opening)
            assert trial.do(command) is None, schedule_text(opening)
        assert trial.end() is None


@pytest.mark.parametrize("contract", CONTRACTS)
def test_an_opening_is_one_schedule_and_the_book_has_each_once(contract):
    lines = file_of(contract).read_text(encoding="utf-8").splitlines()

    assert list(map(schedule_text, book(contract))) == lines
    assert len(set(lines)) == len(lines)
    for opening in book(contract):
        assert [at for at, command in enumerate(opening) if isinstance(command, Reset)] == [0]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_candidate_that_declares_all_is_given_the_whole_book(contract):
    profile = connected(contract).initialize()

    assert tuple(openings(profile)) == book(contract)


@pytest.mark.parametrize("lacking", ALONE)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_a_candidate_does_not_declare_is_left_out(contract, lacking):
    """A reset stays, with what it may still ask for."""
    profile = connected(contract).initialize()
    poorer = evolve(profile, capabilities={**profile.capabilities, lacking: False})

    left = list(openings(poorer))

    assert len(left) == len(book(contract))
    assert all(isinstance(opening[0], Reset) for opening in left)
    assert lacking not in needed(command for opening in left for command in opening)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_poor_candidate_can_be_given_what_is_left(contract):
    """What can't be given without what was left out is left out when its turn comes; the agent still conforms."""
    rich = Trial.open(connected(contract), contract)
    poor = {name: has and name not in ALONE for name, has in rich.profile.capabilities.items()}
    trial = Trial(rich.client, contract, evolve(rich.profile, capabilities=poor))
    failures = []

    search(Engine(trial, failures.append, 200), seed=1)

    assert failures == []
    assert trial.commands == 200


@define
class Listener:
    """Write down what is asked, and break down at one of the requests, if told so."""

    client: object
    breaks_at: int = 0
    asked: list = field(factory=list)

    def initialize(self):
        return self.client.initialize()

    def ask(self, request):
        self.asked.append(request)
        if len(self.asked) == self.breaks_at:
            raise DriverFault(Fault("exited", "gone", "requests", len(self.asked)))
        return self.client.ask(request)

    def close(self):
        self.client.close()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_search_begins_with_the_book_and_a_short_one_with_its_beginning(contract, seed):
    """Whatever the seed is."""
    client = Listener(connected(contract))
    whole = [command for opening in book(contract) for command in opening]

    search(Engine(Trial.open(client), lambda _: True, 20), seed)

    assert client.asked == whole[:20]


def test_behind_the_book_the_seed_decides():
    asked = []
    length = sum(map(len, book("window")))
    for seed in (1, 2):
        client = Listener(connected("window"))
        search(Engine(Trial.open(client), lambda _: True, length + 20), seed)
        asked.append(client.asked)

    assert asked[0][:length] == asked[1][:length]
    assert asked[0][length:] != asked[1][length:]


def test_a_search_that_goes_on_after_a_breakdown_begins_with_the_next_opening():
    """Else it would run into the same breakdown again."""
    client = Listener(connected("window"), breaks_at=len(book("window")[0]) + 1)
    first = openings(client.initialize())
    with pytest.raises(DriverFault):
        search(Engine(Trial.open(client), lambda _: True, 100), 1, first=first)

    assert next(first) == book("window")[2]


def test_what_an_opening_shows_ends_it_and_the_next_one_begins():
    client = Listener(connected("window", fault="keep-inbox-ignored"))
    opening = read_schedule("reset · followup b · steer d · cancel keep · inspect · inspect")
    failures = []

    search(Engine(Trial.open(client), lambda failure: not failures.append(failure), 8), 1, first=iter([opening] * 2))

    assert failures[0].schedule == opening[:4]
    assert client.asked == [*opening[:4], *opening[:4]]


def test_a_run_counts_openings_among_its_schedules_and_commands():
    result = run(InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"}), commands=30)

    assert result.commands == 30
    assert result.examples >= 3


@define
class Listened:
    """Be a candidate that writes down what its agents are asked."""

    candidate: InProcessCandidate
    listeners: list[Listener] = field(factory=list)

    def connect(self):
        self.listeners.append(Listener(self.candidate.connect()))
        return self.listeners[-1]

    def __getattr__(self, name):
        return getattr(self.candidate, name)


def test_searches_that_are_joined_divide_the_openings():
    """The first of three plays the first opening, the fourth, and so on."""
    told = book("claim")
    for begin in range(3):
        mine = [command for opening in told[begin::3] for command in opening]
        candidate = Listened(InProcessCandidate(REFERENCE_DRIVER, {"contract": "claim"}))

        run(candidate, commands=len(mine), share=(begin, 3), lanes=1)

        assert candidate.listeners[0].asked[: len(mine)] == mine
