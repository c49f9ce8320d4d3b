"""A candidate in this process is driven like one behind pipes, and breaks down in ways of its own."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys

import pytest
from attrs import evolve
from miniature_drivers.driver import Driver

from turnproof.candidate import ChildCandidate, InProcessCandidate
from turnproof.faults import DriverFault, RpcError, UsageError
from turnproof.inprocess import InProcessClient
from turnproof.limits import Limits
from turnproof_model.observation import Observation
from turnproof_model.vocabulary import Inspect, Message, Release, Reset, Text, followup

PROFILE = {
    "protocol": 1,
    "implementation": {"name": "n", "version": "1", "language": "python", "runtime": "any"},
    "contract": "window",
    "capabilities": {},
    "gates": [],
    "tools": {},
}
EMPTY = {"events": [], "gates": [], "status": "idle", "acceptsNextStep": None, "inbox": None, "whenIdle": None}


class Spare:
    """Answer with an empty agent; subclasses do one thing more."""

    def __init__(self, loop):
        self.loop = loop
        self.notes = []

    def perform(self, method, params):
        if method == "initialize":
            return PROFILE
        if method == "shutdown":
            return {}
        self.act()
        return None

    def act(self):
        """Do nothing."""

    def observe(self):
        return EMPTY | {"inbox": {"nextTurn": list(self.notes), "nextStep": []}}


class Awaiting(Spare):
    """Start a task that notes what happens over several breaks."""

    def act(self):
        self.task = asyncio.create_task(self.take_notes())

    async def take_notes(self):
        for note in "ab":
            self.notes.append(note)
            await asyncio.sleep(0)


class Spinning(Spare):
    """Never come to rest."""

    def act(self):
        self.task = asyncio.create_task(self.spin())

    async def spin(self):
        for _ in itertools.count():
            await asyncio.sleep(0)


class Sleeping(Spare):
    """Wait for time to pass, and never say so."""

    def act(self):
        self.task = asyncio.create_task(self.doze())

    async def doze(self):
        with contextlib.suppress(RuntimeError):
            await asyncio.sleep(1)


class SleepingInTheStack(Spare):
    """Ask for a timer in the caller's stack."""

    def act(self):
        self.loop.call_later(1, print)


class Raising(Spare):
    """Raise out of an operation."""

    def act(self):
        raise LookupError("lost")


class RaisingLater(Spare):
    """Raise in a callback."""

    def act(self):
        self.loop.call_soon(self.fail)

    def fail(self):
        raise LookupError("lost")


class Exiting(Spare):
    """End the interpreter."""

    def act(self):
        sys.exit(2)


class Erring(Spare):
    """Answer an error."""

    def act(self):
        error = ValueError("no")
        error.code = -32602
        raise error


class Shapeless(Spare):
    """Observe in another form."""

    def observe(self):
        return {}


class Interrupted(Spare):
    """Be interrupted from the keyboard."""

    def act(self):
        raise KeyboardInterrupt


def client_of(factory, **limits):
    client = InProcessClient(factory, limits=Limits(**limits))
    client.initialize()
    return client


def fault_of(factory, **limits):
    with pytest.raises(DriverFault) as caught:
        client_of(factory, **limits).ask(Inspect())
    return caught.value.fault


def test_an_observation_comes_when_nothing_is_runnable():
    """The loop is run between performing and observing."""
    assert client_of(Awaiting).ask(Inspect()).inbox.next_turn == ("a", "b")


