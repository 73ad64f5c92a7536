"""Recall: the memories that answer a query, best first. Never a language model, never the cold tier.

Cache → embed → candidates by words and by meaning with the turns around them → fusion → floor → hop → rerank → pack.
What must happen after the answer (access counts, the recall event, what contradicts it) is noted for later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError
from cortex_contracts.rpc.recall import (
    Dropped,
    FusionMethod,
    RecalledMemory,
    RecallReply,
    RecallRequest,
    TimeWindow,
)
from cortex_extraction import entities, times
from cortex_extraction.folding import key
from cortex_providers.reranker import Reranker
from cortex_ranking.calibration import Backgrounds
from cortex_ranking.fusion import Evidence, Recipe, Scored, fuse, rrf, salient
from cortex_ranking.packing import pack, tokens
from cortex_ranking.query_vector import QueryVector, VectorSource
from cortex_ranking.question import STOP_WORDS_DOUBT, says_something, time_meant
from cortex_recall import entity_hop
from cortex_recall.access_log import AccessLog, Answered
from cortex_recall.answers import Ranked, content_of, explanation, fit, ranks_of, recalled
from cortex_recall.contradictions import Contradictions, Heard
from cortex_recall.entity_hop import Hopped
from cortex_recall.ports import Found, HotTierReads, Question, Reading
from cortex_recall.result_cache import ResultCache
from cortex_recall.stopwatch import Stopwatch
from cortex_recall.views import view
from cortex_runtime import logs
from cortex_store import terms
from cortex_store.consolidation import SOURCE_KIND
from cortex_store.memories import Memory
from cortex_store.memory_index import Candidate, Filter

CANDIDATES: Final = 50
"""How many each way contributes, or k if that is more: 40 to 200 find the evidence equally well, and the turns around
them are what a search costs."""
AROUND: Final = 2
"""Turns on each side of a candidate that lend it their scores."""
RERANKED: Final = 20
MOST_TOKENS: Final = 150_000
"""Of the contents of one reply, whatever was asked for: a message of the bus holds 1 MiB."""
RERANK_LIMIT_S: Final = 0.25
BESIDE: Final = 20
"""Candidates more, each way, where facts of sleep take nobody's place: a development conversation has 16 facts."""
MEMORIES_PER_FACT: Final = 3
"""A fact is as long as four memories."""

log = logs.get(__name__)


