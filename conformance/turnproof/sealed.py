"""
Refuse an event loop's ways out: input and output, threads, processes, signals.

``SealedLoop`` has every method of asyncio's loops that reaches outside, and each says why it isn't there; that is all
it does. ``ControlledLoop`` adds what runs.
"""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn


class LoopError(RuntimeError):
    """Say that code on a controlled loop can't be controlled."""


class UncontrolledError(LoopError):
    """Say that code asked for the outside world: input or output, threads, processes, signals, or time."""


class NeverQuiescentError(LoopError):
    """Say that callbacks kept making new callbacks."""


class CallbackFailedError(LoopError):
    """Say that a callback raised and nobody could hear it."""


def _refused(name: str) -> Any:
    """Make a method that says why the loop doesn't have it."""

    def refuse(self: SealedLoop, *_: Any, **__: Any) -> NoReturn:
        self.refuse(f"loop.{name}")

    return refuse


class SealedLoop(asyncio.AbstractEventLoop):
    """Be the part of a loop that isn't there."""

    broken: LoopError | None = None
    """The first refusal or failure that nobody has been told of."""

    def refuse(self, what: str) -> NoReturn:
        """
        Remember that code asked for the outside world, and tell it so.

        Raises:
            UncontrolledError: always.
        """
        error = UncontrolledError(
            f"a controlled loop has no {what}: all that an agent waits for must be a gate; "
            "give the agent a participant that asks the driver instead"
        )
        self.broken = self.broken or error
        raise error

    call_soon_threadsafe = _refused("call_soon_threadsafe")
    run_in_executor = _refused("run_in_executor")
    set_default_executor = _refused("set_default_executor")
    shutdown_default_executor = _refused("shutdown_default_executor")
    shutdown_asyncgens = _refused("shutdown_asyncgens")
    set_debug = _refused("set_debug")
    stop = _refused("stop")
    run_forever = _refused("run_forever")
    run_until_complete = _refused("run_until_complete")
    getaddrinfo = _refused("getaddrinfo")
    getnameinfo = _refused("getnameinfo")
    create_connection = _refused("create_connection")
    create_server = _refused("create_server")
    create_unix_connection = _refused("create_unix_connection")
    create_unix_server = _refused("create_unix_server")
    create_datagram_endpoint = _refused("create_datagram_endpoint")
    connect_accepted_socket = _refused("connect_accepted_socket")
    connect_read_pipe = _refused("connect_read_pipe")
    connect_write_pipe = _refused("connect_write_pipe")
    start_tls = _refused("start_tls")
    sendfile = _refused("sendfile")
    subprocess_exec = _refused("subprocess_exec")
    subprocess_shell = _refused("subprocess_shell")
    add_reader = _refused("add_reader")
    remove_reader = _refused("remove_reader")
    add_writer = _refused("add_writer")
    remove_writer = _refused("remove_writer")
    sock_recv = _refused("sock_recv")
    sock_recv_into = _refused("sock_recv_into")
    sock_recvfrom = _refused("sock_recvfrom")
    sock_recvfrom_into = _refused("sock_recvfrom_into")
    sock_sendall = _refused("sock_sendall")
    sock_sendto = _refused("sock_sendto")
    sock_connect = _refused("sock_connect")
    sock_accept = _refused("sock_accept")
    sock_sendfile = _refused("sock_sendfile")
    add_signal_handler = _refused("add_signal_handler")
    remove_signal_handler = _refused("remove_signal_handler")
