"""What only a caller in Python can see of the agents: defaults, plain functions as hooks, words and attributes."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from turnproof_reference import claim, window
from turnproof_reference.abort import AbortSignal
from turnproof_reference.claim.errors import AgentGone, AlreadyPending, LogIsPublishing
from turnproof_reference.claim.pending import PendingInput
from turnproof_reference.errors import Refused
from turnproof_reference.events import AgentError, StepEnd, StepStart, ToolResult, TurnEnd, TurnStart, UserMessage
from turnproof_reference.goals import change_text, fold_goal
from turnproof_reference.messages import NEXT_TURN, Message, MessageError, ToolCall
from turnproof_reference.model import Finish, ModelRequest, Reply
from turnproof_reference.publish import Publisher
from turnproof_reference.repair import closing_events, repair
from turnproof_reference.session import Session, SessionLog
from turnproof_reference.tools import Tool, ToolOutcome, ToolRequest

BREAKS = 5
"""Scheduler breaks that are enough for whatever is under way."""

Agent = window.Agent | claim.Agent


def message(name: str) -> Message:
    return Message(name, f"text of {name}", {"kind": "user"})


async def brief(_request: ModelRequest) -> Reply:
    """Be a model that answers at once."""
    return Reply("yes")


async def calling(request: ModelRequest) -> Reply:
    """Be a model that calls a tool which nobody offers, and then is content."""
    if any(isinstance(entry, ToolResult) for entry in request.messages):
        return Reply("never mind")
    return Reply("", (ToolCall("c1", "absent"),), Finish.TOOL_CALLS)


def plain(contract: str, model: Any = brief) -> Agent:
    """Make an agent from as little as it needs, in the running loop."""
    return window.Agent(model) if contract == "window" else claim.Agent(Session("s"), model)


def reasons(agent: Agent) -> list[str]:
    return [event.reason for event in agent.log.events if isinstance(event, TurnEnd)]


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_an_agent_needs_no_more_than_a_model(contract: str) -> None:
    errors: list[str] = []

    async def scenario() -> Agent:
        agent = plain(contract, calling)
        publisher = agent.publisher if isinstance(agent, window.Agent) else agent.events
        publisher.subscribe(lambda event: errors.append(event.message) if isinstance(event, AgentError) else None)
        agent.followup(message("a"))
        await agent.when_idle()
        return agent

    agent = asyncio.run(scenario())

    assert (reasons(agent), errors) == (["completed"], [])
    assert [event.code for event in agent.log.events if isinstance(event, ToolResult)] == ["UNKNOWN_TOOL"]


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_an_agent_is_made_before_its_loop_runs(contract: str) -> None:
    loop = asyncio.new_event_loop()
    made = window.Agent(brief, loop=loop) if contract == "window" else claim.Agent(Session("s"), brief, loop=loop)
    made.followup(message("a"))
    loop.run_until_complete(made.when_idle())
    loop.close()

    assert reasons(made) == ["completed"]


def test_what_is_sent_without_further_words_is_a_prompt_that_wakes() -> None:
    """
    W-SEND-1: the presets name the rest.
    """

    async def scenario() -> Agent:
        agent = window.Agent(brief)
        agent.send(message("a"))
        await agent.when_idle()
        return agent

    assert reasons(asyncio.run(scenario())) == ["completed"]


def test_a_target_that_there_is_not_is_refused_by_name() -> None:
    async def scenario() -> None:
        with pytest.raises(ValueError, match=r"target must be .* \(got 'soon'\)"):
            window.Agent(brief).send(message("a"), target="soon")  # type: ignore[arg-type]

    asyncio.run(scenario())


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_a_cancel_without_further_words_drops_what_waits(contract: str) -> None:
    """
    W-CAN-2, C-CAN-1: to keep it takes a word.
    """

    async def scenario() -> tuple[Message, ...]:
        agent = plain(contract)
        agent.send(message("a"), target=NEXT_TURN, wakeup=False)
        agent.cancel("user")
        return agent.pending()[0] if isinstance(agent, window.Agent) else agent.inbox.next_turn

    assert asyncio.run(scenario()) == ()


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_an_agent_that_is_cut_off_does_nothing_any_more(contract: str) -> None:
    async def scenario() -> tuple[Agent, bool]:
        asked, answer = asyncio.Event(), asyncio.get_running_loop().create_future()

        async def slow(_request: ModelRequest) -> Reply:
            asked.set()
            return await answer

        agent = plain(contract, slow)
        agent.followup(message("a"))
        await asked.wait()
        agent.abandon()
        for _ in range(BREAKS):
            await asyncio.sleep(0)
        return agent, answer.cancelled()

    agent, cut_off = asyncio.run(scenario())

    assert cut_off
    assert reasons(agent) == []


def test_an_idle_agent_can_be_cut_off() -> None:
    async def scenario() -> list[Any]:
        agents = [plain(contract) for contract in ("window", "claim")]
        for agent in agents:
            agent.abandon()
        return [event for agent in agents for event in agent.log.events]

    assert asyncio.run(scenario()) == []


@pytest.mark.parametrize("canceled", [False, True])
def test_a_hook_that_raises_at_once_ends_the_admission_and_is_noted_unless_it_was_canceled(
    canceled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """
    W-ADM-5: whatever a hook raises ends its admission, never the agent.
    """

    async def scenario() -> list[Any]:
        agent = window.Agent(brief)

        def refuse(_question: Any, _next: Any) -> Any:
            if canceled:
                agent.cancel("user")
            raise RuntimeError("no")

        agent.prompt_submit.add(refuse)
        agent.followup(message("a"))
        await agent.when_idle()
        return [event for event in agent.log.events if isinstance(event, TurnStart)]

    with caplog.at_level(logging.WARNING, "turnproof_reference"):
        assert asyncio.run(scenario()) == []

    assert ["prompt admission failed" in record.getMessage() for record in caplog.records] == [True] * (not canceled)


def test_an_agent_that_breaks_down_itself_tells_its_loop_at_once() -> None:
    class Broken(window.Agent):
        async def _admit(self) -> None:
            raise RuntimeError("broken")

    async def scenario() -> list[str]:
        told: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: told.append(str(context.get("exception"))))
        agent = Broken(brief)
        agent.followup(message("a"))
        for _ in range(BREAKS):
            await asyncio.sleep(0)
        return list(told)

    assert asyncio.run(scenario()) == ["broken"]


def test_a_decision_takes_on_contexts_behind_its_own() -> None:
    decision = window.PromptDecision(contexts=(message("x"),))

    assert decision.with_context(message("y"), message("z")).contexts == (message("x"), message("y"), message("z"))


def test_a_listener_that_comes_after_the_abort_can_be_taken_off_too() -> None:
    signal, heard = AbortSignal(), list[str]()
    signal.abort("user")
    forget = signal.listen(lambda: heard.append("late"))
    forget()

    assert heard == ["late"]


@pytest.mark.parametrize("number", [-1, 1.5, "1", True, None])
def test_a_round_of_a_goal_is_a_whole_number_of_at_least_0(number: Any) -> None:
    """
    W-GOAL-1: anything else contradicts itself.
    """
    wrong = Message("g", "go on", {"kind": "goal", "round": number})

    with pytest.raises(Refused, match="its round must be a whole number"):
        fold_goal([UserMessage(wrong)])


def test_a_change_of_a_goal_is_told_in_its_own_letters() -> None:
    assert change_text({"b": "ü", "a": 1}) == 'goal {"a":1,"b":"ü"}'


def test_the_id_of_a_message_is_text() -> None:
    with pytest.raises(MessageError, match="message id must be"):
        Message(7, "t", {"kind": "user"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("refusal", "wanted"),
    [
        (AlreadyPending("send", "a"), "the id of a message must not be pending in the inbox (got 'a'"),
        (LogIsPublishing("send"), "must be logged outside the publication of a durable event"),
        (AgentGone("send"), "the agent must not be disposed of"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_names_the_command_and_what_must_hold(refusal: Refused, wanted: str) -> None:
    assert refusal.command == "send"
    assert str(refusal).startswith("send is refused: ")
    assert wanted in refusal.because


def test_a_refusal_names_the_id_that_is_taken() -> None:
    assert AlreadyPending("send", "a").message_id == "a"


COMMANDS = {
    "send": lambda agent: agent.send(message("b"), target=NEXT_TURN, wakeup=False),
    "reference": lambda agent: agent.reference(message("b"), message("s")),
    "cancel": lambda agent: agent.cancel("user"),
    "dispose": lambda agent: agent.dispose(),
    "remove": lambda agent: agent.inbox.remove("a"),
    "replace": lambda agent: agent.inbox.replace("a", message("b")),
    "prepend": lambda agent: agent.inbox.prepend(NEXT_TURN, message("b")),
}
"""Commands of the claim agent that a listener may give."""


def two_listeners(command: str, second: Any) -> list[str]:
    """Give a command in the first listener of an insertion, with a second listener still to hear of it."""

    async def scenario() -> list[str]:
        agent, outcome = claim.Agent(Session("s"), brief), list[str]()

        def listen(name: str, act: Any) -> None:
            def heard(event: Any) -> None:
                if event.type == "agent/inbox/inserted" and event.message.id == "a":
                    try:
                        act(agent)
                    except Refused as refusal:
                        outcome.append(f"{name}: {type(refusal).__name__}")
                    else:
                        outcome.append(f"{name}: done")

            agent.events.subscribe(heard)

        listen("first", COMMANDS[command])
        listen("second", second)
        agent.send(message("a"), target=NEXT_TURN, wakeup=False)
        return outcome

    return asyncio.run(scenario())


@pytest.mark.parametrize("command", COMMANDS)
def test_whoever_is_still_to_be_told_may_act_before_a_command_that_comes_in_between(command: str) -> None:
    """
    C-EDIT-2: a command of a listener comes behind those of the listeners that hear the same event after it.
    """
    found = two_listeners(command, lambda agent: agent.send(message("c"), target=NEXT_TURN, wakeup=False))

    assert found == ["second: done", "first: done"]


@pytest.mark.parametrize("command", ["send", "reference", "prepend"])
def test_input_is_refused_when_a_listener_that_comes_first_has_disposed_of_the_agent(command: str) -> None:
    """
    C-DIS-1: whether the agent takes input is looked at when everybody was told.
    """
    assert two_listeners(command, lambda agent: agent.dispose()) == ["second: done", "first: AgentGone"]


def test_a_log_that_was_cut_off_between_steps_lacks_only_the_end_of_its_turn() -> None:
    """
    W-LOG-3, C-LOG-3: what is closed already isn't closed again.
    """
    session = Session("s", (TurnStart(1), StepStart(1, 1), StepEnd(1, 1)))

    assert closing_events(session) == (TurnEnd(1, "interrupted"),)


def test_a_log_that_was_closed_lacks_nothing() -> None:
    session = Session("s", (TurnStart(1), TurnEnd(1, "completed")))

    assert closing_events(session) == ()
    assert repair(session) is session


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_who_waits_for_rest_goes_on_in_order_and_one_who_gave_up_keeps_nobody(contract: str) -> None:
    """
    W-STAT-2, C-STAT-1: everybody who waited until now is let go.
    """

    async def scenario() -> list[str]:
        agent, heard = plain(contract), list[str]()
        agent.followup(message("a"))
        for name in ("first", "impatient", "last"):
            rest = agent.when_idle()
            rest.add_done_callback(lambda done, name=name: heard.append(f"{name}{' gave up' * done.cancelled()}"))
            if name == "impatient":
                rest.cancel()
        await agent.when_idle()
        await asyncio.sleep(0)
        return heard

    assert asyncio.run(scenario()) == ["impatient gave up", "first", "last"]


def test_pending_input_begins_with_nothing() -> None:
    publisher = Publisher()
    pending = PendingInput(SessionLog(publisher, Session("s")), publisher)

    assert not pending.any()
    assert pending.messages(NEXT_TURN) == ()


def test_tools_do_not_outlive_an_agent_that_is_cut_off() -> None:
    async def scenario() -> tuple[list[str], list[str], list[str]]:
        loop = asyncio.get_running_loop()
        ends, told = list[str](), list[str]()
        loop.set_exception_handler(lambda _loop, context: told.append(str(context)))

        async def endless(request: ToolRequest) -> ToolOutcome:
            try:
                await loop.create_future()
            finally:
                ends.append(request.call.id)
            raise AssertionError("nobody answers")

        async def batch(_request: ModelRequest) -> Reply:
            calls = (ToolCall("c1", "beside"), ToolCall("c2", "beside"), ToolCall("c3", "alone"))
            return Reply("", calls, Finish.TOOL_CALLS)

        agent = window.Agent(batch, tools={"beside": Tool(endless, parallel=True), "alone": Tool(endless)})
        agent.followup(message("a"))
        for _ in range(BREAKS):
            await asyncio.sleep(0)
        agent.abandon()
        for _ in range(BREAKS):
            await asyncio.sleep(0)
        return list(ends), reasons(agent), list(told)

    assert asyncio.run(scenario()) == (["c1", "c2"], [], [])


def test_an_outcome_is_a_success_that_concludes_nothing_unless_it_says_so() -> None:
    assert (ToolOutcome("done").is_error, ToolOutcome("done").concludes) == (False, False)


@pytest.mark.parametrize(
    ("error", "text"), [(RuntimeError("out of order"), "out of order"), (ValueError(), "ValueError")]
)
@pytest.mark.parametrize("later", [False, True])
def test_a_tool_that_raises_at_once_or_later_has_answered_with_an_error(
    later: bool, error: Exception, text: str
) -> None:
    def broken(_request: ToolRequest) -> Any:
        raise error

    async def breaking(request: ToolRequest) -> ToolOutcome:
        return broken(request)

    async def scenario() -> list[tuple[bool, str]]:
        agent = window.Agent(calling, tools={"absent": Tool(breaking if later else broken)})
        agent.followup(message("a"))
        await agent.when_idle()
        return [(event.is_error, event.text) for event in agent.log.events if isinstance(event, ToolResult)]

    assert asyncio.run(scenario()) == [(True, text)]
