"""Changes of memories that are there: forget, restore, improve, share. What is in the cold tier comes back first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import Changed, Improved
from cortex_contracts.subjects import MemoryOp
from cortex_decision import importance
from cortex_ingest.cold_tier import ColdTier
from cortex_ingest.write_access import require_write
from cortex_providers.embedder import TextKind
from cortex_providers.engine import BuiltinEngine, Engine
from cortex_store import entities, entity_relations, grants, indexed_text, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.memories import Memory
from cortex_writing import journal
from cortex_writing.announcements import Announcements
from cortex_writing.ports import PassageEmbedder, Transactions
from cortex_writing.reading import Reader
from cortex_writing.remembering import end_derived, link
from cortex_writing.turns import previous_turn


class Changes:
    """The use cases."""

    def __init__(
        self,
        database: Transactions,
        embedder: PassageEmbedder,
        announcements: Announcements,
        *,
        engine: Engine | None = None,
        cold: ColdTier | None = None,
    ) -> None:
        """Without an engine the built-in one works; without a cold tier what is not hot is not there."""
        self._database = database
        self._embedder = embedder
        self._announcements = announcements
        self._reader = Reader(engine or BuiltinEngine())
        self._cold = cold

    async def forget(self, principal: Principal, memory_id: UUID) -> Changed:
        """A memory stops being true now, and what sleep made of it; it stays, with its history. Idempotent.

        Raises:
            Permanent: there is no such memory for the principal, or it may not write it.
            Unavailable: it may be in the cold tier, and that cannot be asked.
        """
        return await self._wherever(principal, memory_id, self._forget)

    async def _forget(self, principal: Principal, memory_id: UUID) -> Changed:
        async with self._database.transaction(principal) as connection:
            memory = await _writable(connection, memory_id)
            now = datetime.now(UTC)
            changed = await memories.invalidate(connection, memory_id, now)
            if changed:
                await journal.record(connection, principal, MemoryOp.FORGET, memory.namespace, memory_id)
                await end_derived(connection, principal, (memory_id,), now)
            state = await _writable(connection, memory_id)
        await self._announcements.changed(principal.org, (memory.namespace,))
        return Changed(
            memory_id=memory_id, invalid_at=state.invalid_at, superseded_by=state.superseded_by, changed=changed
        )

    async def restore(self, principal: Principal, memory_id: UUID) -> Changed:
        """A memory that was forgotten or superseded is true again. Idempotent.

        Raises:
            Permanent, Unavailable: as for `forget`.
        """
        return await self._wherever(principal, memory_id, self._restore)

    async def _restore(self, principal: Principal, memory_id: UUID) -> Changed:
        async with self._database.transaction(principal) as connection:
            memory = await _writable(connection, memory_id)
            changed = await memories.restore(connection, memory_id)
            if changed:
                await journal.record(connection, principal, MemoryOp.RESTORE, memory.namespace, memory_id)
        await self._announcements.changed(principal.org, (memory.namespace,))
        return Changed(memory_id=memory_id, invalid_at=None, changed=changed)

    async def improve(
        self,
        principal: Principal,
        memory_ids: Sequence[UUID],
        *,
        recorded: Callable[[Connection, UUID], Awaitable[None]] | None = None,
    ) -> Improved:
        """Extract, score, embed and index memories again with the rules of today. `recorded` gets each that was, in the
        transaction that does it.

        Raises:
            Unavailable: the embedder, the engine, the database or the cold tier is away; those before it are improved.
        """
        hot = await self._improve(principal, memory_ids, recorded)
        if self._cold is None or not await self._cold.returned(principal, hot.unknown):
            return hot
        back = await self._improve(principal, hot.unknown, recorded)
        return Improved(improved=hot.improved + back.improved, unknown=back.unknown)

    async def _improve(
        self,
        principal: Principal,
        memory_ids: Sequence[UUID],
        recorded: Callable[[Connection, UUID], Awaitable[None]] | None,
    ) -> Improved:
        unknown = []
        for memory_id in memory_ids:
            async with self._database.transaction(principal) as connection:
                memory = await memories.get(connection, memory_id)
                writable = memory is not None and await memory_index.may_write(connection, memory.namespace)
                before = None if memory is None else await previous_turn(connection, memory)
            if memory is None or not writable:
                unknown.append(memory_id)
                continue
            text = indexed_text.meaning(memory, before)
            vector = (await self._embedder.embed([text], TextKind.PASSAGE))[0]
            [extraction] = await self._reader.extract([memory])
            score = importance(
                1.0,
                explicit=False,
                source_kind=memory.source_kind,
                reference_age_days=max(0.0, (datetime.now(UTC) - memory.valid_at).total_seconds() / 86_400),
            )
            async with self._database.transaction(principal) as connection:
                if not await memories.lock(connection, [memory_id]):
                    unknown.append(memory_id)
                    continue
                await memory_index.index(
                    connection, memory_id, indexed_text.document(memory, memory.valid_at), vector, self._embedder.model
                )
                await entities.unlink(connection, memory_id)
                await entity_relations.remove(connection, memory_id)
                await link(connection, memory_id, memory.namespace, extraction)
                # What somebody asked to remember, or what was new when it came, stays as important as it was.
                await memories.raise_importance(connection, memory_id, score)
                await journal.record(connection, principal, MemoryOp.IMPROVE, memory.namespace, memory_id)
                if recorded is not None:
                    await recorded(connection, memory_id)
            await self._announcements.changed(principal.org, (memory.namespace,))
        return Improved(improved=len(memory_ids) - len(unknown), unknown=tuple(unknown))

    async def _wherever(
        self, principal: Principal, memory_id: UUID, change: Callable[[Principal, UUID], Awaitable[Changed]]
    ) -> Changed:
        """Change a memory; one that is not hot once more after it came back from the cold tier."""
        try:
            return await change(principal, memory_id)
        except Permanent as missing:
            if missing.code is not ErrorCode.NOT_FOUND or self._cold is None:
                raise
            if not await self._cold.returned(principal, (memory_id,)):
                raise
        return await change(principal, memory_id)

    async def share(self, principal: Principal, grant: grants.Grant) -> None:
        """Set what an agent may do in a namespace.

        Raises:
            Permanent: the principal's own credential may not write the namespace.
        """
        async with self._database.transaction(principal) as connection:
            if not await grants.owns(connection, grant.namespace):
                raise Permanent(f"only an owner can share the namespace {grant.namespace!r}", code=ErrorCode.FORBIDDEN)
            await grants.put(connection, grant)
            await journal.record(connection, principal, MemoryOp.SHARE, grant.namespace)
        await self._announcements.changed(principal.org, (grant.namespace,))


async def _writable(connection: Connection, memory_id: UUID) -> Memory:
    memory = await memories.get(connection, memory_id)
    if memory is None:
        raise Permanent("there is no such memory", code=ErrorCode.NOT_FOUND)
    await require_write(connection, memory.namespace)
    if not await memories.lock(connection, [memory_id]):
        raise Permanent("the memory has just gone to the cold tier", code=ErrorCode.NOT_FOUND)
    return memory
