"""What was said and what was acknowledged: all that the count at the end may rely on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from cortex_contracts.messages.memory import Retained
from cortex_testkit.chaos.sayings import Saying


class Wish(StrEnum):
    """What somebody wanted of a memory."""

    FORGET = "forget"
    RESTORE = "restore"


@dataclass
class Document:
    """Texts of a document: the last one that was acknowledged, and those that were sent since then."""

    namespace: str
    text: str = ""
    perhaps: list[str] = field(default_factory=list)


@dataclass
class Ledger:
    """Everything that was sent, by its ref, and how it was answered. What was sent and not answered may be there."""

    said: dict[str, Saying] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    retained: dict[str, Retained] = field(default_factory=dict)
    """What retain answered; a capture is acknowledged without it."""
    wishes: dict[UUID, list[tuple[Wish, bool]]] = field(default_factory=dict)
    """Changes of a memory in their order, and whether they were acknowledged; refused ones are none."""
    documents: dict[str, Document] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)
    """What was seen while it lived that must never be, by kind."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    """How often what was done."""
    failed: Counter[str] = field(default_factory=Counter)
    """Calls that failed, by call and error: an outage is no fault."""

    def say(self, saying: Saying) -> Saying:
        """It is about to be sent."""
        self.said[saying.ref] = saying
        return saying

    def acknowledge(self, saying: Saying, retained: Retained | None = None) -> None:
        """It is remembered, now and for ever."""
        self.acknowledged.add(saying.ref)
        if retained is not None:
            self.retained[saying.ref] = retained

    def wish(self, memory: UUID, wish: Wish, *, acknowledged: bool) -> None:
        """A memory was to change; not acknowledged: it may have."""
        self.wishes.setdefault(memory, []).append((wish, acknowledged))

    def blame(self, kind: str, example: str) -> None:
        """Something was seen that must never be."""
        self.wrong[kind] += 1
        self.examples.setdefault(kind, []).append(example)

    def may_live(self, memory: UUID) -> frozenset[bool]:
        """Whether a memory that nobody else ends may be true after what was wished."""
        states = {True}
        for wish, acknowledged in self.wishes.get(memory, ()):
            states = (set() if acknowledged else states) | {wish is Wish.RESTORE}
        return frozenset(states)
