"""A recall that goes on from what answers to what goes with it; only when it is asked to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.rpc.recall import GetRequest, Hop, RecallFilter, RecallReply, RecallRequest
from cortex_extraction import entities as extraction
from cortex_extraction import relations
from cortex_providers.reranker import NoReranker, RerankerConfig
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import QueryVector
from cortex_recall.access_log import AccessLog
from cortex_recall.entity_hop import FACTOR
from cortex_recall.hot_tier import HotTier
from cortex_recall.provenance import Provenance
from cortex_recall.recall import Recall
from cortex_recall.result_cache import ResultCache
from cortex_store import entities, entity_relations, indexed_text, memories, memory_index
from cortex_store.database import Database
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_testkit.postgres_server import PostgresDatabase

ME = Principal(org="mine", subject="me")
YOU = Principal(org="mine", subject="you")
NOW = datetime(2026, 5, 4, tzinfo=UTC)


class NoVectors:
    async def of(self, query: str) -> QueryVector:
        return QueryVector(None, None)


class NothingKept:
    async def get_many(self, keys: list[str]) -> list[bytes | None]:
        return [None for _ in keys]

    async def put_many(self, values: dict[str, bytes], ttl_s: int) -> None:
        pass

    async def read(self, org: str, namespaces: tuple[str, ...] | None) -> str | None:
        return None


class Known:
    """A hot tier and what is asked of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.cache = ResultCache(NothingKept(), NothingKept(), 10.0)
        self.provenance = Provenance(database, self.cache)

    async def keep(self, content: str, principal: Principal = ME, **fields: Any) -> NewMemory:
        given: dict[str, Any] = {"namespace": "work", "owner": principal.subject, "valid_at": NOW} | fields
        memory = NewMemory(id=uuid7(), content=content, source_kind="chat", importance=0.5, **given)
        named = extraction.extract(content, speaker=memory.speaker)
        async with self._database.transaction(principal) as connection:
            await memories.insert(connection, memory)
            document = indexed_text.document(memory, memory.valid_at)
            await memory_index.index(connection, memory.id, document, None, None)
            links = [entities.Named(one.key, one.name, one.kind, one.role) for one in named]
            await entities.link(connection, memory.id, memory.namespace, links)
            stated = relations.extract(content, named)
            related = [entity_relations.Related(one.subject, one.predicate, one.object) for one in stated]
            await entity_relations.put(connection, memory.id, memory.namespace, related)
        return memory

    async def end(self, memory: NewMemory, at: datetime) -> None:
        async with self._database.transaction(ME) as connection:
            await memories.invalidate(connection, memory.id, at)

    async def recall(
        self, query: str, principal: Principal = ME, recipe: Recipe | None = None, **fields: Any
    ) -> RecallReply:
        recall = Recall(
            HotTier(self._database),
            NoVectors(),
            self.cache,
            AccessLog(self._database, lambda: None),
            NoReranker(RerankerConfig()),
            recipe or Recipe(),
        )
        return await recall.recall(RecallRequest(principal=principal, query=query, **fields))

    async def contents(self, query: str, principal: Principal = ME, **fields: Any) -> list[str]:
        return [one.content for one in (await self.recall(query, principal, **fields)).memories]


@pytest.fixture
async def known(postgres: PostgresDatabase) -> AsyncIterator[Known]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield Known(database)
    await database.close()


PARSER = "Who repaired the invoice parser?"
REPAIRED = "The invoice parser was repaired by Omar."
REPORTS = "Omar reports to Lina."
MUSCAT = "Lina lives in Muscat."


