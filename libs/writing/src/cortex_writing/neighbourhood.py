"""What a new statement is compared with: the live memories of its namespace that say the same or something near. Chunks
of documents are not among them, they end with their documents only, nor facts of sleep, which end with their sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Protocol
from uuid import UUID

from cortex_contracts.messages.memory import Visibility
from cortex_decision import Neighbour, Statement
from cortex_decision.contexts import ASKERS, PROGRAMS
from cortex_decision.folding import fold
from cortex_store import consolidation, lexical, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding
from cortex_store.memories import Memory, NewMemory

NEIGHBOURS: Final = 10
"""Live memories, by words and by meaning each."""
POSTINGS: Final = 2_000
"""Index entries that are read to find them."""
COSINE_OF_NOTHING: Final = 0.80
COSINE_OF_SAME: Final = 0.95
"""Between which cosines of the bundled model two texts become one: what novelty is measured on."""


class Scoped(Protocol):
    """A draft or a memory: where it belongs, and who may read it."""

    @property
    def namespace(self) -> str:
        """The one it is compared in."""
        ...

    @property
    def visibility(self) -> Visibility:
        """Who may read it."""
        ...


@dataclass(frozen=True, slots=True)
class Vector:
    """The embedding of a statement and the model it comes from; or nothing, then it is embedded behind."""

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
    said: Scoped,
    document: memory_index.Document,
    vector: Vector,
    *,
    owner: str | None,
    repeats_only: bool = False,
) -> Neighbourhood:
    """The neighbours of what is `said`, that the `owner` of a private statement owns as well; with `repeats_only` those
    that have exactly its content. A stored one is among its own."""
    similarity: dict[UUID, float | None] = dict.fromkeys(
        await memory_index.find_repeats(connection, said.namespace, document.content)
    )
    if not repeats_only:
        known = await memory_index.statistics(connection, [said.namespace], document.impacts)
        plan = lexical.plan(list(document.impacts), known.segments, known.memories, POSTINGS)
        query = memory_index.Query(
            plan.idfs, plan.steps, vector.embedding, vector.model, NEIGHBOURS, namespaces=(said.namespace,)
        )
        for candidate in await memory_index.search(connection, query):
            similarity[candidate.id] = candidate.cosine
    found = {
        memory_id: memory
        for memory_id, memory in (await memories.by_ids(connection, list(similarity))).items()
        # Whoever may read the new one must be able to read what it repeats, and the other way round what it retires.
        if memory.document is None
        and memory.source_kind != consolidation.SOURCE_KIND
        and memory.namespace == said.namespace
        and memory.visibility == said.visibility
        and (said.visibility is not Visibility.PRIVATE or memory.owner == owner)
    }
    neighbours = tuple(
        Neighbour(stored(memory), similarity[memory_id], memory.invalid_at) for memory_id, memory in found.items()
    )
    return Neighbourhood(neighbours, found)


def stored(memory: Memory | NewMemory) -> Statement:
    """A memory as the decision sees it."""
    speaker, session = voice(memory.speaker, memory.session, memory.owner)
    return Statement(
        id=memory.id,
        text=memory.content,
        valid_at=memory.valid_at,
        speaker=speaker,
        session=session,
        assertions=memory.assertions,
        source_kind=memory.source_kind,
    )


def voice(speaker: str | None, session: str | None, owner: str | None) -> tuple[str | None, str | None]:
    """Speaker and session by which "I" and "we" are told apart. "User" and "assistant" are the labels of everybody:
    whose, tells who keeps the memory; and so does it where nobody and no session is named."""
    whose = "_".join((owner or "").split())
    if speaker is not None and fold(speaker).strip() in ASKERS | PROGRAMS:
        speaker = f"{speaker.strip()}:{whose}"
    return speaker, session if session is not None else f"of:{whose}"


def heard(memory: Memory, subject: str) -> Statement:
    """A memory beside what `subject` says now, of no session: who says "I" there without a name is the same only in a
    memory of its own of no session."""
    known = stored(memory)
    return replace(known, session=None) if memory.session is None and memory.owner == subject else known
