"""What a contract adds to the driver: how its agent is built, spoken to and looked at."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from turnproof_reference.driver.gates import GateKind
from turnproof_reference.driver.outcomes import Reader, shared_kinds
from turnproof_reference.driver.projection import Accepted, project
from turnproof_reference.events import Event
from turnproof_reference.fault import Fault
from turnproof_reference.messages import Message, Target
from turnproof_reference.repair import repair
from turnproof_reference.session import Session, SessionLog

if TYPE_CHECKING:
    from turnproof_reference.driver.record import WireEvent
    from turnproof_reference.driver.world import World

Params: TypeAlias = Mapping[str, Any]
Operator: TypeAlias = Callable[["World", Params], dict[str, Any] | None]


class Candidate(Protocol):
    """Be an agent as the driver speaks to it; both contracts share these commands."""

    @property
    def status(self) -> str:
        """Answer `idle` or `running`."""

    @property
    def log(self) -> SessionLog:
        """Answer the log of the session."""

    def send(self, message: Message, *, target: Target, wakeup: bool) -> None:
        """Deliver a message."""

    def followup(self, message: Message) -> None:
        """Deliver a prompt."""

    def steer(self, message: Message) -> None:
        """Deliver input for the running turn that makes the model run."""

    def inject(self, message: Message) -> None:
        """Deliver supplementary input."""

    def cancel(self, cause: str, *, keep_inbox: bool = False) -> None:
        """Abort what runs and drop what waits."""

    def dispose(self) -> asyncio.Future[None]:
        """Cancel for good; answer what to await for the end."""

    def when_idle(self) -> asyncio.Future[None]:
        """Answer what to await for the agent to come to rest."""

    def abandon(self) -> None:
        """Be cut off as by a crash: never run again."""


class Adapter(ABC):
    """
    Put one contract behind the driver.

    Subclasses name the contract, declare what it offers, build the agent around a world's gates, and add the events
    and operations of their own.
    """

    contract: ClassVar[str]
    default_gates: ClassVar[tuple[str, ...]]
    capabilities: ClassVar[Mapping[str, bool]]
    causes: ClassVar[tuple[str, ...]] = ("user", "parent")

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault

    def kinds(self, accept: Reader) -> dict[str, GateKind]:
        """
        Answer the gates of this contract by name.

        Args:
            accept: reads messages from the wire.
        """
        return shared_kinds(accept)

    @abstractmethod
    def start(self, world: World, session: Session) -> Candidate:
        """Build the agent on a session; everything it waits for comes from the world."""

    @abstractmethod
    def position(self, agent: Candidate) -> Mapping[str, Any]:
        """Answer the fields `acceptsNextStep` and `inbox` of an observation."""

    def operations(self) -> Mapping[str, Operator]:
        """Answer the operations beyond the common ones, by method; what they return goes into the observation."""
        return {}

    def project(self, event: Event, accepted: Accepted) -> WireEvent:
        """Answer the wire form of an event."""
        return project(event, accepted)

    def resumed(self, session: Session, mode: str, new_id: str) -> Session:
        """Answer the session that the next agent goes on with; `new_id` names it if it is another one."""
        if mode == "fork":
            session = session.fork(new_id)
        return repair(session)
