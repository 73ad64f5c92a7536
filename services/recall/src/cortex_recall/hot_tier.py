"""The ports of recall on PostgreSQL: one short transaction each, bound to the principal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_recall.ports import Found, Question, Reading
from cortex_store import entities, entity_relations, lexical, memories, memory_index, terms, vaults
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.entity_relations import Path
from cortex_store.memories import Memory
from cortex_store.memory_index import Filter

POSTINGS: Final = 6_000
"""Index entries that the words of one question may read. Overlap@40 with exhaustive BM25 in 400,000 memories: 0.995;
0.989 with 5,000; half of them are read, see `lexical.STEPS`."""


class HotTier:
    """Reads of the hot tier (see `ports`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def reading(self, principal: Principal) -> AsyncIterator[Reading]:
        """See `HotTierReads.reading`."""
        async with self._database.transaction(principal) as connection:
            yield _Reading(connection)

    async def latest_memory(self, principal: Principal) -> datetime | None:
        """See `Freshness.latest_memory`."""
        async with self._database.transaction(principal) as connection:
            return await memories.latest(connection)

    async def latest_sync(self, principal: Principal) -> datetime | None:
        """See `Freshness.latest_sync`."""
        async with self._database.transaction(principal) as connection:
            return await vaults.latest_sync(connection)


class _Reading:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, question: Question) -> Found:
        hashes = [lexical.term_hash(term) for term in terms.content_terms(question.text)]
        past = question.filter.as_of is not None
        known = await memory_index.statistics(self._connection, question.namespaces, hashes, past=past)
        plan = lexical.plan(hashes, known.segments, known.memories, POSTINGS)
        narrowed = await self._narrowed(question)
        named = (
            await entities.with_keys(self._connection, question.names, question.namespaces) if question.names else ()
        )
        query = memory_index.Query(
            idfs=plan.idfs,
            steps=plan.steps,
            embedding=question.vector,
            model=question.model,
            limit=question.limit,
            around=question.around,
            namespaces=question.namespaces,
            named=named,
            filter=narrowed,
        )
        return Found(await memory_index.search(self._connection, query), plan.best)

    async def hop(self, question: Question, hits: Sequence[UUID], known: Sequence[UUID]) -> tuple[Path, ...]:
        narrowed = await self._narrowed(question)
        return await entity_relations.hop(self._connection, hits, known, question.namespaces, narrowed)

    async def rows(self, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        return await memories.by_ids(self._connection, ids)

    async def around(
        self, found: Sequence[Memory], turns: int, as_of: datetime | None
    ) -> Mapping[UUID, tuple[Memory, ...]]:
        near = await memory_index.turns_around(
            self._connection,
            [(one.id, one.namespace, one.session, one.turn) for one in found if one.session and one.turn is not None],
            turns,
            as_of,
        )
        known = await memories.by_ids(self._connection, sorted({id_ for ids in near.values() for id_ in ids}))
        return {
            memory_id: tuple(known[other] for other in ids if other in known and other != memory_id)
            for memory_id, ids in near.items()
        }

    async def _narrowed(self, question: Question) -> Filter:
        if question.filter_names is None:
            return question.filter
        wanted = await entities.with_keys(self._connection, question.filter_names, question.namespaces)
        return replace(question.filter, entities=wanted)
