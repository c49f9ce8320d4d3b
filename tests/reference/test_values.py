"""Messages, abort signals, hooks and the publisher: the small parts that everything rests on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from turnproof_reference.abort import Aborted, AbortSignal
from turnproof_reference.events import AgentDisposed, Event, StatusChanged
from turnproof_reference.hooks import Next, Waterfall
from turnproof_reference.messages import Message, MessageError, thaw
from turnproof_reference.publish import Publisher
from turnproof_reference.window import PromptDecision


def test_a_message_is_out_of_its_makers_reach() -> None:
    """
    W-LOG-1: what the caller does to its own data later changes nothing.
    """
    source: dict[str, Any] = {"kind": "goal", "round": 0, "change": {"steps": ["a"]}}
    message = Message("m", "text", source)
    source["change"]["steps"].append("b")
    source["kind"] = "user"

    assert thaw(message.source) == {"kind": "goal", "round": 0, "change": {"steps": ["a"]}}
    with pytest.raises(TypeError):
        message.source["kind"] = "user"  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(("", "t", {"kind": "user"}), "id"), (("m", 7, {"kind": "user"}), "text"), (("m", "t", {"sort": 1}), "source")],
)
def test_a_malformed_message_is_refused_with_its_field_named(arguments: tuple[Any, ...], field: str) -> None:
    with pytest.raises(MessageError, match=f"message {field} must be"):
        Message(*arguments)


def test_other_content_keeps_identity_and_source() -> None:
    """
    W-ADM-4: only the text differs.
    """
    message = Message("m", "text", {"kind": "user"})

    assert message.with_text("other") == Message("m", "other", {"kind": "user"})
    assert hash(message) == hash(Message("m", "text", {"kind": "user"}))


def test_the_first_cause_of_an_abort_stays_and_is_told_once() -> None:
    """
    W-CAN-5: listeners hear it in the order of their arrival.
    """
    signal, heard = AbortSignal(), list[str]()
    signal.listen(lambda: heard.append("first"))
    forget = signal.listen(lambda: heard.append("forgotten"))
    signal.listen(lambda: heard.append("second"))
    forget()
    signal.check()

    assert [signal.abort("user"), signal.abort("parent")] == [True, False]
    assert (signal.cause, heard) == ("user", ["first", "second"])
    signal.listen(lambda: heard.append("late"))
    assert heard == ["first", "second", "late"]
    with pytest.raises(Aborted, match="user"):
        signal.check()


def test_a_listener_that_takes_another_off_keeps_it_from_hearing() -> None:
    signal, heard = AbortSignal(), list[str]()
    forgets: list[Any] = []
    signal.listen(lambda: [forget() for forget in forgets])
    forgets.append(signal.listen(lambda: heard.append("second")))
    signal.listen(lambda: heard.append("third"))
    signal.abort("user")

    assert heard == ["third"]


def asked(waterfall: Waterfall[str, PromptDecision], question: str = "?") -> PromptDecision:
    async def ask() -> PromptDecision:
        return await waterfall.ask(question)

    return asyncio.run(ask())


def test_a_listener_that_delegates_hands_the_inner_decision_on() -> None:
    """
    W-ADM-9: content and contexts of the inner listener survive, additions stand behind.
    """
    waterfall: Waterfall[str, PromptDecision] = Waterfall(lambda _question: PromptDecision())
    context, more = (Message(name, name, {"kind": "plugin"}) for name in ("c", "d"))

    async def outer(_question: str, proceed: Next[PromptDecision]) -> PromptDecision:
        return (await proceed()).with_context(more)

    async def inner(question: str, _proceed: Next[PromptDecision]) -> PromptDecision:
        return PromptDecision(content=question, contexts=(context,))

    assert asked(waterfall) == PromptDecision()
    remove = waterfall.add(outer)
    waterfall.add(inner)
    assert asked(waterfall, "new") == PromptDecision(content="new", contexts=(context, more))
    remove()
    assert asked(waterfall, "new") == PromptDecision(content="new", contexts=(context,))


def test_a_plain_listener_runs_before_the_answer_is_awaited() -> None:
    """
    W-ADM-1: so that the question is out before the claim is told.
    """
    waterfall: Waterfall[str, str] = Waterfall(str.upper)
    order: list[str] = []

    def listener(_question: str, proceed: Next[str]) -> Any:
        order.append("asked")
        return proceed()

    async def ask() -> str:
        waterfall.add(listener)
        awaitable = waterfall.ask("q")
        order.append("told")
        return await awaitable

    assert (asyncio.run(ask()), order) == ("Q", ["asked", "told"])


def test_consequences_reach_no_listener_before_their_cause() -> None:
    """
    W-PUB-1: one order for all, although the first listener publishes while it is told.
    """
    publisher, heard = Publisher(), dict[str, list[str]]()
    running, idle, gone = StatusChanged("running"), StatusChanged("idle"), AgentDisposed()

    def listener(name: str, **answers: Event) -> Any:
        heard[name] = []

        def hear(event: Event) -> None:
            label = getattr(event, "status", "gone")
            heard[name].append(label)
            if label in answers:
                publisher.publish(answers[label])
                heard[name].append(f"after {label}")

        return publisher.subscribe(hear)

    listener("first", running=idle)
    listener("second", idle=gone)
    leave = listener("third")
    publisher.publish(running)
    leave()
    publisher.publish(gone)

    assert heard["first"] == ["running", "idle", "gone", "after running", "gone"]
    assert heard["second"] == ["running", "idle", "gone", "after idle", "gone"]
    assert heard["third"] == ["running", "idle", "gone"]


def test_a_listener_that_raises_is_logged_and_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    publisher, heard = Publisher(), list[Event]()

    def broken(_event: Event) -> None:
        raise RuntimeError("broken")

    publisher.subscribe(broken)
    publisher.subscribe(heard.append)
    with caplog.at_level(logging.ERROR):
        publisher.publish(AgentDisposed())

    assert heard == [AgentDisposed()]
    assert "agent/disposed" in caplog.text
