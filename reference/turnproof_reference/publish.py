"""
One order of events for all listeners, however deeply commands are nested.

A listener may issue commands while it is being told of an event, and these publish events of their own. With plain
nested calls a second listener would hear of the consequence before the cause. Putting the inner event in a line to
be told later is the usual cure, but then a command returns before its events were heard, and a listener that answers
one of them comes too late to take part. So an inner publication first brings the outer ones to their remaining
listeners and then goes ahead: causes first, and still everything within the caller's stack.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeAlias

from turnproof_reference.events import Event

Listener: TypeAlias = Callable[[Event], object]

_log = logging.getLogger(__name__)


class Publisher:
    """
    Bring each event to all listeners in one order.

    Rules: W-PUB-1
    """

    __slots__ = ("_listeners", "_open")

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._open: list[tuple[Event, Iterator[Listener]]] = []  # publications under way, outermost first

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """
        Add a listener; it hears every event published from now on.

        Returns:
            a function that takes the listener off again.
        """
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(each for each in self._listeners if each is not listener)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """
        Tell all listeners of an event, after all those told before it.

        A listener that raises is logged and doesn't disturb the others: whoever publishes can't answer for them.

        Rules: W-PUB-1
        """
        if self._open:
            self.catch_up()
        mine = (event, iter(self._listeners))
        self._open.append(mine)
        try:
            _tell(*mine)
        finally:
            self._open.remove(mine)

    def catch_up(self) -> None:
        """
        Bring the events that are being told to all their remaining listeners.

        A command may begin with this, so that whatever those listeners do comes before anything of its own.
        """
        for outer, rest in tuple(self._open):
            _tell(outer, rest)


def _tell(event: Event, listeners: Iterator[Listener]) -> None:
    """Use up the iterator; whoever shares it tells the rest to nobody twice."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:  # noqa: BLE001 - whoever publishes can't answer for its listeners
            _log.exception("listener %r failed on %s", listener, event.type)
