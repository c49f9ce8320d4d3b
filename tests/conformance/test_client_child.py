"""A driver in a child process may do anything: each way to break down is a fault of its own kind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from turnproof.candidate import ChildCandidate
from turnproof.child import ChildClient
from turnproof.faults import DriverFault, Exit, RpcError, UsageError
from turnproof.limits import Limits
from turnproof_model.observation import Observation
from turnproof_model.vocabulary import Inspect, Message, Reset, followup

PIPES = Path(__file__).parents[1] / "miniature_drivers" / "pipes.py"
GENEROUS = Limits()
SHORT = Limits(request_seconds=0.03, grace_seconds=0.05)
"""Guards against drivers that hang on purpose; nobody waits longer."""

PATIENCE = 5000
"""Milliseconds by which a killed process must be gone."""


def driver(defect, *arguments, limits=GENEROUS):
    return ChildClient([sys.executable, "-SE", str(PIPES), defect, *map(str, arguments)], limits=limits)


def fault_of(client):
    client.initialize()
    with pytest.raises(DriverFault) as caught:
        client.ask(Inspect())
    return caught.value.fault


def test_a_sound_driver_is_asked_and_shut_down():
    """Requests are answered by observations, and the process ends with status 0."""
    client = driver("sound")

    profile = client.initialize()

    assert profile.implementation.name == "pipes"
    assert client.ask(Inspect()) == Observation()
    assert client.shutdown() == Exit(status=0)


@pytest.mark.parametrize(
    ("defect", "kind", "message"),
    [
        ("dies", "exited", "ended before it answered"),
        ("is_killed", "exited", "ended before it answered"),
        ("dies_in_a_line", "exited", "left half an answer and ended"),
        ("answers_garbage", "malformed-line", "a line of JSON"),
        ("answers_no_text", "malformed-line", "a line of JSON"),
        ("answers_half_a_character", "malformed-line", "a line of JSON"),
        ("answers_nan", "malformed-line", "NaN is not JSON"),
        ("answers_a_deep_hole", "malformed-line", "a line of JSON"),
        ("answers_nothing", "malformed-line", "a line of JSON"),
        ("prints", "malformed-line", "a line of JSON"),
        ("answers_another_request", "wrong-id", "must carry the id of its request, 2"),
        ("quotes_the_id", "wrong-id", "must carry the id of its request, 2"),
        ("forgets_the_version", "not-json-rpc", "a JSON-RPC 2.0 object"),
        ("answers_both", "not-json-rpc", "either a result or an error"),
        ("answers_a_list", "not-json-rpc", "a JSON-RPC 2.0 object"),
        ("answers_a_shapeless_error", "not-json-rpc", "a whole-number code and a message"),
        ("answers_an_error", "rpc-error", "'inspect' was answered by error -32000: 'not in the mood'"),
        ("forgets_the_status", "bad-form", "must carry status"),
    ],
)
def test_each_breakdown_has_its_kind_and_a_sentence(defect, kind, message):
    """The fault says what must hold, what came, and how far the conversation had got."""
    fault = fault_of(driver(defect))

    assert fault.kind == kind
    assert message in fault.message
    assert fault.stage == "requests"
    assert [exchange.method for exchange in fault.exchanges] == ["initialize", "inspect"]


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        ("hangs", "before its deadline"),
        ("writes_half_a_line", "before its deadline"),
        ("closes_its_input", "before its deadline"),
        ("ignores_termination", "before its deadline"),
    ],
)
def test_a_driver_that_hangs_is_ended_at_its_deadline(defect, message):
    """Asking it to end may not help; killing does."""
    client = driver(defect, limits=SHORT)

    fault = fault_of(client)

    assert fault.kind == "hung"
    assert message in fault.message
    assert client._process.end().signal in ("SIGTERM", "SIGKILL")


def test_a_driver_that_closes_its_output_and_lives_on_is_told_from_one_that_ended():
    """There is no exit to report."""
    fault = fault_of(driver("closes_its_output", limits=Limits(grace_seconds=0.05)))

    assert fault.kind == "exited"
    assert "goes on running" in fault.message
    assert fault.exit is None


def test_a_driver_that_ended_is_told_from_one_that_hangs_though_its_output_is_held_open():
    """A process that it left behind holds the pipe; the status tells."""
    fault = fault_of(driver("is_outlived", limits=Limits(request_seconds=0.5)))

    assert (fault.kind, fault.exit) == ("exited", Exit(status=5))


@pytest.mark.parametrize("defect", ["floods_stdout", "floods_stderr"])
def test_a_flood_is_stopped_at_its_limit(defect):
    """Neither stream can fill memory."""
    client = driver(defect, limits=Limits(line_bytes=1 << 18, stderr_bytes=1 << 18))

    fault = fault_of(client)

    assert fault.kind == "flooded"
    assert len(client._process._buffer) < 1 << 19
    assert len(fault.stderr) <= GENEROUS.stderr_tail
    assert len(fault.received) <= GENEROUS.stderr_tail


def test_a_talkative_driver_is_no_fault_and_its_last_words_are_kept():
    """The tail of stderr is bounded; what it says is free text."""
    client = driver("chats_on_stderr", limits=Limits(stderr_tail=100))
    client.initialize()

    assert client.ask(Inspect()) == Observation()
    assert client._process.stderr().endswith("noise the end")
    assert len(client._process.stderr()) == 100
    client.close()


@pytest.mark.parametrize(
    ("defect", "ended", "words"),
    [("dies", Exit(status=3), "last words"), ("is_killed", Exit(signal="SIGKILL"), "")],
)
def test_a_fault_carries_how_the_process_ended_and_its_last_words(defect, ended, words):
    """Status and signal are told apart."""
    fault = fault_of(driver(defect))

    assert fault.exit == ended
    assert fault.stderr == words
    assert fault.answered == 1


@pytest.mark.parametrize(
    ("defect", "kind", "stage"),
    [("has_no_name", "bad-form", "initialize"), ("speaks_another_version", "bad-form", "initialize")],
)
def test_a_driver_must_introduce_itself(defect, kind, stage):
    """A profile of another form, or of another version, is a fault before anything is asked."""
    with pytest.raises(DriverFault) as caught:
        driver(defect).initialize()

    assert (caught.value.fault.kind, caught.value.fault.stage) == (kind, stage)


def test_a_line_that_nobody_asked_for_is_found_by_the_next_request():
    """An answer given twice is a wrong id for whatever is asked then."""
    client = driver("answers_twice")
    client.initialize()
    client.ask(Inspect())

    with pytest.raises(DriverFault) as caught:
        client.ask(Reset())

    assert caught.value.fault.kind == "wrong-id"


@pytest.mark.parametrize("argv", [["/nonexistent/driver"], [str(PIPES)], [sys.executable + "\0"]])
def test_a_driver_that_can_not_be_started_is_a_fault_at_the_start(argv):
    """No such file, no permission, no such name."""
    with pytest.raises(DriverFault) as caught:
        ChildClient(argv).initialize()

    assert (caught.value.fault.kind, caught.value.fault.stage) == ("spawn-failed", "start")
    assert caught.value.fault.exchanges == ()


@pytest.mark.parametrize(
    ("defect", "kind", "message"),
    [
        ("exits_badly", "exited", "it ended with status 4"),
        ("stays", "hung", "the driver didn't"),
        ("closes_its_output_and_stays", "hung", "closed its output after shutdown"),
        ("writes_on", "malformed-line", "wrote behind its answer to shutdown"),
        ("floods_after_shutdown", "flooded", "didn't end after shutdown"),
        ("shuts_down_with_a_word", "bad-form", "an empty object expected"),
    ],
)
def test_a_shutdown_that_goes_wrong_is_a_fault_of_that_stage(defect, kind, message):
    """The process must answer {}, write nothing more, and end with status 0."""
    limits = Limits(grace_seconds=0.05 if defect == "stays" else 5.0, line_bytes=1 << 18)
    client = driver(defect, limits=limits)
    client.initialize()

    with pytest.raises(DriverFault) as caught:
        client.shutdown()

    assert (caught.value.fault.kind, caught.value.fault.stage) == (kind, "shutdown")
    assert message in caught.value.fault.message


def test_a_client_begins_anew_after_a_fault():
    """Ids and history start again with the process."""
    client = driver("dies")
    first = fault_of(client)
    second = fault_of(client)

    assert second == first


def test_initialize_ends_the_driver_before():
    """One client never has two processes."""
    client = driver("sound")
    client.initialize()
    first = client._process
    client.initialize()

    assert first.end() == Exit(status=0)
    client.close()


def test_nothing_can_be_asked_of_a_closed_conversation():
    """That is a mistake of the caller's, not a fault of the driver's."""
    client = driver("sound")

    with pytest.raises(UsageError, match="call initialize first"):
        client.ask(Inspect())


def test_parameters_that_are_no_json_are_refused_before_anything_is_sent():
    """That, too, is a mistake of the caller's."""
    with driver("sound") as client:
        client.initialize()
        with pytest.raises(UsageError, match="must be JSON"):
            client.call("inspect", {"at": object()})


