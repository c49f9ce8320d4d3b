"""A controlled loop runs asyncio code in one fixed order, knows when it rests, and lets nothing else in."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools

import pytest

from turnproof.loop import ControlledLoop
from turnproof.sealed import CallbackFailedError, LoopError, NeverQuiescentError, UncontrolledError


def run(coroutine, **choices):
    """Run a coroutine as far as it goes and return its task."""
    loop = ControlledLoop(**choices)
    with loop.entered():
        task = asyncio.create_task(coroutine)
    try:
        loop.run_until_quiescent()
    except LoopError:
        loop.close()
        raise
    return task


async def wait_in_vain():
    async with asyncio.timeout(1):
        await asyncio.Event().wait()


def test_callbacks_run_in_order_of_arrival():
    """What a callback adds comes behind what is there."""
    loop = ControlledLoop()
    order = []
    loop.call_soon(lambda: (order.append("a"), loop.call_soon(order.append, "c")))
    loop.call_soon(order.append, "b")

    loop.run_until_quiescent()

    assert order == ["a", "b", "c"]


def test_a_cancelled_callback_is_passed_over():
    """Its place in the line stays empty."""
    loop = ControlledLoop()
    order = []
    loop.call_soon(order.append, "a").cancel()
    loop.call_soon(order.append, "b")

    loop.run_until_quiescent()

    assert order == ["b"]


def test_tasks_rest_at_what_only_the_caller_can_give():
    """The loop is quiescent while a future is open, and goes on when it is settled."""
    loop = ControlledLoop()
    gate = loop.create_future()

    async def wait():
        return await gate

    with loop.entered():
        task = asyncio.create_task(wait())
    loop.run_until_quiescent()
    before = task.done()
    gate.set_result("open")
    loop.run_until_quiescent()

    assert (before, task.result()) == (False, "open")


def test_the_tools_of_asyncio_work_unchanged():
    """Groups, queues, locks, events, gather and bare yields need nothing but callbacks."""

    async def main():
        queue, lock, event, seen = asyncio.Queue(), asyncio.Lock(), asyncio.Event(), []

        async def consume(name):
            async with lock:
                seen.append((name, await queue.get()))
            await event.wait()

        async with asyncio.TaskGroup() as group:
            group.create_task(consume("a"))
            group.create_task(consume("b"))
            for number in range(2):
                await queue.put(number)
                await asyncio.sleep(0)
            event.set()
        return seen, await asyncio.gather(asyncio.sleep(0, "x"), asyncio.sleep(0, "y"))

    assert run(main()).result() == ([("a", 0), ("b", 1)], ["x", "y"])


def test_context_variables_follow_their_task():
    """Each callback runs in the context it was made in."""
    name = contextvars.ContextVar("name")

    async def main(value):
        name.set(value)
        await asyncio.sleep(0)
        return name.get()

    async def both():
        return await asyncio.gather(main("a"), main("b"))

    assert run(both()).result() == ["a", "b"]


def test_tasks_can_be_made_in_another_way():
    """A task factory is asked, as by any loop."""
    loop = ControlledLoop()
    made = []

    def factory(loop, coroutine, **options):
        made.append(coroutine)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(factory)
    coroutine = asyncio.sleep(0, "done")
    task = loop.create_task(coroutine)
    loop.run_until_quiescent()

    assert (made, task.result(), loop.get_task_factory()) == ([coroutine], "done", factory)


def test_an_abandoned_generator_is_closed_on_the_loop():
    """Its last words are awaited there, as on any loop."""
    closed = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main():
        async for _ in numbers():
            break

    run(main())

    assert closed == [True]


def test_a_loop_that_never_rests_is_told_so():
    """After as many callbacks as one call may take."""

    async def spin():
        for _ in itertools.count():
            await asyncio.sleep(0)

    with pytest.raises(NeverQuiescentError, match="50 callbacks ran"):
        run(spin(), callbacks=50)


@pytest.mark.parametrize(
    "outside",
    [
        lambda: asyncio.sleep(0.1),
        wait_in_vain,
        lambda: asyncio.to_thread(print),
        lambda: asyncio.open_connection("localhost", 1),
        lambda: asyncio.create_subprocess_exec("true"),
        lambda: asyncio.get_running_loop().getaddrinfo("localhost", 1),
    ],
    ids=["sleep", "time-out", "thread", "connection", "process", "name"],
)
def test_the_outside_world_is_refused(outside):
    """Everything that an agent waits for must be a gate."""

    async def main():
        await outside()

    with pytest.raises(UncontrolledError, match="must be a gate"):
        run(main())


def test_a_refusal_that_was_swallowed_is_told_all_the_same():
    """Code that falls back on something else has still left control."""

    async def main():
        with contextlib.suppress(RuntimeError):
            await asyncio.sleep(1)

    with pytest.raises(UncontrolledError, match="no timers"):
        run(main())


def test_parked_timers_wait_for_the_caller_to_move_time():
    """Virtual time moves only by ``advance``; due timers fire in order of time, then of making."""
    loop = ControlledLoop(timers="park")
    order = []
    loop.call_later(2, order.append, "late")
    loop.call_later(1, order.append, "soon")
    loop.call_later(1, order.append, "soon too")
    loop.call_later(1, order.append, "never").cancel()
    loop.run_until_quiescent()
    still = list(order)
    loop.advance(1)
    loop.run_until_quiescent()
    after_one = list(order)
    loop.advance(1)
    loop.run_until_quiescent()

    assert (still, after_one, order) == ([], ["soon", "soon too"], ["soon", "soon too", "late"])
    assert loop.time() == 2


def test_a_callback_that_raises_is_told():
    """Nobody else could hear it."""
    loop = ControlledLoop()
    loop.call_soon(lambda: 1 / 0)

    with pytest.raises(CallbackFailedError, match="ZeroDivisionError"):
        loop.run_until_quiescent()


def test_a_handler_hears_of_what_nobody_awaits():
    """A driver that sets one publishes it instead."""
    loop = ControlledLoop()
    heard = []
    loop.set_exception_handler(lambda _, context: heard.append(context["exception"]))
    loop.call_soon(lambda: 1 / 0)

    loop.run_until_quiescent()

    assert [type(error) for error in heard] == [ZeroDivisionError]
    assert loop.get_exception_handler() is not None


def test_a_loop_is_not_entered_from_inside():
    """Its callbacks must return first."""
    loop = ControlledLoop()
    loop.call_soon(loop.run_until_quiescent)

    with pytest.raises(CallbackFailedError, match="can't be entered from its own callbacks"):
        loop.run_until_quiescent()


def test_the_loop_outside_is_left_as_it_was():
    """A candidate can be driven from within another loop."""

    async def outer():
        inner = run(asyncio.sleep(0, "inner"))
        return inner.result(), asyncio.get_running_loop()

    async def main():
        return await outer(), asyncio.get_running_loop()

    (result, seen), running = asyncio.run(main())

    assert result == "inner"
    assert seen is running


def test_closing_lets_tasks_clean_up_and_then_nothing_runs():
    """Their finally blocks run; what they still want is forgotten."""
    loop = ControlledLoop()
    cleaned = []

    async def wait():
        try:
            await loop.create_future()
        finally:
            cleaned.append(True)

    task = loop.create_task(wait())
    loop.run_until_quiescent()
    loop.close()
    loop.call_soon(cleaned.append, "late")
    loop.close()

    assert (cleaned, task.cancelled(), loop.is_closed()) == ([True], True, True)


def test_closing_a_loop_that_never_rests_comes_to_an_end():
    """A task that refuses to be cancelled is left behind."""
    loop = ControlledLoop(callbacks=20)

    async def stubborn():
        for _ in itertools.count():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    loop.create_task(stubborn())
    with pytest.raises(NeverQuiescentError):
        loop.run_until_quiescent()
    loop.close()

    assert loop.is_closed()
    assert not loop.is_running()


def test_every_refusal_is_an_error_of_the_loop():
    """They can be caught together."""
    assert issubclass(UncontrolledError, LoopError)
    assert issubclass(NeverQuiescentError, LoopError)
    assert issubclass(CallbackFailedError, LoopError)
