"""
Keep the ledger of an inbox as a trace tells it: what waits in which list, and what was claimed and isn't settled.

Only what is outstanding is held, with one id per message that ever entered. The ledger believes the trace: an exit
without an entry is the monitors' business, here it changes as little as it can.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

from attrs import define, field

from turnproof_model import trace as t
from turnproof_model.trace import PROMPT_LISTS, ListName
from turnproof_model.vocabulary import Source

Admission: TypeAlias = Literal["none", "open", "allowed"]


@define(eq=False)
class Item:
    """
    Be one message that waits in a list.

    ``parked``: a cancel that kept the inbox, a failure or a veto excuses that it waits at ``idle``. ``left``: an
    aborted or failed turn, or a rejected admission, left it staged. ``late``: it was sent when the running activity
    was over. ``doomed``: place of the cancel that ought to have dropped it. ``committed``: it is in the log already,
    though nobody took it. ``overtaken``: something behind it was taken. ``returned``: how many exits there had been
    when it was put back.
    """

    id: str
    list: ListName
    waking: bool
    place: int
    content: object = None
    source: Source | None = None
    parked: bool = False
    left: bool = False
    late: bool = False
    doomed: int | None = None
    committed: bool = False
    overtaken: bool = False
    returned: int | None = None


@define(eq=False)
class Claim:
    """
    Be one message that left its list for the loop and is neither committed nor settled otherwise.

    ``turn`` is the number of the turn it was claimed in, None between turns; ``cancelled`` the place of the cancel
    that preceded the claim in that turn, if one did.
    """

    item: Item
    place: int
    turn: int | None
    cancelled: int | None = None
    admission: Admission = "none"
    content: object = None
    idle: int | None = None

    @property
    def id(self) -> str:
        """The id of the message."""
        return self.item.id


@define(eq=False)
class Ledger:
    """
    Hold the lists, the unsettled claims in order, and the ids that ever entered.

    ``asked`` are the ids whose admission began before they were taken; ``let_in`` counts what decisions added beside
    the claimed; ``exits`` counts what left a list.
    """

    lists: dict[ListName, list[Item]] = field(factory=dict)
    claims: list[Claim] = field(factory=list)
    entered: set[str] = field(factory=set)
    asked: set[str] = field(factory=set)
    let_in: Counter[str] = field(factory=Counter)
    exits: int = 0

    def outstanding(self) -> list[Item]:
        """List what waits, list by list, in order."""
        return [item for items in self.lists.values() for item in items]

    def find(self, name: str, where: ListName | None = None) -> Item | None:
        """Find the first waiting entry of an id in a list, or the earliest one in any."""
        if where is not None:
            for item in self.lists.get(where, ()):
                if item.id == name:
                    return item
            return None
        found = [item for item in self.outstanding() if item.id == name]
        return min(found, key=lambda item: item.place) if len(found) > 1 else found[0] if found else None

    def claim_of(self, name: str) -> Claim | None:
        """Find the earliest unsettled claim of an id."""
        for claim in self.claims:
            if claim.item.id == name:
                return claim
        return None

    def claim_behind(self, record: t.UserMessage | t.SteeringMessage) -> Claim | None:
        """Find the claim that a commit is of: steering commits steering, where an id was claimed from more lists."""
        found = [claim for claim in self.claims if claim.item.id == record.id]
        if len(found) < 2:
            return found[0] if found else None
        steering = isinstance(record, t.SteeringMessage)
        return min(found, key=lambda claim: (claim.item.list == "steering") != steering)

    def ahead(self, item: Item) -> list[Item]:
        """List what stands before an item in its list."""
        items = self.lists.get(item.list, [])
        return items[: items.index(item)] if item in items else []

    # -------------------------------------------------------------------------------------------- moving
    def enter(self, item: Item, at: int | None) -> None:
        """Put an item into its list, at a position or at the end."""
        items = self.lists.setdefault(item.list, [])
        items.insert(len(items) if at is None else at, item)
        self.entered.add(item.id)

    def leave(self, item: Item) -> None:
        """Take an item out of its list."""
        self.lists[item.list].remove(item)
        self.exits += 1

    def claim(self, claim: Claim) -> None:
        """Turn a waiting item into a claim."""
        if claim.item in self.lists.get(claim.item.list, ()):
            self.leave(claim.item)
        if claim.id in self.asked:
            self.asked.discard(claim.id)
            claim.admission = "open"
        if not claim.item.committed:
            self.claims.append(claim)

    def settle(self, claim: Claim) -> None:
        """Forget a claim: it was committed, blocked, lost, discarded or put back."""
        self.claims.remove(claim)

    def committed(self, record: t.UserMessage | t.SteeringMessage) -> Claim | None:
        """Take a commit: from its claim, which is returned, else from what was let in, else from a list."""
        name = record.id
        claim, waiting = self.claim_behind(record), self.find(name)
        if claim is not None:
            self.settle(claim)
        elif self.let_in[name] > 0:
            self.let_in[name] -= 1
        elif waiting is not None:
            waiting.committed = True
        return claim

    def requeue(self, item: Item, target: ListName) -> None:
        """
        Put an item at the head of a list.

        Several that return with no claim between them keep their order.
        """
        if item in self.lists.get(item.list, ()):
            self.lists[item.list].remove(item)
        item.list = target
        item.returned = self.exits
        items = self.lists.setdefault(target, [])
        together = sum(1 for other in items if other.returned == self.exits)
        items.insert(together, item)
        self.entered.add(item.id)


def is_prompt(name: ListName) -> bool:
    """Tell whether a list holds prompts, each for a turn of its own."""
    return name in PROMPT_LISTS