def test_an_error_can_be_asked_for():
    """``call`` returns what ``ask`` would not stand."""
    with driver("answers_an_error") as client:
        client.initialize()

        assert client.call("inspect", {}) == RpcError(-32000, "not in the mood")
        assert client.call("reset", {})["status"] == "idle"


def test_only_the_last_exchanges_are_kept():
    """Long conversations don't grow."""
    with driver("sound", limits=Limits(exchanges=3)) as client:
        client.initialize()
        for _ in range(5):
            client.ask(Inspect())

        assert [exchange.method for exchange in client.exchanges] == ["inspect"] * 3
        assert client.exchanges[-1].answer["status"] == "idle"


def test_a_long_request_gets_through_to_a_driver_that_writes_while_it_reads():
    """Neither side may wait for the other with full pipes."""
    with driver("reads_aloud") as client:
        client.initialize()

        assert client.ask(followup(Message("long", "x" * (1 << 20)))) == Observation()


def test_a_driver_that_reads_no_more_is_ended_at_its_deadline():
    """A request that doesn't fit into the pipe is not written for ever."""
    client = driver("stops_reading")
    client.initialize()
    client.ask(Inspect())
    client._limits = SHORT

    with pytest.raises(DriverFault) as caught:
        client.ask(followup(Message("long", "x" * (1 << 20))))

    assert caught.value.fault.kind == "hung"


