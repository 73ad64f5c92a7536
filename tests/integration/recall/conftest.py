"""A hot tier with everything in it that a recall can be asked about, and the use case over it, in process.

Module-scoped and with an event loop of its own: a property test asks it hundreds of questions.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryType, Network, Visibility
from cortex_contracts.rpc.ingest import Access
from cortex_extraction.folding import key
from cortex_providers.reranker import NoReranker, RerankerConfig
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import QueryVector
from cortex_recall.access_log import AccessLog
from cortex_recall.hot_tier import HotTier
from cortex_recall.recall import Recall
from cortex_recall.result_cache import ResultCache
from cortex_store import entities, entity_relations, grants, indexed_text, memories, memory_index, terms
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.memories import Memory, NewMemory
from cortex_testkit.postgres_server import PostgresServer

ResultT = TypeVar("ResultT")

DIMENSION = 384
MODEL = "hashed-words"
ENGLISH = (
    "the a of and retries limit staging database port deploy key harbour sardines review launch budget owner garden "
    "violin train ticket window shed green meeting moved agreed blocked invoice cache queue token 5433 v1.2.3 rotate "
    "expires"
).split()
ARABIC = (
    "في من على الاجتماع قاعدة البيانات المفتاح الميناء السمك الميزانية القطار تذكرة الحديقة مكتبة يوم الاحد".split()
)
NAMES = ("Atlas", "Harbour Bridge", "svc-auth-2", "القاهرة")
SPEAKERS = ("Ada", "Omar", "Lina", "سلمى")
OWNERS = ("ada", "omar", "lina")
SOURCES = ("chat", "mail", "live_infra")
# How much each org has in each namespace. All of it together is more than a way returns, so its limit is reached.
SIZES = {"mine": {"work": 90, "home": 35, "lab": 45, "attic": 20}, "other": {"work": 20, "lab": 15}}


@dataclass(frozen=True, eq=False)
class Row:
    """One memory as it was written: the row and what was indexed beside it. `vector`: as it is stored, of 16 bits."""

    org: str
    memory: Memory
    vector: np.ndarray[Any, np.dtype[np.float16]] | None
    entities: tuple[entities.Named, ...]


class HashedWords:
    """An embedder: each term is a direction of its own, so texts that share terms are near each other."""

    def __init__(self) -> None:
        self.away = False
        self._known: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}

    async def of(self, query: str) -> QueryVector:
        return QueryVector(None if self.away else self.vector(query), MODEL)

    def vector(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        # A little of the whole text, so that no two texts are equally near to a third.
        total = 0.05 * self._direction(f"whole:{text}")
        for term in terms.analyse(text):
            total = total + self._direction(term)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def _direction(self, word: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        if word not in self._known:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            direction = np.random.default_rng(seed).standard_normal(DIMENSION)
            self._known[word] = direction / np.linalg.norm(direction)
        return self._known[word]


class NothingKept:
    """Neither a cache nor generations: every answer is made anew."""

    async def get_many(self, keys: list[str]) -> list[bytes | None]:
        return [None for _ in keys]

    async def put_many(self, values: dict[str, bytes], ttl_s: int) -> None:
        pass

    async def read(self, org: str, namespaces: tuple[str, ...] | None) -> str | None:
        return None


@dataclass(eq=False)
class Remembered:
    """The rows, who was granted what (org, agent) to namespaces, and the use case that answers from the rows."""

    rows: tuple[Row, ...]
    granted: Mapping[tuple[str, str], tuple[str, ...]]
    embedder: HashedWords
    recipe: Recipe
    recall: Recall
    hot_tier: HotTier
    loop: asyncio.AbstractEventLoop

    def wait(self, answer: Awaitable[ResultT]) -> ResultT:
        async def waiting() -> ResultT:
            return await answer

        return self.loop.run_until_complete(waiting())


@pytest.fixture(scope="module")
def remembered(postgres_server: PostgresServer) -> Iterator[Remembered]:
    loop = asyncio.new_event_loop()
    postgres = loop.run_until_complete(postgres_server.fresh())
    database = Database(postgres.runtime_url, pool_size=2)
    embedder = HashedWords()
    # Words that are unrelated have cosines about 0 here.
    recipe = Recipe(cosine_floor=0.15, cosine_span=0.6, cosine_softness=0.05)
    access_log = AccessLog(database, lambda: None)
    nothing = NothingKept()
    hot_tier = HotTier(database)
    recall = Recall(
        hot_tier,
        embedder,
        ResultCache(nothing, nothing, 10.0),
        access_log,
        NoReranker(RerankerConfig()),
        recipe,
    )
    granted = {("mine", "guest"): ("work",), ("mine", "editor"): ("home", "attic"), ("other", "guest"): ("lab",)}
    try:
        loop.run_until_complete(database.open())
        rows = loop.run_until_complete(_fill(database, postgres.migration_url, embedder, granted))
        yield Remembered(rows, granted, embedder, recipe, recall, hot_tier, loop)
    finally:
        loop.run_until_complete(database.close())
        loop.run_until_complete(postgres_server.drop(postgres))
        loop.close()


async def _fill(
    database: Database, owner_url: str, embedder: HashedWords, granted: Mapping[tuple[str, str], tuple[str, ...]]
) -> tuple[Row, ...]:
    dice = random.Random(20)
    vectors: dict[UUID, np.ndarray[Any, np.dtype[np.float16]]] = {}
    named: dict[UUID, tuple[entities.Named, ...]] = {}
    async with database.unscoped() as connection:
        await check_embedding(connection, DIMENSION, MODEL)
    for org, sizes in SIZES.items():
        written = [_memory(dice, namespace, number) for namespace, size in sizes.items() for number in range(size)]
        for writer in OWNERS:
            async with database.transaction(Principal(org=org, subject=writer)) as connection:
                for new in (one for one in written if (one.owner or OWNERS[0]) == writer):
                    named[new.id] = _named(dice, new)
                    vector = await _write(connection, dice, new, named[new.id], embedder)
                    if vector is not None:
                        vectors[new.id] = vector.astype(np.float16)
    for (org, agent), namespaces in granted.items():
        async with database.transaction(Principal(org=org, subject="ada")) as connection:
            for namespace in namespaces:
                access = Access.WRITE if agent == "editor" else Access.READ
                await grants.put(connection, grants.Grant(namespace, agent, access))
    async with database.unscoped() as connection:
        while await memory_index.fold(connection, 1_000):
            pass
    owner = await asyncpg.connect(owner_url)
    try:
        # The rows of these months were in the default partition until now.
        await owner.execute("SELECT ensure_memory_partitions('2026-01-15 00:00+00', 0)")
        linked = await owner.fetchval("SELECT count(*) FROM memory_entities")
        stored = await owner.fetch(f"SELECT m.org, {memories.COLUMNS} FROM memories m ORDER BY m.id")
    finally:
        await owner.close()
    assert len(stored) == sum(sum(sizes.values()) for sizes in SIZES.values())
    assert linked == sum(map(len, named.values()))
    return tuple(Row(row["org"], memories.from_row(row), vectors.get(row["id"]), named[row["id"]]) for row in stored)


async def _write(
    connection: Connection,
    dice: random.Random,
    new: NewMemory,
    named: tuple[entities.Named, ...],
    embedder: HashedWords,
) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    """A memory with the life it had since; returns its vector, none when it still waits for one."""
    await memories.insert(connection, new)
    vector = embedder.vector(indexed_text.meaning(new, None))
    embedded = dice.choice(("at once", "at once", "at once", "later", "after its end", "never"))
    given = vector if embedded == "at once" else None
    await memory_index.index(connection, new.id, indexed_text.document(new, new.valid_at), given, MODEL)
    await entities.link(connection, new.id, new.namespace, named)
    # The first two things that it names know each other.
    keys = list(dict.fromkeys(one.key for one in named))
    if len(keys) > 1:
        knows = entity_relations.Related(keys[0], "knows", keys[1])
        await entity_relations.put(connection, new.id, new.namespace, [knows])
    if embedded == "later":
        await memory_index.add_vector(connection, new.id, vector, MODEL)
    fate = dice.choices(("lives", "ends", "ends and comes back", "is archived"), (66, 24, 5, 5))[0]
    if fate.startswith("ends"):
        # Sometimes before it became true, as a late correction says: then it never was.
        at = new.valid_at + timedelta(days=dice.uniform(-100, 500))
        await memories.invalidate(connection, new.id, at)
    if fate == "ends and comes back":
        await memories.restore(connection, new.id)
    if embedded == "after its end":
        await memory_index.add_vector(connection, new.id, vector, MODEL)
    if fate == "is archived":
        await connection.execute("UPDATE memories SET tier = 'cold' WHERE id = $1", new.id)
    return None if embedded == "never" else vector


def _memory(dice: random.Random, namespace: str, number: int) -> NewMemory:
    vocabulary = ARABIC if dice.random() < 0.3 else ENGLISH
    said = dice.choices(vocabulary, k=dice.randint(1, 14))
    if dice.random() < 0.3:
        said.insert(dice.randrange(len(said) + 1), dice.choice(NAMES))
    # The same session name in every namespace and org; some turns twice, some missing.
    in_session = dice.random() < 0.6
    owner = dice.choice((*OWNERS, None))
    # Nothing in the attic is for everybody: that it exists is known to its readers only.
    visible = [Visibility.TEAM, Visibility.TEAM, Visibility.TEAM if namespace == "attic" else Visibility.GLOBAL]
    if owner is not None and dice.random() < 0.3:
        visible = [Visibility.PRIVATE]
    return NewMemory(
        id=_uuid7(dice, datetime(2024, 2, 1, tzinfo=UTC) + timedelta(days=dice.uniform(0, 1_000))),
        namespace=namespace,
        content=" ".join(said) if dice.random() < 0.9 else "\n\n".join(said * 8),
        source_kind=dice.choice(SOURCES),
        importance=round(dice.random(), 3),
        valid_at=datetime(2023, 12, 1, tzinfo=UTC) + timedelta(days=dice.uniform(0, 1_200)),
        owner=owner,
        visibility=dice.choice(visible),
        network=dice.choice(list(Network)),
        memory_type=dice.choice(list(MemoryType)),
        session=dice.choice(("standup", "dinner")) if in_session else None,
        turn=max(0, number // 2 + dice.choice((0, 0, 0, -1, 1))) if in_session and dice.random() < 0.9 else None,
        speaker=dice.choice((*SPEAKERS, None)),
    )


def _named(dice: random.Random, new: NewMemory) -> tuple[entities.Named, ...]:
    found = [entities.Named(key(name), name, "quoted", "mention") for name in NAMES if name in new.content]
    if new.speaker:
        found.append(entities.Named(key(new.speaker), new.speaker, "person_or_thing", "speaker"))
        if dice.random() < 0.1:
            found.append(entities.Named(key(new.speaker), new.speaker, "person_or_thing", "mention"))
    return tuple(found)


def _uuid7(dice: random.Random, at: datetime) -> UUID:
    milliseconds = int(at.timestamp() * 1000)
    low = dice.getrandbits(62)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | dice.getrandbits(12) << 64 | 0b10 << 62 | low)
