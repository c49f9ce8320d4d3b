"""The `window` agent as a Python author meets it: on an ordinary event loop, with a model of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from turnproof_reference.abort import AbortSignal
from turnproof_reference.errors import Refused
from turnproof_reference.events import AgentError, AssistantMessage, Event, ToolResult, TurnEnd
from turnproof_reference.hooks import Next
from turnproof_reference.messages import Message, ToolCall
from turnproof_reference.model import Finish, ModelError, ModelRequest, Reply
from turnproof_reference.session import Session
from turnproof_reference.tools import Tool, ToolOutcome, ToolRequest
from turnproof_reference.window import Agent, PromptDecision, PromptSubmit
from turnproof_reference.window.steps import Turn


def person(text: str) -> Message:
    return Message(text, text, {"kind": "user"})


def plugin(text: str) -> Message:
    return Message(text, text, {"kind": "plugin", "plugin": "test"})


def shown(request: ModelRequest) -> list[str]:
    """Answer what a request says, one word a message."""
    return [
        entry.text if isinstance(entry, Message | AssistantMessage) else f"result {entry.call_id}"
        for entry in request.messages
    ]


class Model:
    """Answer each request with the next of its lines, and remember what was asked."""

    def __init__(self, *lines: Reply | Exception | Callable[[ModelRequest], Awaitable[Reply]]) -> None:
        self.lines = list(lines)
        self.requests: list[list[str]] = []

    async def __call__(self, request: ModelRequest) -> Reply:
        self.requests.append(shown(request))
        line = self.lines.pop(0) if self.lines else Reply("fine")
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else await line(request)


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(story())  # type: ignore[arg-type]


def test_prompts_are_answered_one_turn_each() -> None:
    """
    W-TURN-3: and `when_idle` waits for all of them.
    """

    async def story() -> None:
        model = Model(Reply("first"), Reply("second"))
        agent = Agent(model)
        agent.followup(person("a"))
        agent.followup(person("b"))
        assert agent.status == "idle"
        await agent.when_idle()

        assert model.requests == [["a"], ["a", "first", "b"]]
        assert [event.turn for event in agent.log.events if isinstance(event, TurnEnd)] == [1, 2]
        assert (agent.status, agent.accepts_next_step) == ("idle", False)

    run(story)


def test_input_sent_while_the_model_thinks_reaches_its_next_request() -> None:
    """
    W-WIN-4: steering makes another step, context goes along.
    """

    async def story() -> None:
        async def interrupted(_request: ModelRequest) -> Reply:
            agent.inject(plugin("note"))
            agent.steer(person("hurry"))
            return Reply("first")

        model = Model(interrupted)
        agent = Agent(model)
        agent.followup(person("a"))
        await agent.when_idle()

        assert model.requests == [["a"], ["a", "first", "note", "hurry"]]

    run(story)


def test_tools_run_beside_each_other_and_are_answered_in_order() -> None:
    """
    W-STEP-3: whichever finishes first.
    """

    async def story() -> None:
        second_done = asyncio.Event()

        async def first(_request: ToolRequest) -> ToolOutcome:
            await second_done.wait()
            return ToolOutcome("one", contexts=(plugin("about one"),))

        async def second(_request: ToolRequest) -> ToolOutcome:
            second_done.set()
            raise LookupError("two is missing")

        calls = (ToolCall("1", "first"), ToolCall("2", "second"), ToolCall("3", "third"))
        model = Model(Reply("", calls, Finish.TOOL_CALLS))
        agent = Agent(model, tools={"first": Tool(first, parallel=True), "second": Tool(second, parallel=True)})
        agent.followup(person("a"))
        await agent.when_idle()

        results = [event for event in agent.log.events if isinstance(event, ToolResult)]
        assert [(result.call_id, result.text, result.code) for result in results] == [
            ("1", "one", None),
            ("2", "two is missing", None),
            ("3", "there is no tool named 'third'", "UNKNOWN_TOOL"),
        ]
        assert model.requests[1] == ["a", "", "result 1", "result 2", "result 3", "about one"]

    run(story)


def test_a_cooperative_model_hears_of_the_cancel_and_its_text_is_kept() -> None:
    """
    W-CAN-1: the turn ends aborted and the agent goes on with what comes later.
    """

    async def story() -> None:
        thinking = asyncio.Event()

        async def long(request: ModelRequest) -> Reply:
            stopped = asyncio.Event()
            request.signal.listen(stopped.set)
            request.stream("so far")
            thinking.set()
            await stopped.wait()
            request.stream("and no further")
            return Reply("never seen")

        model = Model(long)
        agent = Agent(model)
        agent.followup(person("a"))
        await thinking.wait()
        agent.cancel("user")
        agent.followup(person("b"))
        await agent.when_idle()

        assert model.requests == [["a"], ["a", "so far", "b"]]
        ends = [event.reason for event in agent.log.events if isinstance(event, TurnEnd)]
        assert ends == ["aborted", "completed"]

    run(story)


def test_a_hook_may_rewrite_add_to_or_veto_a_prompt() -> None:
    """
    W-ADM-4, W-ADM-5: a vetoed prompt leaves no trace.
    """

    async def story() -> None:
        async def guard(question: PromptSubmit, proceed: Next[PromptDecision]) -> PromptDecision:
            if question.message.text == "secret":
                return PromptDecision(allow=False, contexts=(plugin("why"),))
            decision = await proceed()
            return PromptDecision(content=question.message.text.upper()).with_context(
                *decision.contexts, plugin("seen")
            )

        model = Model()
        agent = Agent(model)
        agent.prompt_submit.add(guard)
        agent.followup(person("secret"))
        agent.followup(person("open"))
        await agent.when_idle()

        assert model.requests == [["OPEN", "seen"]]

    run(story)


def test_a_hook_that_raises_at_once_is_a_failed_admission() -> None:
    """
    W-ADM-5, W-ADM-8: the agent lives on.
    """

    async def story() -> None:
        def broken(question: PromptSubmit, proceed: Next[PromptDecision]) -> Awaitable[PromptDecision]:
            if question.message.text == "a":
                raise RuntimeError("broken hook")
            return proceed()

        model = Model()
        agent = Agent(model)
        agent.prompt_submit.add(broken)
        agent.followup(person("a"))
        agent.followup(person("b"))
        await agent.when_idle()

        assert model.requests == [["b"]]

    run(story)


def test_a_failed_request_is_told_and_the_agent_lives_on() -> None:
    """
    W-TURN-5: without a recovery the turn ends with its error.
    """

    async def story() -> None:
        told: list[Event] = []
        agent = Agent(Model(ModelError("overloaded")))
        agent.publisher.subscribe(told.append)
        agent.followup(person("a"))
        await agent.when_idle()

        assert AgentError(1, 1, "overloaded") in told
        assert TurnEnd(1, "error") in told

    run(story)


def test_the_checkpoint_is_awaited_before_the_next_turn_and_before_rest() -> None:
    """
    W-TURN-4, W-STAT-1: each turn is durable before anything follows.
    """

    async def story() -> None:
        order: list[str] = []

        async def model(request: ModelRequest) -> Reply:
            order.append(f"request {request.turn}")
            return Reply("fine")

        async def checkpoint() -> None:
            await asyncio.to_thread(order.append, "saved")

        agent = Agent(model, checkpoint=checkpoint)
        agent.followup(person("a"))
        agent.followup(person("b"))
        await agent.when_idle()

        assert order == ["request 1", "saved", "request 2", "saved"]

    run(story)


def test_references_join_their_prompt_or_the_running_turn() -> None:
    """
    W-XREF-1: outside the window in the admission of that very prompt, inside it before the steering.
    """

    async def story() -> None:
        async def meanwhile(_request: ModelRequest) -> Reply:
            agent.reference(person("c"), plugin("snapshot of c"))
            return Reply("first")

        model = Model(Reply("zero"), meanwhile)
        agent = Agent(model)
        same = person("a")
        agent.followup(same)
        agent.reference(same, plugin("snapshot of a"))
        await agent.when_idle()

        assert model.requests[0] == ["a"]
        assert model.requests[1] == ["a", "zero", "a", "snapshot of a"]
        assert model.requests[2][-3:] == ["first", "snapshot of c", "c"]

    run(story)


def test_a_dropped_prompt_takes_its_snapshot_along() -> None:
    """
    W-XREF-1: two simple messages, together or not at all.
    """

    async def story() -> None:
        model = Model()
        agent = Agent(model)
        agent.reference(person("a"), plugin("snapshot of a"))
        agent.cancel("user")
        agent.followup(person("a"))
        await agent.when_idle()

        assert model.requests == [["a"]]

    run(story)


def test_a_disposed_agent_refuses_every_message() -> None:
    """
    W-DIS-1, W-DIS-2: the disposal takes effect without being awaited.
    """

    async def story() -> None:
        agent = Agent(Model())
        agent.followup(person("a"))
        ended = agent.dispose()
        await ended
        await agent.dispose()

        with pytest.raises(Refused, match="must not be disposed"):
            agent.inject(plugin("i"))
        with pytest.raises(Refused, match="must not be disposed"):
            agent.reference(person("b"), plugin("snapshot of b"))
        assert agent.log.events == ()
        await agent.when_idle()

    run(story)


def test_an_unknown_target_is_an_error_of_the_caller() -> None:
    async def story() -> None:
        agent = Agent(Model())
        with pytest.raises(ValueError, match="'next-turn' or 'next-step'"):
            agent.send(person("a"), target="now")  # type: ignore[arg-type]

    run(story)


def test_an_abandoned_agent_never_runs_again_and_its_session_can_be_resumed() -> None:
    """
    W-LOG-4: the next agent shows the same history and continues the numbers.
    """

    async def story() -> None:
        async def never(_request: ModelRequest) -> Reply:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

        first = Agent(Model(Reply("fine"), never), session=Session("s"))
        first.followup(person("a"))
        first.followup(person("b"))
        for _ in range(50):
            await asyncio.sleep(0)
        first.abandon()
        await asyncio.sleep(0)
        left = first.log.snapshot()

        model = Model()
        second = Agent(model, session=left)
        second.followup(person("c"))
        await second.when_idle()
        assert model.requests == [["a", "fine", "b", "c"]]
        assert second.log.last_turn == 3
        assert first.log.snapshot() == left

    run(story)


def test_an_agent_that_breaks_down_tells_its_loop_at_once() -> None:
    """
    A defect of the agent itself is not kept until the garbage is collected.
    """

    class Broken(Agent):
        def _reason(self, turn: Turn) -> str:
            raise LookupError(f"no reason for turn {turn.number}")

    async def story() -> None:
        told: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(str(context["exception"])))
        agent = Broken(Model())
        agent.followup(person("a"))
        for _ in range(20):
            await asyncio.sleep(0)

        assert told == ["no reason for turn 1"]

    run(story)


def test_a_waiter_that_gave_up_disturbs_nobody() -> None:
    """
    W-STAT-2: the others are released.
    """

    async def story() -> None:
        agent = Agent(Model())
        agent.followup(person("a"))
        impatient, patient = agent.when_idle(), agent.when_idle()
        impatient.cancel()
        await patient

        assert agent.status == "idle"

    run(story)


def test_a_command_from_any_listener_finds_the_truth() -> None:
    """
    W-PUB-1: state changes before its event is told.
    """

    async def story() -> None:
        window: dict[str, bool] = {}
        agent = Agent(Model())
        agent.publisher.subscribe(lambda event: window.setdefault(event.type, agent.accepts_next_step))
        agent.followup(person("a"))
        await agent.when_idle()

        assert window == {
            "agent/inbox/enqueue": False,
            "agent/status": True,
            "agent/inbox/dequeue": True,
            "turn/start": True,
            "user/message": True,
            "step/start": True,
            "assistant/message": True,
            "step/end": True,
            "turn/end": False,
            "agent/settled": False,
        }

    run(story)


def test_an_agent_needs_a_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        Agent(Model())


def test_a_signal_of_a_finished_turn_is_of_no_use_to_a_later_cancel() -> None:
    """
    W-CAN-4: each turn has an abort slot of its own.
    """

    async def story() -> None:
        signals: list[AbortSignal] = []

        async def remember(request: ModelRequest) -> Reply:
            signals.append(request.signal)
            return Reply("fine")

        agent = Agent(remember)
        for text in "ab":
            agent.followup(person(text))
            await agent.when_idle()
            agent.cancel("user")

        assert [signal.aborted for signal in signals] == [False, False]
        assert signals[0] is not signals[1]

    run(story)
