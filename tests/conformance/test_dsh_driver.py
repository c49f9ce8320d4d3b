"""
The driver of the dsh agent, met as the runner meets it: a Node process over stdio.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof import agents

DEVIATIONS = sorted((Path(__file__).parents[1] / "data" / "dsh-deviations").glob("*.json"))
PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"


class Driver:
    """A running driver; `ask` takes results, `attempt` whole answers."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            agents.command("dsh"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.count = 0

    def line(self, text: str) -> dict[str, Any]:
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def attempt(self, method: str, **params: Any) -> dict[str, Any]:
        self.count += 1
        request = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        answer = self.line(json.dumps(request, ensure_ascii=False))
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.count)
        return answer

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.attempt(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def close(self) -> int:
        self.process.communicate()
        return self.process.returncode


@pytest.fixture(scope="module")
def shared() -> Iterator[Driver]:
    agents.install("dsh")
    driver = Driver()
    yield driver
    driver.close()


@pytest.fixture
def dsh(shared: Driver) -> Driver:
    shared.ask("reset", gates=["model", "tool"])
    return shared


@pytest.fixture
def own() -> Iterator[Driver]:
    agents.install("dsh")
    driver = Driver()
    yield driver
    driver.close()


def message(name: str, text: str | None = None) -> dict[str, Any]:
    return {"id": name, "text": name if text is None else text, "source": {"kind": "user"}}


def op(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def types(observation: dict[str, Any]) -> list[str]:
    return [event["type"] for event in observation["events"]]


def of_type(observation: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event for event in observation["events"] if event["type"] == kind]


def gates(observation: dict[str, Any]) -> list[tuple[str, str]]:
    return [(gate["id"], gate["kind"]) for gate in observation["gates"]]


# ------------------------------------------------------------------------------------------------ introduction
def test_it_declares_every_capability_of_the_protocol_and_no_other(shared: Driver) -> None:
    named = PROTOCOL.read_text("utf-8").split("## Capabilities")[1].split("## Extensions")[0].split("\n\n")[1]

    declared = shared.ask("initialize", protocol=1)["capabilities"]

    assert set(declared) == {*named.split("`")[1::2], "lanes"}


def test_a_lane_is_an_agent_of_its_own(dsh: Driver) -> None:
    """Both write and speak in turns; a lane that was never reset has no agent, and one that is no number is refused."""
    on = lambda lane, method, **params: dsh.line(  # noqa: E731  # said for this test only
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": method, "params": params, "lane": lane})
    )
    dsh.ask("followup", message=message("a"))

    assert "no session yet" in on(7, "inspect")["error"]["message"]
    assert on(7, "reset", gates=["pre-step"])["result"]["events"] == []
    assert gates(on(7, "followup", message=message("a"))["result"]) == [("g1", "pre-step")]
    assert gates(dsh.ask("inspect")) == [("g1", "model")]
    assert "lane" in on("7", "inspect")["error"]["message"]


def test_it_introduces_the_agent_of_the_lock(shared: Driver) -> None:
    introduction = shared.ask("initialize", protocol=1)

    assert introduction["implementation"]["name"] == "@deepseek-ai/dsh-agent-loop"
    assert introduction["implementation"]["version"] == agents.agent("dsh").version
    assert introduction["contract"] == "claim"
    assert introduction["tools"] == {"par": "parallel", "exc": "exclusive"}


def test_it_refuses_another_version_of_the_protocol(shared: Driver) -> None:
    assert shared.attempt("initialize", protocol=2)["error"]["code"] == -32602


# ------------------------------------------------------------------------------------------------ deviations
@pytest.mark.parametrize("path", DEVIATIONS, ids=lambda path: path.stem)
def test_a_recorded_deviation_still_happens_in_a_process_that_served_others(shared: Driver, path: Path) -> None:
    deviation = json.loads(path.read_text("utf-8"))

    observed = [shared.ask(request["method"], **request["params"]) for request in deviation["requests"]]

    assert observed[-1] == deviation["observed"]


# ------------------------------------------------------------------------------------------------ sessions in a row
def test_a_reset_shows_nothing_of_the_old_session(dsh: Driver) -> None:
    dsh.ask("reset", gates=["model", "tool"], onAbort={"tool": "park"})
    dsh.ask("followup", message=message("a"))
    dsh.ask("release", kind="model", outcome={"kind": "tools", "calls": [{"id": "c", "name": "par"}]})

    fresh = dsh.ask("reset", gates=["model"])
    first = dsh.ask("followup", message=message("b"))

    assert (fresh["events"], fresh["gates"], fresh["status"]) == ([], [], "idle")
    assert gates(first) == [("g1", "model")]
    assert of_type(first, "request")[0]["messages"] == [{"role": "user", "id": "b"}]


def test_what_was_armed_dies_with_its_session(dsh: Driver) -> None:
    dsh.ask("arm", on="agent/status", defer=1, ops=[op("inject", message=message("late"))])

    dsh.ask("reset", gates=["model"])
    first = dsh.ask("followup", message=message("a"))

    assert [event["id"] for event in of_type(first, "agent/inbox/inserted")] == ["a"]


def test_an_agent_that_refused_its_disposal_does_not_outlive_a_reset(dsh: Driver) -> None:
    for name in ("a", "b"):
        dsh.ask("followup", message=message(name))
    dsh.ask("arm", on="assistant/message", ops=[op("dispose")])
    refused = dsh.ask("release", kind="model")

    fresh = dsh.ask("reset", gates=["model"])
    later = dsh.ask("inspect")

    assert of_type(refused, "op-threw")[0]["method"] == "dispose"
    assert (fresh["events"], later["events"]) == ([], [])


# ------------------------------------------------------------------------------------------------ resume
def test_a_crash_resume_cuts_off_in_the_middle_and_repairs_the_log(dsh: Driver) -> None:
    """
    C-LOG-3: a call without a result gets an error result, and pending input stays pending.
    """
    dsh.ask("followup", message=message("a"))
    dsh.ask("release", kind="model", outcome={"kind": "tools", "calls": [{"id": "c", "name": "par"}]})
    dsh.ask("inject", message=message("i"))

    resumed = dsh.ask("resume", mode="crash")
    first = dsh.ask("followup", message=message("b"))

    assert (resumed["events"], resumed["gates"], resumed["inbox"]["nextStep"]) == ([], [], ["i"])
    assert gates(first) == [("g1", "model")]
    assert of_type(first, "request")[0]["messages"] == [
        {"role": "user", "id": "a"},
        {"role": "assistant", "text": "", "toolCalls": ["c"]},
        {"role": "user", "toolResult": "c", "isError": True},
        {"role": "user", "id": "i"},
        {"role": "user", "id": "b"},
    ]


def test_a_clean_resume_shows_what_the_disposal_publishes(dsh: Driver) -> None:
    """
    C-DIS-1: the disposal discards what is pending and ends the turn as disposed.
    """
    dsh.ask("followup", message=message("a"))
    dsh.ask("followup", message=message("b"))

    resumed = dsh.ask("resume", mode="clean")

    assert of_type(resumed, "turn/end") == [
        {"kind": "session", "type": "turn/end", "turn": 1, "reason": "aborted", "cause": "disposed"}
    ]
    assert types(resumed)[-2:] == ["agent/status", "agent/disposed"]
    assert (resumed["status"], resumed["inbox"]) == ("idle", {"nextTurn": [], "nextStep": []})


def test_a_clean_resume_cuts_off_what_ignores_the_abort(dsh: Driver) -> None:
    dsh.ask("reset", gates=["model"], onAbort={"model": "park"})
    dsh.ask("followup", message=message("a"))

    resumed = dsh.ask("resume", mode="clean")
    first = dsh.ask("followup", message=message("b"))

    assert (resumed["events"], resumed["gates"], resumed["status"]) == ([], [], "idle")
    assert of_type(first, "turn/start")[0]["turn"] == 2


def test_what_was_armed_dies_with_a_resume(dsh: Driver) -> None:
    dsh.ask("followup", message=message("a"))
    dsh.ask("arm", on="agent/status", ops=[op("followup", message=message("late"))])

    resumed = dsh.ask("resume", mode="clean")

    assert resumed["inbox"] == {"nextTurn": [], "nextStep": []}


# ------------------------------------------------------------------------------------------------ gates
def test_a_cooperative_gate_leaves_the_list_and_an_uncooperative_one_stays_marked(dsh: Driver) -> None:
    dsh.ask("reset", gates=["model", "tool"], onAbort={"tool": "park"})
    dsh.ask("followup", message=message("a"))
    dsh.ask("release", kind="model", outcome={"kind": "tools", "calls": [{"id": "c", "name": "par"}]})
    parked = dsh.ask("cancel", cause="user")
    dsh.ask("reset", gates=["model"])
    dsh.ask("followup", message=message("a"))
    settled = dsh.ask("cancel", cause="user")

    assert parked["gates"] == [{"id": "g2", "kind": "tool", "callId": "c", "name": "par", "aborted": True}]
    assert (parked["events"], settled["gates"]) == ([], [])
    assert of_type(settled, "gate/aborted") == [
        {"kind": "driver", "type": "gate/aborted", "gate": "g1", "gateKind": "model"}
    ]


def test_a_gate_released_inside_its_own_opening_hears_no_later_abort(dsh: Driver) -> None:
    dsh.ask("arm", on="gate:model", ops=[op("release", kind="model"), op("cancel", cause="user")])

    observed = dsh.ask("followup", message=message("a"))

    assert "gate/open" in types(observed)
    assert "gate/aborted" not in types(observed)
    assert of_type(observed, "turn/end")[0]["reason"] == "aborted"


def test_a_gate_that_opens_under_a_known_abort_opens_first(dsh: Driver) -> None:
    dsh.ask("arm", on="request", ops=[op("cancel", cause="user")])

    observed = dsh.ask("followup", message=message("a"))

    assert [kind for kind in types(observed) if kind.startswith("gate/")] == ["gate/open", "gate/aborted"]


def test_a_kind_that_is_not_gated_takes_its_default_outcome(dsh: Driver) -> None:
    dsh.ask("reset", gates=[])

    observed = dsh.ask("followup", message=message("a"))

    assert of_type(observed, "assistant/message")[0]["text"] == "reply"
    assert (observed["status"], observed["whenIdle"], observed["gates"]) == ("idle", True, [])


def test_flushes_are_asked_for_only_where_a_reset_gates_them(dsh: Driver) -> None:
    without = dsh.ask("followup", message=message("a"))
    dsh.ask("reset", gates=["flush"])
    before_step = dsh.ask("followup", message=message("a"))
    before_request = dsh.ask("release", kind="flush")
    failed = dsh.ask("release", kind="flush", outcome={"kind": "fail"})

    assert gates(without) == [("g1", "model")]
    assert (gates(before_step), gates(before_request)) == ([("g1", "flush")], [("g2", "flush")])
    assert of_type(before_request, "user/message")[0]["id"] == "a"
    assert of_type(failed, "turn/end")[0]["reason"] == "error"
    assert "request" not in types(failed)


def test_partial_text_survives_the_abort_that_cuts_it_off(dsh: Driver) -> None:
    dsh.ask("followup", message=message("a"))
    streaming = dsh.ask("release", kind="model", outcome={"kind": "partial", "text": "he"})
    aborted = dsh.ask("cancel", cause="user")

    assert streaming["gates"] == [{"id": "g2", "kind": "model", "partial": "he"}]
    assert of_type(aborted, "assistant/message") == [
        {
            "kind": "session",
            "type": "assistant/message",
            "turn": 1,
            "step": 1,
            "text": "he",
            "toolCalls": [],
            "interrupted": True,
        }
    ]


# ------------------------------------------------------------------------------------------------ batch and arm
def test_a_batch_runs_in_one_stack_and_goes_on_after_a_refusal(dsh: Driver) -> None:
    """
    C-SEND-3: an id that is pending is refused, and nothing changes.
    """
    observed = dsh.ask("batch", ops=[op(name, message=message("i")) for name in ("inject", "steer")] + [op("dispose")])

    assert of_type(observed, "op-threw") == [
        {"kind": "driver", "type": "op-threw", "method": "steer", "error": 'message "i" is already pending'}
    ]
    assert types(observed)[-1] == "dispose/resolved"


def test_an_arm_waits_for_the_nth_event_whose_fields_match_and_fires_once(dsh: Driver) -> None:
    dsh.ask("arm", on="agent/inbox/inserted", where={"id": "x"}, nth=2, ops=[op("inject", message=message("armed"))])
    pending = [
        dsh.ask(method, **params)["inbox"]["nextStep"]
        for _ in range(3)
        for method, params in (("inject", {"message": message("x")}), ("remove", {"id": "x"}))
    ]

    assert pending == [["x"], [], ["x", "armed"], ["armed"], ["armed", "x"], ["armed"]]


def test_a_deferred_arm_performs_after_the_event_and_within_the_request(dsh: Driver) -> None:
    dsh.ask("arm", on="agent/inbox/inserted", defer=1, ops=[op("remove", id="i")])

    observed = dsh.ask("batch", ops=[op("inject", message=message("i")), op("inject", message=message("j"))])

    assert types(observed)[-1] == "agent/inbox/discarded"
    assert observed["inbox"]["nextStep"] == ["j"]


def test_an_operation_inside_a_durable_event_is_refused_if_it_appends(dsh: Driver) -> None:
    dsh.ask(
        "arm", on="turn/start", ops=[op("followup", message=message("b")), op("cancel", cause="user", keepInbox=True)]
    )

    observed = dsh.ask("followup", message=message("a"))

    assert [event["method"] for event in of_type(observed, "op-threw")] == ["followup"]
    assert of_type(observed, "turn/end")[0]["reason"] == "aborted"


# ------------------------------------------------------------------------------------------------ refusals and errors
def test_edits_answer_whether_the_message_was_pending(dsh: Driver) -> None:
    """
    C-EDIT-1: replace and remove answer whether the message was still pending.
    """
    dsh.ask("prepend", target="next-step", message=message("i"))

    assert [
        dsh.ask("replace", id="i", message=message("j"))["answer"],
        dsh.ask("remove", id="i")["answer"],
        dsh.ask("remove", id="j")["answer"],
    ] == [True, False, True]


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ({"gate": "g9"}, "gate 'g9' is not open"),
        ({"kind": "tool"}, "no gate of kind 'tool' is open"),
        ({"gate": "g1", "outcome": {"kind": "enter"}}, "takes text, tools, max-tokens, error, partial (got 'enter')"),
        ({"gate": "g1", "outcome": {"kind": "tools"}}, "is malformed"),
    ],
)
def test_a_release_that_fits_no_open_gate_is_an_error_and_changes_nothing(
    dsh: Driver, release: dict[str, Any], reason: str
) -> None:
    dsh.ask("followup", message=message("a"))

    error = dsh.attempt("release", **release)["error"]
    after = dsh.ask("inspect")

    assert (error["code"], reason in error["message"]) == (-32602, True)
    assert (after["events"], gates(after)) == ([], [("g1", "model")])