@pytest.mark.parametrize(
    ("factory", "kind", "message"),
    [
        (Spinning, "spinning", "must come to rest after a request"),
        (Sleeping, "uncontrolled", "has no timers"),
        (SleepingInTheStack, "uncontrolled", "has no timers"),
        (Raising, "raised", "'inspect' raised LookupError('lost')"),
        (RaisingLater, "raised", "LookupError('lost')"),
        (Exiting, "raised", "'inspect' raised SystemExit(2)"),
        (Erring, "rpc-error", "'inspect' was answered by error -32602: 'no'"),
        (Shapeless, "bad-form", "Observation must carry"),
    ],
)
def test_each_breakdown_has_its_kind_and_a_sentence(factory, kind, message):
    """As with a child process; the traceback takes the place of stderr."""
    fault = fault_of(factory, callbacks=200)

    assert (fault.kind, fault.stage) == (kind, "requests")
    assert message in fault.message
    assert [exchange.method for exchange in fault.exchanges] == ["initialize", "inspect"]
    assert ("Traceback" in fault.stderr) == (kind not in ("rpc-error", "bad-form"))


def test_a_factory_that_raises_is_a_fault_at_the_start():
    """There is no driver then."""

    def factory(loop):
        raise LookupError("no parts")

    with pytest.raises(DriverFault) as caught:
        InProcessClient(factory).initialize()

    assert (caught.value.fault.kind, caught.value.fault.stage) == ("spawn-failed", "start")
    assert "no parts" in caught.value.fault.stderr


def test_an_interrupt_is_the_callers():
    """It is passed on, and the conversation is over."""
    client = client_of(Interrupted)

    with pytest.raises(KeyboardInterrupt):
        client.ask(Inspect())
    with pytest.raises(UsageError):
        client.ask(Inspect())


def test_a_client_begins_anew_with_a_new_driver():
    """Nothing of the old one is carried over."""
    client = client_of(Awaiting)
    client.ask(Inspect())
    client.initialize()

    assert client.ask(Inspect()).inbox.next_turn == ("a", "b")


def test_an_error_can_be_asked_for():
    """An exception with a whole-number code is one."""
    assert client_of(Erring).call("inspect", {}) == RpcError(-32602, "no")


def test_a_shutdown_has_no_process_to_wait_for():
    """There is no exit to report."""
    client = client_of(Spare)

    assert client.shutdown() is None
    with pytest.raises(UsageError):
        client.ask(Inspect())


def test_a_driver_may_need_no_loop():
    """The small agent of these tests is a generator."""
    client = InProcessClient(Driver, {"contract": "claim"})
    client.initialize()
    client.ask(Reset(gates=("model",)))
    seen = client.ask(followup(Message("a", "a")))

    assert [gate.kind for gate in seen.gates] == ["model"]
    assert client.ask(Release(Text(), gate="g1")).status == "idle"


# ---------------------------------------------------------------------------------------------------- candidates
def test_a_candidate_is_found_by_its_dotted_name():
    """Nothing of it is imported before it is connected."""
    candidate = InProcessCandidate("miniature_drivers.driver:Driver", {"contract": "claim"})

    assert candidate.connect().initialize().contract == "claim"
    assert str(candidate) == "miniature_drivers.driver:Driver"
    assert str(InProcessCandidate(Spare)).endswith("test_client_inprocess:Spare")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("miniature_drivers.driver", "is named 'package.module:name'"),
        ("no_such_module:Driver", "can't be found"),
        ("miniature_drivers.driver:NoSuch", "can't be found"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_mistake_of_the_callers(name, message):
    """It is told when the candidate is connected."""
    with pytest.raises(UsageError, match=message):
        InProcessCandidate(name).connect()


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_both_kinds_of_client_see_the_same_agent(contract):
    """The reference agent answers alike through pipes, where its driver has lanes, and in this process."""
    child = ChildCandidate([sys.executable, "-m", "turnproof_reference", "--contract", contract])
    here = InProcessCandidate("turnproof_reference.driver:Driver", {"contract": contract})
    answers = []
    for candidate in (child, here):
        with candidate.connect() as client:
            profile = client.initialize()
            seen = [client.ask(Reset()), client.ask(followup(Message("a", "a")))]
            answers.append((profile, seen))
    (there, *_), (profile, *_) = answers

    assert there == evolve(profile, capabilities={**profile.capabilities, "lanes": True})
    assert answers[0][1] == answers[1][1]
    assert answers[0][1][0] != Observation()
