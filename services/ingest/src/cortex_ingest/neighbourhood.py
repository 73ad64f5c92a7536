"""What a new statement is compared with: the live memories of its namespace that say the same or something near, but no
chunks of documents, which are retired with their documents only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft, Visibility
from cortex_decision import Neighbour, Statement
from cortex_ingest.intake import said_at
from cortex_store import lexical, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding
from cortex_store.memories import Memory

NEIGHBOURS: Final = 10
"""Live memories, by words and by meaning each."""
POSTINGS: Final = 2_000
"""Index entries that are read to find them."""
COSINE_OF_NOTHING: Final = 0.80
COSINE_OF_SAME: Final = 0.95
"""Between which cosines of the bundled model two texts become one: what novelty is measured on."""


@dataclass(frozen=True, slots=True)
class Vector:
    """The embedding of a draft and the model it comes from; or nothing, then it is embedded behind."""

    embedding: Embedding | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Neighbours as the decision sees them, and their rows."""

    neighbours: tuple[Neighbour, ...]
    rows: dict[UUID, Memory]

    def novelty(self) -> float:
        """How far the nearest neighbour is, in [0, 1]: 1 when there is none, NaN when it cannot be told yet."""
        known = [one.similarity for one in self.neighbours if one.similarity is not None]
        if self.neighbours and not known:
            return math.nan
        nearness = (max(known, default=0.0) - COSINE_OF_NOTHING) / (COSINE_OF_SAME - COSINE_OF_NOTHING)
        return 1.0 - min(1.0, max(0.0, nearness))


async def find(
    connection: Connection,
    principal: Principal,
    draft: MemoryDraft,
    document: memory_index.Document,
    vector: Vector,
    *,
    repeats_only: bool,
) -> Neighbourhood:
    """The neighbours of a draft; with `repeats_only` those that have exactly its content."""
    similarity: dict[UUID, float | None] = dict.fromkeys(
        await memory_index.find_repeats(connection, draft.namespace, document.content)
    )
    if not repeats_only:
        known = await memory_index.statistics(connection, [draft.namespace], document.impacts)
        plan = lexical.plan(list(document.impacts), known.segments, known.memories, POSTINGS)
        query = memory_index.Query(
            plan.idfs, plan.steps, vector.embedding, vector.model, NEIGHBOURS, namespaces=(draft.namespace,)
        )
        for candidate in await memory_index.search(connection, query):
            similarity[candidate.id] = candidate.cosine
    found = {
        memory_id: memory
        for memory_id, memory in (await memories.by_ids(connection, list(similarity))).items()
        # Whoever may read the new one must be able to read what it repeats, and the other way round what it retires.
        if memory.document is None
        and memory.namespace == draft.namespace
        and memory.visibility == draft.visibility
        and (draft.visibility is not Visibility.PRIVATE or memory.owner == principal.subject)
    }
    neighbours = tuple(
        Neighbour(_stored(memory), similarity[memory_id], memory.invalid_at) for memory_id, memory in found.items()
    )
    return Neighbourhood(neighbours, found)


def statement(draft: MemoryDraft) -> Statement:
    """A draft as the decision sees it."""
    return Statement(
        id=None,
        text=draft.content,
        valid_at=said_at(draft),
        speaker=draft.speaker,
        session=draft.session,
        assertions=draft.assertions,
        source_kind=draft.source_kind,
        explicit=draft.explicit,
    )


def _stored(memory: Memory) -> Statement:
    return Statement(
        id=memory.id,
        text=memory.content,
        valid_at=memory.valid_at,
        speaker=memory.speaker,
        session=memory.session,
        assertions=memory.assertions,
        source_kind=memory.source_kind,
    )