class Recall:
    """The use case."""

    def __init__(
        self,
        hot_tier: HotTierReads,
        vectors: VectorSource,
        cache: ResultCache,
        access_log: AccessLog,
        reranker: Reranker,
        recipe: Recipe,
        backgrounds: Backgrounds | None = None,
        contradictions: Contradictions | None = None,
    ) -> None:
        """Without `contradictions` nobody looks at the context of a question."""
        self._hot_tier = hot_tier
        self._vectors = vectors
        self._cache = cache
        self._access_log = access_log
        self._reranker = reranker
        self._recipe = recipe
        self._contradictions = contradictions
        self._backgrounds = backgrounds or Backgrounds()
        # An answer of another recipe is another answer.
        self._kind = f"recall-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:8]}"

    async def recall(self, request: RecallRequest) -> RecallReply:
        """The memories that answer `request` among those that its principal may read.

        Raises:
            InvalidMessage: the time zone is unknown, or `as_of` is outside its calendar.
            Unavailable: the hot tier cannot be read.
        """
        watch = Stopwatch()
        asked_at = datetime.now(UTC)
        # The answer does not depend on the context.
        bare = request.model_copy(update={"context": None})
        key = (
            None if request.explain else await self._cache.key(self._kind, request.principal, bare, request.namespaces)
        )
        kept = await self._cache.get(key, RecallReply)
        if kept is not None:
            reply = kept.model_copy(update={"took_ms": watch.total_ms(), "cached": True})
        else:
            reply = await self._answer(request, watch)
            if not reply.degraded:
                await self._cache.put(key, reply)
        self._access_log.note(
            Answered(
                request.principal,
                tuple((one.memory_id, one.namespace) for one in (*reply.memories, *reply.facts)),
                reply.took_ms,
            )
        )
        # What was believed once is not corrected by what is known now.
        if self._contradictions is not None and request.context and request.as_of is None:
            found = tuple(one.memory_id for one in reply.memories)
            self._contradictions.note(Heard(request.principal, request.context, found, asked_at))
        return reply

    async def _answer(self, request: RecallRequest, watch: Stopwatch) -> RecallReply:
        watch.lap("cache")
        window = time_meant(request.query, request.timezone, request.as_of)
        vector = await self._vectors.of(request.query)
        watch.lap("embed")
        aside = not (request.filter.networks or request.filter.types or request.filter.sources)
        async with self._hot_tier.reading(request.principal) as reading:
            question = Question(
                text=request.query,
                vector=vector.vector,
                model=vector.model,
                namespaces=request.namespaces,
                names=entities.candidates(request.query),
                filter_names=_keys(request.filter.entities),
                filter=_filter(request, window),
                limit=max(CANDIDATES, request.k) + (BESIDE if aside else 0),
                around=AROUND,
            )
            found = await reading.search(question)
            watch.lap("sql")
            scored = self._score(request, found, window, vector)
            floor = self._floor(request)
            above = [one for one in scored if one.relevance >= floor]
            watch.lap("fuse")
            hopped = await self._hop(reading, request, question, above, found)
            paths = {one.scored.id: one.path for one in hopped}
            if hopped:
                scored += [one.scored for one in hopped]
                above += [one.scored for one in hopped if one.scored.relevance >= floor]
                above.sort(key=lambda one: -one.relevance)
            watch.lap("hop")
            rows = await _rows(reading, above, max(request.k, RERANKED), aside)
            if request.as_of is None:
                # What ended since the search found it was true then: an answer is of one moment.
                rows = {id_: replace(row, invalid_at=None, superseded_by=None) for id_, row in rows.items()}
            ranked = sorted(
                (
                    Ranked(rows[one.id], one, salient(one.relevance, rows[one.id].importance), path=paths.get(one.id))
                    for one in above
                    if one.id in rows
                ),
                key=lambda one: (-one.score, one.memory.id),
            )
        facts = [one for one in ranked if aside and one.memory.source_kind == SOURCE_KIND]
        ranked = [one for one in ranked if not aside or one.memory.source_kind != SOURCE_KIND]
        watch.lap("rows")
        # After the transaction: it must not wait for a model.
        degraded = list(vector.degraded)
        if request.rerank and ranked:
            ranked, in_time = await self._rerank(request.query, ranked)
            degraded += [] if in_time else ["reranker"]
        watch.lap("rerank")
        budget = min(request.budget_tokens or MOST_TOKENS, MOST_TOKENS)
        chosen, spent, over_budget = pack(
            ranked[: request.k], lambda one: tokens(content_of(one.memory, request)), budget
        )
        around: dict[UUID, tuple[Memory, ...]] = {}
        if request.neighbours:
            async with self._hot_tier.reading(request.principal) as reading:
                near = await reading.around([one.memory for one in chosen], request.neighbours, request.as_of)
            around, price = fit(chosen, near, request, budget - spent)
            spent += price
        ranks = ranks_of(found.candidates) if request.explain else {}

        def told(one: Ranked) -> RecalledMemory:
            turns = tuple(view(turn, content_of(turn, request)) for turn in around.get(one.memory.id, ()))
            why = explanation(one, ranks.get(one.memory.id)) if request.explain else None
            return recalled(one, content_of(one.memory, request)).model_copy(
                update={"neighbours": turns, "explanation": why}
            )

        # What the memories leave of the budget: a fact is in nobody's place.
        best_facts = facts[: -(-request.k // MEMORIES_PER_FACT)] if request.facts else []
        beside, price, left_out = pack(best_facts, lambda one: tokens(content_of(one.memory, request)), budget - spent)
        spent += price
        watch.lap("pack")
        return RecallReply(
            memories=tuple(map(told, chosen)),
            facts=tuple(map(told, beside)),
            took_ms=watch.total_ms(),
            degraded=tuple(degraded),
            dropped=Dropped(
                below_floor=len(scored) - len(above),
                beyond_k=max(0, len(above) - len(facts) - request.k),
                over_budget=over_budget + left_out,
            ),
            floor=floor,
            tokens=spent,
            time=None if window is None else TimeWindow(since=window.start, until=window.end, text=window.text),
            stages_ms=watch.laps() if request.explain else {},
        )

    def _score(
        self, request: RecallRequest, found: Found, window: times.TimeReading | None, vector: QueryVector
    ) -> list[Scored]:
        script = terms.script(request.query)
        evidence = [_evidence(candidate, window, script) for candidate in found.candidates]
        if request.fusion is FusionMethod.RRF:
            return rrf(evidence)
        best = found.best_lexical * (1 if says_something(request.query) else STOP_WORDS_DOUBT)
        return fuse(evidence, best, self._recipe, self._backgrounds.foreign(vector.vector, script))

    async def _hop(
        self, reading: Reading, request: RecallRequest, question: Question, above: Sequence[Scored], found: Found
    ) -> list[Hopped]:
        """What goes with the best, where the hop is asked for: nothing goes with nothing."""
        part = entity_hop.factor(request.hop, self._recipe.hop)
        if not part or not above:
            return []
        hits = above[: entity_hop.HITS]
        paths = await reading.hop(question, [one.id for one in hits], [one.id for one in found.candidates])
        return entity_hop.score(paths, hits, part)

    def _floor(self, request: RecallRequest) -> float:
        if request.min_score is not None:
            return request.min_score
        # A rank tells nothing about how good a hit is: there is no floor that would mean something.
        return 0.0 if request.fusion is FusionMethod.RRF else self._recipe.floor

    async def _rerank(self, query: str, ranked: Sequence[Ranked]) -> tuple[list[Ranked], bool]:
        """The best again in the order of the reranker; in the fused order when it is away or too slow."""
        head, tail = ranked[:RERANKED], ranked[RERANKED:]
        try:
            texts = [one.memory.content for one in head]
            scores = await self._reranker.rerank(query, texts, timeout_s=RERANK_LIMIT_S)
        except CortexError as error:
            log.warning("answer is not reranked", reason=error.message)
            return list(ranked), False
        if scores is None:
            return list(ranked), True
        # The scores stay those of the fusion, sorted: comparable with other answers, and falling.
        order = sorted(zip(scores, head, strict=True), key=lambda pair: (-pair[0], pair[1].memory.id))
        falling = sorted((one.score for one in head), reverse=True)
        head = [
            replace(one, score=score, reranked=float(value)) for score, (value, one) in zip(falling, order, strict=True)
        ]
        return [*head, *tail], True


def _filter(request: RecallRequest, window: times.TimeReading | None) -> Filter:
    asked = request.filter
    since, until = asked.since, asked.until
    if request.time_filter and window is not None:
        since = max(since, window.start) if since else window.start
        until = min(until, window.end) if until else window.end
    return Filter(
        networks=asked.networks,
        types=asked.types,
        sources=asked.sources,
        since=since,
        until=until,
        created_since=asked.created_since,
        created_until=asked.created_until,
        as_of=request.as_of,
    )


def _keys(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(key(name) for name in names)


def _evidence(candidate: Candidate, window: times.TimeReading | None, script: int) -> Evidence:
    return Evidence(
        id=candidate.id,
        lexical=candidate.lexical,
        cosine=candidate.cosine,
        thread=candidate.thread,
        turn=candidate.turn,
        named=candidate.named,
        in_time=window is not None and window.start <= candidate.valid_at < window.end,
        foreign=bool(script and candidate.script) and candidate.script != script,
    )


async def _rows(reading: Reading, above: Sequence[Scored], count: int, aside: bool) -> dict[UUID, Memory]:
    """The rows of those of `above` (best first) that may be among the best `count` by score, facts of sleep not counted
    where they come beside."""
    rows: dict[UUID, Memory] = {}
    wanted = count
    while True:
        some = _contenders(above, wanted)
        rows |= await reading.rows([one.id for one in some if one.id not in rows])
        facts = sum(row.source_kind == SOURCE_KIND for row in rows.values()) if aside else 0
        if wanted >= count + facts or wanted >= len(above):
            return rows
        wanted = count + facts


def _contenders(above: Sequence[Scored], count: int) -> list[Scored]:
    """Those of `above` (best first) that may be among the best `count` by score: importance is in the rows."""
    least = salient(above[count - 1].relevance, 0.0) if count <= len(above) else 0.0
    return [one for one in above if salient(one.relevance, 1.0) >= least]
