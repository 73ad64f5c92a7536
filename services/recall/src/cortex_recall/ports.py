"""What recall needs of the hot tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_providers.embedder import Vectors
from cortex_store.connection import Connection
from cortex_store.entity_relations import Path
from cortex_store.memories import Memory
from cortex_store.memory_index import Candidate, Filter


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for. `vector` has shape (dimension,) and comes from `model`; `names`: folded names that the
    query may mean (`entities.candidates`); `filter_names` narrow the answer to memories of these entities."""

    text: str
    vector: Vectors | None
    model: str | None
    namespaces: tuple[str, ...] | None
    names: tuple[str, ...]
    filter_names: tuple[str, ...] | None
    filter: Filter
    limit: int
    around: int


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates in no order. `best_lexical` is the largest BM25 score that any memory could have for the query."""

    candidates: tuple[Candidate, ...]
    best_lexical: float


class Reading(Protocol):
    """One consistent look at the hot tier on behalf of a principal."""

    async def search(self, question: Question) -> Found:
        """Candidates for an answer."""
        ...

    async def hop(self, question: Question, hits: Sequence[UUID], known: Sequence[UUID]) -> tuple[Path, ...]:
        """Ways from `hits` to memories that the question may find and that are not `known`, over rare names."""
        ...

    async def rows(self, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        """The memories among `ids` that the principal may read."""
        ...

    async def around(
        self, memories: Sequence[Memory], turns: int, as_of: datetime | None
    ) -> Mapping[UUID, tuple[Memory, ...]]:
        """The turns around each memory that is one of a session, in order, itself not included: those that are true, or
        were at `as_of`."""
        ...


class HotTierReads(Protocol):
    """Opens looks at the hot tier."""

    def reading(self, principal: Principal) -> AbstractAsyncContextManager[Reading]:
        """A look. Raises Unavailable when the database is away."""
        ...


class Transactions(Protocol):
    """Transactions that see what one principal may see."""

    def transaction(self, scope: Principal) -> AbstractAsyncContextManager[Connection]:
        """A transaction bound to `scope`. Raises Unavailable when the database is away."""
        ...


class Freshness(Protocol):
    """When the hot tier last learned something."""

    async def latest_memory(self, principal: Principal) -> datetime | None:
        """When the newest memory that the principal may read was made; none: there is none."""
        ...

    async def latest_sync(self, principal: Principal) -> datetime | None:
        """When a vault that the principal may read was last synced; none: never."""
        ...
