"""What is near many stored memories, in few queries: what `cortex_writing.neighbourhood` finds for one that is new."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from cortex_contracts.messages.memory import Visibility
from cortex_store import contradictions, indexed_text, lexical, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.contradictions import SLEEP
from cortex_store.memories import Memory
from cortex_writing.neighbourhood import NEIGHBOURS, POSTINGS


async def near(connection: Connection, ones: Sequence[Memory]) -> dict[UUID, list[Memory]]:
    """For each of a few live memories of a namespace the live ones of the same readers that are near it, by words and
    by meaning; no chunks of documents, and nothing that sleep made. Bind the owner of what is private."""
    if not ones:
        return {}
    vectors = await contradictions.vectors(connection, [one.id for one in ones])
    words = {one.id: indexed_text.document(one, one.valid_at).impacts for one in ones}
    namespace = ones[0].namespace
    known = await memory_index.statistics(connection, [namespace], {term for each in words.values() for term in each})
    found: dict[UUID, list[UUID]] = {}
    for one in ones:
        plan = lexical.plan(list(words[one.id]), known.segments, known.memories, POSTINGS)
        embedding, model = vectors.get(one.id, (None, None))
        query = memory_index.Query(plan.idfs, plan.steps, embedding, model, NEIGHBOURS, namespaces=(namespace,))
        found[one.id] = [candidate.id for candidate in await memory_index.search(connection, query)]
    rows = await memories.by_ids(connection, list({each for ids in found.values() for each in ids}))
    return {one.id: [rows[each] for each in found[one.id] if each in rows and _alike(rows[each], one)] for one in ones}


def _alike(row: Memory, one: Memory) -> bool:
    return (
        row.id != one.id
        and row.invalid_at is None
        and row.document is None
        and row.source_kind != SLEEP
        and (row.namespace, row.visibility) == (one.namespace, one.visibility)
        and (one.visibility is not Visibility.PRIVATE or row.owner == one.owner)
    )
