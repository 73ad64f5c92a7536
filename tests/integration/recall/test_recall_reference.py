"""Recall against a brute-force reference: every combination of what may be asked, over the same rows.

The reference looks at every row in turn: may it be read, was it true, does it pass the filter; then it scores by the
definitions of BM25 and cosine. Fusion, packing and the reading of times and names are pure functions with tests of
their own and are shared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Protocol, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.rpc.recall import FusionMethod, RecallFilter, RecallReply, RecallRequest
from cortex_extraction import entities, times
from cortex_extraction.folding import key
from cortex_ranking.fusion import Evidence, Recipe, Scored, fuse, rrf, salient
from cortex_ranking.packing import pack, tokens
from cortex_ranking.question import STOP_WORDS_DOUBT
from cortex_recall.recall import AROUND, BESIDE, CANDIDATES, Recall
from cortex_store import indexed_text, lexical, terms
from cortex_store.memories import Memory

ResultT = TypeVar("ResultT")

CLOSE = 5e-6
"""The database computes with 32 bits: what differs by less has no order that both must agree on."""


class Row(Protocol):
    org: str
    memory: Memory
    vector: Any
    entities: Sequence[Any]


class Remembered(Protocol):
    rows: Sequence[Row]
    granted: Mapping[tuple[str, str], tuple[str, ...]]
    embedder: Any
    recipe: Recipe
    recall: Recall

    def wait(self, answer: Awaitable[ResultT]) -> ResultT: ...


# The reference ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """One candidate."""

    row: Row
    evidence: Evidence


@dataclass(frozen=True)
class Expected:
    """What the reply must say. `memories`: id, score, ids around it."""

    memories: list[tuple[UUID, float, list[UUID]]]
    dropped: tuple[int, int, int]
    tokens: int
    floor: float
    window: times.TimeReading | None
    contributions: dict[UUID, Mapping[str, float]]
    raw: dict[UUID, Evidence]


class Reference:
    """Answers one request from the rows."""

    def __init__(self, known: Remembered, request: RecallRequest) -> None:
        self._known, self._request = known, request
        self._principal = request.principal
        self._of_org = [row for row in known.rows if row.org == request.principal.org]
        zone = ZoneInfo(request.timezone)
        moment = request.as_of.astimezone(zone) if request.as_of else datetime.now(zone)
        self._window = times.understand(request.query, moment)

    def answer(self) -> Expected:
        request = self._request
        scores = self._candidates()
        by_id = {score.row.memory.id: score for score in scores}
        evidence = [score.evidence for score in scores]
        if request.fusion is FusionMethod.RRF:
            _assume_clear(one.lexical for one in evidence)
            _assume_clear(one.cosine for one in evidence if one.cosine is not None)
            scored, floor = rrf(evidence), 0.0
        else:
            scored, floor = fuse(evidence, self._best(), self._known.recipe), self._known.recipe.floor
        floor = floor if request.min_score is None else request.min_score
        assume(not any(0 < abs(one.relevance - floor) < CLOSE for one in scored))
        above = [one for one in scored if one.relevance >= floor]

        def final(one: Scored) -> float:
            return salient(one.relevance, by_id[one.id].row.memory.importance)

        ranked = sorted(above, key=lambda one: (-final(one), one.id))
        _assume_clear(map(final, ranked[: request.k + 1]))
        chosen, spent, over = pack(
            ranked[: request.k], lambda one: self._price(by_id[one.id].row.memory), request.budget_tokens
        )
        around: dict[UUID, list[UUID]] = {}
        for one in chosen:
            left = None if request.budget_tokens is None else request.budget_tokens - spent
            turns, cost, _ = pack(self._around(by_id[one.id].row), self._price, left)
            around[one.id] = [turn.id for turn in turns]
            spent += cost
        return Expected(
            memories=[(one.id, final(one), around[one.id]) for one in chosen],
            dropped=(len(scored) - len(above), max(0, len(above) - request.k), over),
            tokens=spent,
            floor=floor,
            window=self._window,
            contributions={one.id: one.contributions for one in chosen},
            raw={score.row.memory.id: score.evidence for score in scores},
        )

    def _price(self, memory: Memory) -> int:
        return tokens(preview(memory.content) if self._request.brief else memory.content)

    # Who may read what, and when it was true

    def _lists(self, namespace: str) -> bool:
        """May the principal read the namespace? What one may write one may read."""
        me = self._principal
        if me.readable is None:
            return True
        return namespace in (
            *me.readable,
            *(me.writable or ()),
            *self._known.granted.get((me.org, me.subject), ()),
        )

    def _readable(self, memory: Memory) -> bool:
        if memory.visibility is Visibility.PRIVATE and memory.owner != self._principal.subject:
            return False
        return memory.visibility is Visibility.GLOBAL or self._lists(memory.namespace)

    def _true(self, memory: Memory) -> bool:
        as_of = self._request.as_of
        if memory.tier != "hot":
            return False
        if as_of is None:
            return memory.invalid_at is None
        return memory.valid_at <= as_of and (memory.invalid_at is None or memory.invalid_at > as_of)

    def _asked(self, namespace: str) -> bool:
        return self._request.namespaces is None or namespace in self._request.namespaces

    def _passes(self, row: Row) -> bool:
        asked, memory = self._request.filter, row.memory
        since, until = asked.since, asked.until
        if self._request.time_filter and self._window is not None:
            since = max(since or self._window.start, self._window.start)
            until = min(until or self._window.end, self._window.end)
        wanted = None if asked.entities is None else {key(name) for name in asked.entities}
        return (
            (asked.networks is None or memory.network in asked.networks)
            and (asked.types is None or memory.memory_type in asked.types)
            and (asked.sources is None or memory.source_kind in asked.sources)
            # What is known of a namespace's entities is for those who may list it.
            and (
                wanted is None or (self._lists(memory.namespace) and any(named.key in wanted for named in row.entities))
            )
            and (since is None or memory.valid_at >= since)
            and (until is None or memory.valid_at < until)
            and (asked.created_since is None or memory.created_at >= asked.created_since)
            and (asked.created_until is None or memory.created_at < asked.created_until)
        )

    # What it scores

    def _idfs(self) -> tuple[dict[int, float], float]:
        """Term hash to idf, and the best possible score: over the live memories of every namespace that the principal
        searches, whoever may read each of them."""
        everywhere = {row.memory.namespace for row in self._of_org if row.memory.visibility is Visibility.GLOBAL}
        live = [
            _impacts(row)
            for row in self._of_org
            if self._asked(row.memory.namespace)
            and (self._lists(row.memory.namespace) or row.memory.namespace in everywhere)
            and row.memory.tier == "hot"
            and row.memory.invalid_at is None
        ]
        memories = max(len(live), lexical.SMALLEST_STORE)
        idfs, best = {}, lexical.DOUBT * lexical.idf(1, memories)
        for term in map(lexical.term_hash, terms.content_terms(self._request.query)):
            held = [impacts[term] for impacts in live if term in impacts]
            idfs[term] = lexical.idf(len(held), memories)
            best += idfs[term] * (lexical.TOPS[lexical.bucket(max(held))] if held else 1.0)
        return idfs, best

    def _best(self) -> float:
        telling = set(terms.terms(self._request.query)) - terms.STOP_WORDS
        return self._idfs()[1] * (1 if telling else STOP_WORDS_DOUBT)

    def _candidates(self) -> list[Score]:
        idfs, _ = self._idfs()
        names = set(entities.candidates(self._request.query))
        script = terms.script(self._request.query)
        vector = self._known.embedder
        asked = None if vector.away else np.float16(vector.vector(self._request.query)).astype(np.float64)
        allowed: list[Score] = []
        for row in self._of_org:
            memory = row.memory
            if not (self._asked(memory.namespace) and self._readable(memory)):
                continue
            if not (self._true(memory) and self._passes(row)):
                continue
            own = terms.script(memory.content)
            roles = [named.role for named in row.entities if named.key in names and self._lists(memory.namespace)]
            in_session = memory.session is not None and memory.turn is not None
            evidence = Evidence(
                id=memory.id,
                lexical=_bm25(_impacts(row), idfs),
                cosine=None if asked is None or row.vector is None else _cosine(row.vector, asked),
                thread=hash((memory.namespace, memory.session)) if in_session else None,
                turn=memory.turn,
                named=max((2 if role == "speaker" else 1 for role in roles), default=0),
                in_time=self._window is not None and self._window.start <= memory.valid_at < self._window.end,
                foreign=bool(own and script) and own != script,
            )
            allowed.append(Score(row, evidence))
        narrowed = self._request.filter
        kinds = narrowed.networks or narrowed.types or narrowed.sources
        limit = max(CANDIDATES, self._request.k) + (0 if kinds else BESIDE)
        return _with_neighbours(allowed, {*_best(allowed, _by_words, limit), *_best(allowed, _by_meaning, limit)})

    # What is around it

    def _around(self, row: Row) -> list[Memory]:
        """Every turn around a memory that may be read and was true then; the filter is about answers, not context."""
        said, near = row.memory, self._request.neighbours
        if not near or said.session is None or said.turn is None:
            return []
        turns = [
            other.memory
            for other in self._of_org
            if (other.memory.namespace, other.memory.session) == (said.namespace, said.session)
            and other.memory.turn is not None
            and abs(other.memory.turn - said.turn) <= near
            and other.memory.id != said.id
            and self._readable(other.memory)
            and self._true(other.memory)
        ]
        return sorted(turns, key=lambda turn: (turn.turn, turn.id))


_KNOWN: dict[UUID, dict[int, float]] = {}


def _impacts(row: Row) -> dict[int, float]:
    memory = row.memory
    if memory.id not in _KNOWN:
        _KNOWN[memory.id] = indexed_text.document(memory, memory.valid_at).impacts
    return _KNOWN[memory.id]


def _bm25(impacts: Mapping[int, float], idfs: Mapping[int, float]) -> float:
    """In 32 bits and the order of the dimensions, as it is stored: equal sums stay equal."""
    total = np.float32(0)
    for term in sorted(set(impacts) & set(idfs), key=lambda term: term % 1_000_000_000):
        total = np.float32(total + np.float32(impacts[term]) * np.float32(idfs[term]))
    return float(total)


def _cosine(stored: Any, asked: Any) -> float:
    vector = stored.astype(np.float64)
    return float(vector @ asked / (np.linalg.norm(vector) * np.linalg.norm(asked)))


def _by_words(score: Score) -> float | None:
    return score.evidence.lexical or None


def _by_meaning(score: Score) -> float | None:
    return score.evidence.cosine


def _best(allowed: Sequence[Score], value: Callable[[Score], float | None], limit: int) -> list[UUID]:
    found = sorted(
        ((-number, score.evidence.id) for score in allowed if (number := value(score)) is not None),
    )
    if len(found) > limit:
        gap = found[limit][0] - found[limit - 1][0]
        assume(gap == 0 or gap > CLOSE)
    return [id_ for _, id_ in found[:limit]]


def _with_neighbours(allowed: Sequence[Score], found: set[UUID]) -> list[Score]:
    turns: dict[int, list[int]] = defaultdict(list)
    for score in allowed:
        if score.evidence.id in found and score.evidence.thread is not None:
            assert score.evidence.turn is not None
            turns[score.evidence.thread].append(score.evidence.turn)
    return [
        score
        for score in allowed
        if score.evidence.id in found
        or (
            score.evidence.thread is not None
            and any(abs(score.evidence.turn - turn) <= AROUND for turn in turns[score.evidence.thread])
        )
    ]


def _assume_clear(values: Iterable[float]) -> None:
    ordered = sorted(values)
    assume(not any(0 < high - low < CLOSE for low, high in pairwise(ordered)))


# What is asked ----------------------------------------------------------------------------------------------------

PEOPLE = ("ada", "omar", "lina", "guest", "editor", "nobody")
NAMESPACES = ("work", "home", "lab", "attic", "unknown")
WORDS = (
    "retries staging database deploy harbour sardines budget violin shed 5433 v1.2.3 svc-auth-2 auth the of "
    "Atlas Harbour Bridge Omar's Ada zeppelin الاجتماع قاعدة البيانات الميزانية سمك في سلمى القاهرة ?!"
).split()
TIMES = ("in March 2025", "before 2025", "since 12 June 2026", "last month", "في مارس 2025", "منذ 2026", "unchanged")
EXTREMES = tuple(datetime(year, 1, 1, tzinfo=UTC) for year in (1900, 1969, 1970, 9000))


def _some(values: Sequence[Any]) -> st.SearchStrategy[tuple[Any, ...] | None]:
    narrowed = st.lists(st.sampled_from(values), max_size=3, unique=True).map(tuple)
    return st.integers(0, 4).flatmap(lambda number: narrowed if number == 4 else st.none())


def _principals() -> st.SearchStrategy[Principal]:
    lists = st.one_of(
        st.just((None, None)),
        st.just(((), ())),
        st.tuples(_some(NAMESPACES), _some(NAMESPACES)),
    )
    return st.builds(
        lambda org, subject, narrowed: Principal(org=org, subject=subject, readable=narrowed[0], writable=narrowed[1]),
        st.sampled_from(("mine", "mine", "mine", "other", "empty")),
        st.sampled_from(PEOPLE),
        lists,
    )


def _rows(rows: Sequence[Row]) -> st.SearchStrategy[Memory]:
    return st.integers(0, len(rows) - 1).map(lambda number: rows[number].memory)


@st.composite
def _moments(draw: st.DrawFn, memories: st.SearchStrategy[Memory]) -> datetime:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(EXTREMES))
    memory, which = draw(memories), draw(st.integers(0, 2))
    moment = (memory.valid_at, memory.created_at, memory.invalid_at or memory.valid_at)[which]
    steps = (
        timedelta(),
        timedelta(microseconds=1),
        -timedelta(microseconds=1),
        timedelta(days=40),
        -timedelta(days=40),
    )
    return moment + draw(st.sampled_from(steps))


@st.composite
def _requests(draw: st.DrawFn, memories: st.SearchStrategy[Memory]) -> RecallRequest:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    # Half of the questions are about one memory: its words, and moments at its very bounds.
    if draw(st.booleans()):
        memories = st.just(draw(memories))
        words = [draw(memories).content[:200]]
    when = draw(st.one_of(st.just(""), st.just(""), st.sampled_from(TIMES)))
    maybe = st.integers(0, 4).flatmap(lambda number: _moments(memories) if number == 4 else st.none())
    return RecallRequest(
        principal=draw(_principals()),
        query=f"{' '.join(words)} {when}",
        namespaces=draw(_some(NAMESPACES)),
        k=draw(st.one_of(st.integers(1, 12), st.integers(1, 100))),
        budget_tokens=draw(st.one_of(st.none(), st.integers(1, 400))),
        filter=RecallFilter(
            networks=draw(_some(list(Network))),
            types=draw(_some(list(MemoryType))),
            sources=draw(_some(("chat", "mail", "live_infra", "nowhere"))),
            entities=draw(_some(("Atlas", "HARBOUR  bridge", "ada", "القاهره", "Nobody", "?"))),
            since=draw(maybe),
            until=draw(maybe),
            created_since=draw(maybe),
            created_until=draw(maybe),
        ),
        as_of=draw(st.one_of(st.none(), _moments(memories))),
        min_score=draw(st.one_of(st.none(), st.sampled_from((0.0, 0.1, 0.3, 1.0)))),
        explain=draw(st.booleans()),
        neighbours=draw(st.sampled_from((0, 0, 1, 2, 10))),
        brief=draw(st.booleans()),
        timezone=draw(st.sampled_from(("UTC", "Africa/Cairo", "America/Los_Angeles"))),
        time_filter=draw(st.booleans()),
        fusion=draw(st.sampled_from((FusionMethod.SCORE, FusionMethod.SCORE, FusionMethod.RRF))),
        rerank=draw(st.booleans()),
    )


# The test ---------------------------------------------------------------------------------------------------------


def _check(reply: RecallReply, request: RecallRequest, expected: Expected, rows: Mapping[UUID, Memory]) -> None:
    assert [one.memory_id for one in reply.memories] == [id_ for id_, _, _ in expected.memories]
    for one, (_, score, around) in zip(reply.memories, expected.memories, strict=True):
        memory = rows[one.memory_id]
        assert one.score == pytest.approx(score, abs=1e-4)
        assert one.content == (preview(memory.content) if request.brief else memory.content)
        for name in ("namespace", "importance", "source_kind", "speaker", "session", "turn", "owner", "visibility",
                     "network", "memory_type", "valid_at", "invalid_at", "created_at"):  # fmt: skip
            assert getattr(one, name) == getattr(memory, name), name
        assert [turn.memory_id for turn in one.neighbours] == around
        assert all(
            turn.content == (preview(content) if request.brief else content)
            for turn in one.neighbours
            for content in [rows[turn.memory_id].content]
        )
    dropped = reply.dropped
    assert (dropped.below_floor, dropped.beyond_k, dropped.over_budget) == expected.dropped
    assert reply.tokens == expected.tokens
    assert request.budget_tokens is None or reply.tokens <= request.budget_tokens
    assert reply.floor == expected.floor
    window = expected.window
    assert (reply.time and (reply.time.since, reply.time.until, reply.time.text)) == (
        window and (window.start, window.end, window.text)
    )


def _check_explanation(reply: RecallReply, expected: Expected) -> None:
    raw = expected.raw.values()
    for one in reply.memories:
        explained, evidence = one.explanation, expected.raw[one.memory_id]
        assert explained is not None
        assert explained.lexical == pytest.approx(evidence.lexical, abs=1e-4)
        assert (explained.cosine is None) == (evidence.cosine is None)
        assert explained.cosine is None or explained.cosine == pytest.approx(evidence.cosine, abs=1e-4)
        assert explained.contributions == pytest.approx(expected.contributions[one.memory_id], abs=1e-4)
        for rank, own, others in (
            (explained.lexical_rank, evidence.lexical or None, [other.lexical for other in raw]),
            (explained.cosine_rank, evidence.cosine, [other.cosine for other in raw if other.cosine is not None]),
        ):
            if own is None:
                assert rank is None
                continue
            better = sum(value > own + CLOSE for value in others)
            assert rank is not None
            assert better < rank <= sum(value >= own - CLOSE for value in others)


def test_recall_answers_as_a_look_at_every_row_does(remembered: Remembered) -> None:
    by_id = {row.memory.id: row.memory for row in remembered.rows}

    @settings(max_examples=150, deadline=None)
    @given(_requests(_rows(remembered.rows)), st.integers(0, 7))
    def holds(request: RecallRequest, chance: int) -> None:
        remembered.embedder.away = chance == 7
        expected = Reference(remembered, request).answer()
        reply = remembered.wait(remembered.recall.recall(request))
        _check(reply, request, expected, by_id)
        assert reply.degraded == (("vectors",) if remembered.embedder.away else ())
        assert not reply.cached
        assert bool(reply.stages_ms) == request.explain
        assert all((one.explanation is not None) == request.explain for one in reply.memories)
        if request.explain:
            _check_explanation(reply, expected)

    holds()


def test_bounds_are_exact(remembered: Remembered) -> None:
    """Times are half-open, `as_of` includes the moment in which something became true and not that of its end."""
    by_id = {row.memory.id: row.memory for row in remembered.rows}
    ended = [row for row in remembered.rows if row.memory.invalid_at is not None and row.memory.tier == "hot"]
    fields = (("valid_at", ("since", "until")), ("created_at", ("created_since", "created_until")))
    bounds = [(of, name) for of, names in fields for name in names] + [("valid_at", None), ("invalid_at", None)]

    @settings(max_examples=150, deadline=None)
    @given(st.sampled_from(bounds), st.integers(0, 99), st.sampled_from((-1000, -1, 0, 0, 1)))
    def holds(bound: tuple[str, str | None], number: int, step: int) -> None:
        of, name = bound
        rows = remembered.rows if name else ended
        row = rows[number % len(rows)]
        moment = getattr(row.memory, of) + timedelta(microseconds=step)
        request = RecallRequest(
            principal=Principal(org=row.org, subject=row.memory.owner or "ada"),
            query=row.memory.content[:200],
            k=100,
            filter=RecallFilter(**({name: moment} if name else {})),
            as_of=None if name else moment,
            min_score=0.0,
        )
        remembered.embedder.away = False
        expected = Reference(remembered, request).answer()
        _check(remembered.wait(remembered.recall.recall(request)), request, expected, by_id)

    holds()


def test_the_rows_hold_what_the_property_is_about(remembered: Remembered) -> None:
    """Otherwise it would prove little: each kind of row is there, and questions of all kinds have answers."""
    mine = [row for row in remembered.rows if row.org == "mine"]
    assert sum(row.vector is not None and row.memory.invalid_at is None for row in mine) > CANDIDATES
    kinds = Counter[str]()
    for row in mine:
        memory = row.memory
        kinds[memory.visibility] += 1
        kinds["no vector"] += row.vector is None
        kinds["ended"] += memory.invalid_at is not None
        kinds["never was"] += memory.invalid_at == memory.valid_at
        kinds["cold"] += memory.tier == "cold"
        kinds["past with a vector"] += memory.invalid_at is not None and row.vector is not None
        kinds["Arabic"] += terms.script(memory.content) == 2
        kinds["turn"] += memory.session is not None and memory.turn is not None
        kinds["no turn"] += memory.session is not None and memory.turn is None
        kinds["says a name"] += any(named.role == "mention" for named in row.entities)
    assert min(kinds.values()) >= 3, kinds
    assert len(kinds) == 12