@pytest.mark.parametrize(
    ("code", "method", "params"),
    [
        (-32601, "submit", {}),
        (-32601, "goal", {}),
        (-32601, "reference", {"message": message("a"), "snapshot": message("s")}),
        (-32601, "resume", {"mode": "fork"}),
        (-32601, "batch", {"ops": [op("inject", message=message("a")), op("reset")]}),
        (-32602, "send", {"message": message("a"), "target": "next"}),
        (-32602, "followup", {"message": {"id": "a"}}),
        (-32602, "cancel", {"cause": "disposed"}),
        (-32602, "reset", {"gates": ["prompt-submit"]}),
        (-32602, "reset", {"onAbort": {"model": "ignore"}}),
        (-32602, "resume", {"mode": "soft"}),
        (-32602, "arm", {"on": "request", "nth": 0, "ops": []}),
        (-32602, "batch", {"ops": [op("inject", message=message("a")), op("cancel")]}),
        (-32602, "batch", {"ops": [op("inspect")]}),
    ],
)
def test_a_request_that_is_malformed_or_undeclared_is_an_error_and_changes_nothing(
    dsh: Driver, code: int, method: str, params: dict[str, Any]
) -> None:
    answer = dsh.attempt(method, **params)
    after = dsh.ask("inspect")

    assert answer["error"]["code"] == code
    assert (after["events"], after["inbox"]) == ([], {"nextTurn": [], "nextStep": []})


def test_a_line_that_is_no_request_is_answered_and_the_next_one_served(dsh: Driver) -> None:
    assert [dsh.line(text)["error"]["code"] for text in ("{", "[]", '{"method": "inspect", "params": []}')] == [
        -32700,
        -32600,
        -32602,
    ]
    assert dsh.ask("inspect")["status"] == "idle"


def test_every_line_separator_of_unicode_may_stand_in_a_text(dsh: Driver) -> None:
    dsh.ask("followup", message=message("a", "one\u2028two\u2029three\x85four"))

    assert dsh.ask("inspect")["status"] == "running"


# ------------------------------------------------------------------------------------------------ start and end
def test_it_needs_a_reset_before_it_takes_operations(own: Driver) -> None:
    assert "send 'reset' first" in own.attempt("inspect")["error"]["message"]


def test_a_shutdown_in_the_middle_of_a_turn_ends_with_status_0(own: Driver) -> None:
    own.ask("reset")
    own.ask("followup", message=message("a"))

    assert own.ask("shutdown") == {}
    assert own.close() == 0


def test_the_end_of_its_input_ends_it_with_status_0(own: Driver) -> None:
    own.ask("reset")

    assert own.close() == 0
