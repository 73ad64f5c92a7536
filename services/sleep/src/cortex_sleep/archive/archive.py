"""The archive: the memories of the cold tier that answer a question, and one of them by its id.

Scope is that of the hot tier: PostgreSQL binds the principal and says which namespaces it searches, grants included;
the look at the cold tier applies that, and the rule for private memories, to every row. Scores are those of recall:
the same BM25, the same cosines, the same fusion; what is worth mentioning here is worth mentioning there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import preview
from cortex_contracts.messages.memory import MemoryView
from cortex_contracts.rpc.archive import ArchivedChain, ArchivedMemory, ArchiveQuestion, ArchiveReply, ArchiveRequest
from cortex_contracts.rpc.recall import Dropped, Explanation, GetReply, GetRequest, HistoryEntry, TimeWindow
from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_search import ColdCandidate, ColdRow
from cortex_ranking.calibration import Backgrounds
from cortex_ranking.fusion import Recipe, Scored, fuse, salient
from cortex_ranking.packing import pack, tokens
from cortex_ranking.query_vector import QueryVector, VectorSource
from cortex_ranking.question import STOP_WORDS_DOUBT, says_something, time_meant
from cortex_sleep.archive import question as asked
from cortex_sleep.archive import views
from cortex_sleep.archive.access import opened
from cortex_sleep.archive.ports import Looks
from cortex_sleep.archive.turns import Turns
from cortex_sleep.ports import Transactions
from cortex_store import memories, memory_events, terms

MOST_TOKENS: Final = 150_000
"""Of the contents of one reply, whatever was asked for: a message of the bus holds 1 MiB."""
GET_LIMIT_S: Final = 25.0


class Archive:
    """The use case. One search at a time: each uses what a process has to spare beside the background work."""

    def __init__(
        self,
        store: Looks,
        database: Transactions,
        vectors: VectorSource,
        recipe: Recipe,
        backgrounds: Backgrounds,
        turns: Turns | None = None,
    ) -> None:
        self._store = store
        self._database = database
        self._vectors = vectors
        self._recipe = recipe
        self._backgrounds = backgrounds
        self._turns = turns or Turns()

    async def recall(self, request: ArchiveRequest) -> ArchiveReply:
        """The cold memories that answer `request` among those that its principal may read.

        Raises:
            InvalidMessage: the time zone is unknown, or `as_of` is outside its calendar.
            Unavailable: the cold tier or the database is away, or too many search at once.
            Permanent: the cold tier refuses.
        """
        began = time.monotonic()
        window = time_meant(request.query, request.timezone, request.as_of)
        vector = await self._vectors.of(request.query)
        floor = self._recipe.floor if request.min_score is None else request.min_score
        meant = None if window is None else TimeWindow(since=window.start, until=window.end, text=window.text)
        async with self._turns.turn(request.limit_s) as left_s:
            look, who = await opened(self._store, self._database, request.principal, request.namespaces)
            query = asked.query(request, who, vector, window, left_s)
            found = await look.search(query)
            evidence, known = asked.evidence(found.candidates, request.query, window)
            best = found.best_lexical * (1 if says_something(request.query) else STOP_WORDS_DOUBT)
            scored = fuse(evidence, best, self._recipe, self._background(vector, request.query))
            above = [one for one in scored if one.relevance >= floor]
            ranked = sorted(above, key=lambda one: (-_score(one, known), one.id))
            chosen = ranked[: request.k]
            rows = await look.rows([known[one.id].ref for one in chosen])
        pairs = list(zip(chosen, rows, strict=True))
        budget = min(request.budget_tokens or MOST_TOKENS, MOST_TOKENS)
        packed, spent, over_budget = pack(pairs, lambda pair: tokens(_content(pair[1], request)), budget)
        ranks = _ranks(found.candidates) if request.explain else {}
        degraded = list(vector.degraded)
        if vector.vector is not None and found.other_model:
            degraded.append(f"vectors of {found.other_model} memories")
        return ArchiveReply(
            memories=tuple(
                ArchivedMemory(
                    memory=views.view(row, _content(row, request)),
                    score=_score(one, known),
                    occurrences=views.occurrences(row),
                    entities=views.entities(row),
                    relations=views.relations(row),
                    sources=row.sources,
                    access_count=row.access_count,
                    last_accessed_at=row.last_accessed_at,
                    explanation=_explanation(one, known[one.id], ranks[one.id]) if request.explain else None,
                )
                for one, row in packed
            ),
            took_ms=round((time.monotonic() - began) * 1000),
            degraded=tuple(degraded),
            complete=found.complete,
            dropped=Dropped(
                below_floor=len(scored) - len(above),
                beyond_k=len(ranked) - len(chosen),
                over_budget=over_budget,
            ),
            floor=floor,
            tokens=spent,
            time=meant,
            rows=found.rows,
            files=found.files,
            files_read=found.files_read,
            bytes_read=found.bytes_read,
        )

    async def get(self, request: GetRequest) -> GetReply:
        """A memory of the cold tier that the principal may read, with its provenance and its history.

        Raises:
            Permanent: there is none of this id for the principal.
            Unavailable: the cold tier or the database is away.
        """
        found = await self._chain(request)
        if request.memory_id not in found:
            raise Permanent("there is no such memory", code=ErrorCode.NOT_FOUND)
        memory = found[request.memory_id].memory
        async with self._database.transaction(request.principal) as connection:
            events = await memory_events.of_memory(connection, memory.id)
        shown = views.view(memory)
        return GetReply(
            memory=shown,
            chain=_chain(found.values()),
            chain_archived=tuple(found),
            occurrences=views.occurrences(memory),
            entities=views.entities(memory),
            relations=views.relations(memory),
            history=tuple(HistoryEntry(op=one.op, agent=one.agent, occurred_at=one.occurred_at) for one in events),
            access_count=memory.access_count,
            last_accessed_at=memory.last_accessed_at,
            archived=True,
        )

    async def chain(self, request: GetRequest) -> ArchivedChain:
        """The cold memories of the chain of a memory, wherever that is, so far as the principal may read them.

        Raises:
            Unavailable: the cold tier or the database is away.
        """
        return ArchivedChain(memories=_chain((await self._chain(request)).values()))

    async def _chain(self, request: GetRequest) -> Mapping[UUID, ColdRow]:
        async with self._database.transaction(request.principal) as connection:
            links = await memories.links(connection, request.memory_id)
        if not links.others:
            return {}
        async with self._turns.turn(GET_LIMIT_S):
            look, who = await opened(self._store, self._database, request.principal)
            return await look.find(who, links.others)

    def _background(self, vector: QueryVector, query: str) -> float | None:
        return self._backgrounds.foreign(vector.vector, terms.script(query))


def _score(one: Scored, known: Mapping[UUID, ColdCandidate]) -> float:
    return salient(one.relevance, known[one.id].importance)


def _chain(rows: Iterable[ColdRow]) -> tuple[MemoryView, ...]:
    return tuple(views.view(one.memory) for one in sorted(rows, key=lambda one: (one.memory.valid_at, one.memory.id)))


def _content(memory: ColdMemory, request: ArchiveQuestion) -> str:
    return preview(memory.content) if request.brief else memory.content


def _ranks(candidates: Sequence[ColdCandidate]) -> dict[UUID, tuple[int | None, int | None]]:
    """Each candidate's rank by words and by meaning; none where it was not found that way."""
    by_words = sorted((one for one in candidates if one.lexical > 0), key=lambda one: (-one.lexical, one.id))
    by_meaning = sorted(
        (one for one in candidates if one.cosine is not None), key=lambda one: (-(one.cosine or 0.0), one.id)
    )
    words = {one.id: rank for rank, one in enumerate(by_words, 1)}
    meaning = {one.id: rank for rank, one in enumerate(by_meaning, 1)}
    return {one.id: (words.get(one.id), meaning.get(one.id)) for one in candidates}


def _explanation(one: Scored, candidate: ColdCandidate, ranks: tuple[int | None, int | None]) -> Explanation:
    return Explanation(
        lexical=candidate.lexical,
        lexical_rank=ranks[0],
        cosine=candidate.cosine,
        cosine_rank=ranks[1],
        contributions=dict(one.contributions),
    )
