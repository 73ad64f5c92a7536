"""The get RPC: one memory with where it comes from and what became of it."""

from __future__ import annotations

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.rpc.recall import EntityRelation, GetReply, GetRequest, HistoryEntry, Occurrence
from cortex_recall.ports import Transactions
from cortex_recall.result_cache import ResultCache
from cortex_recall.views import view
from cortex_store import access, consolidation, entities, entity_relations, memories, memory_events, occurrences


class Provenance:
    """The use case."""

    def __init__(self, database: Transactions, cache: ResultCache) -> None:
        self._database = database
        self._cache = cache

    async def get(self, request: GetRequest) -> GetReply:
        """A memory that the principal may read, live or not.

        Raises:
            Permanent: there is none of this id for the principal.
            Unavailable: the hot tier cannot be read.
        """
        key = await self._cache.key("get", request.principal, request, None)
        kept = await self._cache.get(key, GetReply)
        if kept is not None:
            return kept
        async with self._database.transaction(request.principal) as connection:
            memory = await memories.get(connection, request.memory_id)
            if memory is None:
                raise Permanent("there is no such memory", code=ErrorCode.NOT_FOUND)
            chain = await memories.links(connection, memory.id)
            count, last = await access.of_memory(connection, memory.id)
            reply = GetReply(
                memory=view(memory),
                chain=tuple(view(one) for one in chain.memories),
                chain_complete=not chain.others,
                occurrences=tuple(
                    Occurrence(
                        source_kind=one.source_kind,
                        source_ref=one.source_ref,
                        session=one.session,
                        turn=one.turn,
                        speaker=one.speaker,
                        occurred_at=one.occurred_at,
                        reason=one.reason,
                    )
                    for one in await occurrences.of_memory(connection, memory.id)
                ),
                entities=await entities.of_memory(connection, memory.id),
                relations=tuple(
                    EntityRelation(subject=one.subject, predicate=one.predicate, object=one.object)
                    for one in await entity_relations.of_memory(connection, memory.id)
                ),
                history=tuple(
                    HistoryEntry(op=event.op, agent=event.agent, occurred_at=event.occurred_at)
                    for event in await memory_events.of_memory(connection, memory.id)
                ),
                access_count=count,
                last_accessed_at=last,
                sources=await consolidation.sources(connection, memory.id),
                facts=await consolidation.made_of(connection, memory.id),
                summaries=await consolidation.summaries(connection, memory.id),
            )
        await self._cache.put(key, reply)
        return reply