async def test_what_goes_with_an_answer_comes_when_asked_for_and_below_it(known: Known) -> None:
    for content in (REPAIRED, REPORTS, MUSCAT, "Redis restarts every night."):
        await known.keep(content)
    assert await known.contents(PARSER) == [REPAIRED]
    assert await known.contents(PARSER, hop=False, recipe=Recipe(hop=0.5)) == [REPAIRED]
    assert await known.contents(PARSER, recipe=Recipe(hop=0.5)) == [REPAIRED, REPORTS, MUSCAT]
    reply = await known.recall(PARSER, hop=True, explain=True)
    hit, near, far = reply.memories
    assert [one.content for one in reply.memories] == [REPAIRED, REPORTS, MUSCAT]
    assert hit.score > near.score >= far.score >= reply.floor
    assert hit.explanation is not None
    assert hit.explanation.hop is None
    assert near.explanation is not None
    assert near.explanation.hop == Hop(memory_id=hit.memory_id, entity="omar")
    assert near.explanation.contributions == {
        "hop": pytest.approx(FACTOR * sum(hit.explanation.contributions.values()), abs=1e-6)
    }
    assert far.explanation is not None
    assert far.explanation.hop == Hop(memory_id=hit.memory_id, entity="omar", predicate="manages", other="lina")
    assert "hop" in reply.stages_ms


async def test_nothing_goes_with_nothing(known: Known) -> None:
    for content in (REPAIRED, REPORTS, MUSCAT):
        await known.keep(content)
    assert await known.contents("How do glaciers calve?", hop=True) == []


async def test_the_floor_and_k_hold_for_what_goes_with_an_answer(known: Known) -> None:
    for content in (REPAIRED, REPORTS, MUSCAT):
        await known.keep(content)
    assert await known.contents(PARSER, hop=True, k=2) == [REPAIRED, REPORTS]
    (hit,) = (await known.recall(PARSER)).memories
    reply = await known.recall(PARSER, hop=True, min_score=round(hit.score * 0.9, 3))
    assert [one.content for one in reply.memories] == [REPAIRED]
    assert reply.dropped.below_floor == 2


async def test_what_others_keep_to_themselves_is_no_way_and_no_end(known: Known) -> None:
    await known.keep(REPAIRED)
    secret = await known.keep(REPORTS, visibility=Visibility.PRIVATE)
    await known.keep(MUSCAT)
    assert await known.contents(PARSER, hop=True) == [REPAIRED, REPORTS, MUSCAT]
    reply = await known.recall(PARSER, YOU, hop=True, explain=True)
    assert [one.content for one in reply.memories] == [REPAIRED]
    assert "lina" not in reply.model_dump_json().casefold()
    for other in (YOU, Principal(org="theirs", subject="me")):
        with pytest.raises(Exception, match="no such memory"):
            await known.provenance.get(GetRequest(principal=other, memory_id=secret.id))


async def test_what_ended_leads_on_only_as_of_its_time(known: Known) -> None:
    await known.keep(REPAIRED)
    ended = await known.keep(REPORTS)
    await known.keep(MUSCAT)
    await known.keep("Everybody heard Omar on the violin.", valid_at=NOW + timedelta(days=30))
    await known.end(ended, NOW + timedelta(days=10))
    assert await known.contents(PARSER, hop=True) == [REPAIRED, "Everybody heard Omar on the violin."]
    then = NOW + timedelta(days=9)
    assert await known.contents(PARSER, hop=True, as_of=then) == [REPAIRED, REPORTS, MUSCAT]
    assert await known.contents(PARSER, hop=True, as_of=NOW + timedelta(days=11)) == [REPAIRED]


async def test_the_filter_holds_for_what_is_reached(known: Known) -> None:
    await known.keep(REPAIRED)
    await known.keep(REPORTS)
    await known.keep(MUSCAT)
    asked = RecallFilter(entities=("Omar",))
    assert await known.contents(PARSER, hop=True, filter=asked) == [REPAIRED, REPORTS]
    await known.keep("Since May Omar is on leave.", namespace="hr")
    assert await known.contents(PARSER, hop=True, namespaces=("work",)) == [REPAIRED, REPORTS, MUSCAT]
    assert "Since May Omar is on leave." in await known.contents(PARSER, hop=True, namespaces=("work", "hr"))


async def test_get_shows_what_a_memory_names_and_states(known: Known) -> None:
    memory = await known.keep("Omar works at Helio Labs.")
    reply = await known.provenance.get(GetRequest(principal=ME, memory_id=memory.id))
    assert reply.entities == ("Helio Labs", "Omar")
    assert [(one.subject, one.predicate, one.object) for one in reply.relations] == [("Omar", "works_at", "Helio Labs")]
