"""What a recall answers with: ranked memories in the shapes of the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from cortex_contracts.messages.base import preview
from cortex_contracts.rpc.recall import Explanation, Hop, RecalledMemory, RecallRequest
from cortex_ranking.fusion import Scored
from cortex_ranking.packing import pack, tokens
from cortex_store.entity_relations import Path
from cortex_store.memories import Memory
from cortex_store.memory_index import Candidate


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory with its row and its final score; `path`: how the hop reached it."""

    memory: Memory
    scored: Scored
    score: float
    reranked: float | None = None
    path: Path | None = None


def fit(
    chosen: Sequence[Ranked], near: Mapping[UUID, tuple[Memory, ...]], request: RecallRequest, left: int
) -> tuple[dict[UUID, tuple[Memory, ...]], int]:
    """The turns around each memory so far as `left` tokens go, and what they cost."""
    around: dict[UUID, tuple[Memory, ...]] = {}
    spent = 0
    for one in chosen:
        turns, price, _ = pack(
            near.get(one.memory.id, ()), lambda turn: tokens(content_of(turn, request)), left - spent
        )
        around[one.memory.id] = tuple(turns)
        spent += price
    return around, spent


def content_of(memory: Memory, request: RecallRequest) -> str:
    """What a reply shows of a memory: its content, or one line of it."""
    return preview(memory.content) if request.brief else memory.content


def ranks_of(candidates: Sequence[Candidate]) -> dict[UUID, tuple[Candidate, int | None, int | None]]:
    """Each candidate with its rank by words and by meaning; none where it was not found that way."""
    by_words = sorted((c for c in candidates if c.lexical > 0), key=lambda c: (-c.lexical, c.id))
    by_meaning = sorted((c for c in candidates if c.cosine is not None), key=lambda c: (-(c.cosine or 0.0), c.id))
    words = {candidate.id: rank for rank, candidate in enumerate(by_words, 1)}
    meaning = {candidate.id: rank for rank, candidate in enumerate(by_meaning, 1)}
    return {c.id: (c, words.get(c.id), meaning.get(c.id)) for c in candidates}


def explanation(one: Ranked, ranks: tuple[Candidate, int | None, int | None] | None) -> Explanation:
    """How a memory got its score; `ranks` is none for one that was only reached by the hop."""
    candidate, by_words, by_meaning = ranks or (None, None, None)
    path = one.path
    return Explanation(
        lexical=candidate.lexical if candidate else 0.0,
        lexical_rank=by_words,
        cosine=candidate.cosine if candidate else None,
        cosine_rank=by_meaning,
        contributions=dict(one.scored.contributions),
        reranked=one.reranked,
        hop=path and Hop(memory_id=path.hit, entity=path.name, predicate=path.predicate, other=path.other),
    )


def recalled(one: Ranked, content: str) -> RecalledMemory:
    """A memory as a reply shows it, with its own content or a shorter one."""
    memory = one.memory
    return RecalledMemory(
        memory_id=memory.id,
        namespace=memory.namespace,
        content=content,
        score=one.score,
        importance=memory.importance,
        source_kind=memory.source_kind,
        source_ref=memory.source_ref,
        speaker=memory.speaker,
        session=memory.session,
        assertions=memory.assertions,
        valid_at=memory.valid_at,
        created_at=memory.created_at,
        turn=memory.turn,
        owner=memory.owner,
        visibility=memory.visibility,
        network=memory.network,
        memory_type=memory.memory_type,
        invalid_at=memory.invalid_at,
        superseded_by=memory.superseded_by,
    )