def test_a_whole_run_has_a_deadline_over_all_its_conversations():
    """Restarting doesn't wind the clock back."""
    client = driver("never_starts", limits=Limits(run_seconds=0.03))

    for _ in range(2):
        with pytest.raises(DriverFault) as caught:
            client.initialize()
        assert (caught.value.fault.kind, caught.value.fault.stage) == ("hung", "initialize")


def test_a_fault_is_written_as_json():
    """Everything a report needs survives."""
    wire = json.loads(json.dumps(fault_of(driver("dies")).to_json()))

    assert wire["kind"] == "exited"
    assert wire["exit"] == {"status": 3, "signal": None}
    assert wire["exchanges"][-1] == {"request": {"method": "inspect", "params": {}}, "result": None}
    assert wire["stderr"] == "last words"


# ---------------------------------------------------------------------------------------------------- the whole group
@pytest.fixture
def lifeline(tmp_path):
    """A named pipe that a driver's own child holds open for as long as it lives."""
    path = tmp_path / "lifeline"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, reader
    os.close(reader)


def wait_for_life(reader):
    assert select.select([reader], [], [], PATIENCE / 1000)[0]
    assert os.read(reader, 10) == b"up\n"


def is_gone(reader):
    """Tell whether the last process that held the pipe has ended."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    events = poll.poll(PATIENCE)
    return bool(events) and bool(events[0][1] & select.POLLHUP)


def test_closing_ends_the_processes_that_a_driver_started(lifeline):
    """Even those that ignore being asked."""
    path, reader = lifeline
    client = driver("has_a_child", path)
    client.initialize()
    client.ask(Inspect())
    wait_for_life(reader)

    client.close()

    assert is_gone(reader)


def test_a_fault_ends_the_processes_that_a_driver_left_behind(lifeline):
    """The driver is dead already; its group is not."""
    path, reader = lifeline

    fault = fault_of(driver("has_a_child_and_dies", path))

    assert fault.exit == Exit(status=0)
    assert is_gone(reader)


def test_an_interpreter_that_exits_leaves_no_driver_behind(lifeline):
    """Nobody closed the client."""
    path, reader = lifeline
    code = f"""
from turnproof.child import ChildClient
from turnproof_model.vocabulary import Inspect
client = ChildClient({[sys.executable, "-SE", str(PIPES), "has_a_child", str(path)]!r})
client.initialize()
client.ask(Inspect())
open({str(path)!r}).readline()
"""
    subprocess.run([sys.executable, "-c", code], check=True)

    assert is_gone(reader)


@pytest.fixture
def interruptible():
    """Hear interrupts, also where the tests were started by a shell that ignores them (in the background, say)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_driver_and_is_passed_on():
    """Ctrl-C is the caller's: it is no fault, and nothing is left behind."""
    client = driver("interrupts_its_parent")
    client.initialize()

    with pytest.raises(KeyboardInterrupt):
        client.ask(Inspect())

    assert client._process.end() == Exit(signal="SIGTERM")
    with pytest.raises(UsageError):
        client.ask(Inspect())


def test_a_system_without_process_groups_is_told_so(monkeypatch):
    """Windows has neither groups that can be signalled nor pipes that can be polled."""
    monkeypatch.setattr("turnproof.process.POSIX", False)

    with pytest.raises(UsageError, match="run turnproof under WSL"):
        driver("sound").initialize()


# ---------------------------------------------------------------------------------------------------- candidates
def test_a_candidate_is_a_value_and_each_client_its_own():
    """Connecting starts nothing."""
    candidate = ChildCandidate([sys.executable, "-SE", str(PIPES), "sound"], env={"TURNPROOF_TEST": "1"})

    assert candidate == ChildCandidate((sys.executable, "-SE", str(PIPES), "sound"), env={"TURNPROOF_TEST": "1"})
    assert str(candidate).endswith("pipes.py sound")
    with closing(candidate.connect()) as one, closing(candidate.connect()) as other:
        one.initialize()
        other.initialize()
        assert one._process is not other._process


@pytest.mark.parametrize("argv", [[], "node driver.mjs", [1]])
def test_a_command_line_is_a_list_of_words(argv):
    """A single string would be split by nobody."""
    with pytest.raises(UsageError, match="a command line is a list of words"):
        ChildCandidate(argv)


def test_a_driver_runs_where_and_with_what_it_is_told(tmp_path):
    """Variables are set on top of the inherited ones."""
    code = 'import os, sys; sys.stderr.write(f\'{os.getcwd()} {os.environ["MINE"]} {"PATH" in os.environ}\')'
    candidate = ChildCandidate([sys.executable, "-c", code], cwd=str(tmp_path), env={"MINE": "yes"})

    with pytest.raises(DriverFault) as caught:
        candidate.connect().initialize()

    assert caught.value.fault.stderr == f"{tmp_path} yes True"
