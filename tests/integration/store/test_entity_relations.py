"""What a memory states is there for whom the memory is; the hop finds what goes with a memory, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.rpc.ingest import Access
from cortex_extraction.folding import key
from cortex_store import entities, entity_relations, grants, indexed_text, memories, memory_index
from cortex_store.database import Database
from cortex_store.entity_relations import COMMON, Path, Related
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_store.memory_index import Filter
from cortex_testkit.postgres_server import PostgresDatabase

NOW = datetime(2026, 5, 4, tzinfo=UTC)
ME = Principal(org="mine", subject="me")
YOU = Principal(org="mine", subject="you")
READER = Principal(org="mine", subject="reader", readable=("work",), writable=())


async def keep(
    database: Database,
    content: str,
    names: Sequence[str],
    *,
    states: Sequence[tuple[str, str, str]] = (),
    principal: Principal = ME,
    speaker: str | None = None,
    **fields: Any,
) -> NewMemory:
    given: dict[str, Any] = {"namespace": "work", "owner": principal.subject, "valid_at": NOW} | fields
    memory = NewMemory(id=uuid7(), content=content, source_kind="chat", importance=0.5, speaker=speaker, **given)
    named = [entities.Named(key(name), name, "person_or_thing", "mention") for name in names]
    if speaker:
        named.append(entities.Named(key(speaker), speaker, "person_or_thing", "speaker"))
    async with database.transaction(principal) as connection:
        await memories.insert(connection, memory)
        document = indexed_text.document(memory, memory.valid_at)
        await memory_index.index(connection, memory.id, document, None, None)
        await entities.link(connection, memory.id, memory.namespace, named)
        related = [Related(key(one), predicate, key(other)) for one, predicate, other in states]
        await entity_relations.put(connection, memory.id, memory.namespace, related)
    return memory


async def ways(
    database: Database,
    *hits: NewMemory,
    principal: Principal = ME,
    known: Sequence[UUID] = (),
    namespaces: Sequence[str] | None = None,
    **narrowed: Any,
) -> tuple[Path, ...]:
    async with database.transaction(principal) as connection:
        ids = [one.id for one in hits]
        return await entity_relations.hop(connection, ids, known, namespaces, Filter(**narrowed))


def reached(paths: Sequence[Path]) -> set[UUID]:
    return {path.memory for path in paths}


async def test_what_a_memory_states_is_there_for_whom_the_memory_is(database: Database) -> None:
    states = [("Omar", "works_at", "Helio")]
    shared = await keep(database, "Omar works at Helio", ("Omar", "Helio"), states=states)
    own = await keep(database, "Omar works at Helio", ("Omar", "Helio"), states=states, visibility=Visibility.PRIVATE)
    for principal, sees in ((ME, {shared.id, own.id}), (YOU, {shared.id}), (replace_org(ME), set())):
        async with database.transaction(principal) as connection:
            rows = await connection.fetch("SELECT memory FROM entity_relations")
            assert {row["memory"] for row in rows} == sees
            for memory in (shared, own):
                expected = (Related("Omar", "works_at", "Helio"),) if memory.id in sees else ()
                assert await entity_relations.of_memory(connection, memory.id) == expected
    async with database.unscoped() as connection:
        assert await connection.fetch("SELECT memory FROM entity_relations") == []


async def test_ends_that_are_not_known_and_repeats_are_left_out(database: Database) -> None:
    states = [("Omar", "works_at", "Helio"), ("Omar", "works_at", "Helio"), ("Omar", "knows", "Nobody")]
    memory = await keep(database, "Omar works at Helio", ("Omar", "Helio"), states=states)
    async with database.transaction(ME) as connection:
        assert len(await entity_relations.of_memory(connection, memory.id)) == 1
        await entity_relations.remove(connection, memory.id)
        assert await entity_relations.of_memory(connection, memory.id) == ()
    for related in (Related("omar", "Works At", "helio"), Related("omar", "is", "omar")):
        with pytest.raises(asyncpg.CheckViolationError):
            async with database.transaction(ME) as connection:
                await entity_relations.put(connection, memory.id, "work", [related])


async def test_nobody_states_anything_in_the_name_of_a_memory_that_it_may_not_read(database: Database) -> None:
    memory = await keep(database, "Omar, Helio", ("Omar", "Helio"), visibility=Visibility.PRIVATE)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.transaction(YOU) as connection:
            await entity_relations.put(connection, memory.id, "work", [Related("omar", "works_at", "helio")])


async def test_a_hop_goes_over_a_shared_name(database: Database) -> None:
    hit = await keep(database, "Sami owns the Billing API", ("Sami", "Billing API"))
    other = await keep(database, "Sami is away until June", ("Sami",))
    await keep(database, "nothing of the kind", ("Omar",))
    (path,) = await ways(database, hit)
    assert (path.memory, path.hit, path.name, path.shared) == (other.id, hit.id, "sami", 2)
    assert (path.predicate, path.other, path.other_shared) == (None, None, None)
    assert await ways(database, hit, known=[other.id]) == ()
    assert await ways(database, hit, other) == ()


async def test_who_only_speaks_is_not_what_a_memory_is_about(database: Database) -> None:
    hit = await keep(database, "good morning", (), speaker="Sami")
    about = await keep(database, "ask Sami", ("Sami",))
    await keep(database, "good evening", (), speaker="Sami")
    stated = await keep(database, "I work at Helio", ("Helio",), speaker="Sami", states=[("Sami", "works_at", "Helio")])
    assert await ways(database, hit) == ()
    assert reached(await ways(database, about)) == {stated.id}


async def test_a_hop_goes_over_a_relation_to_what_is_about_its_other_end(database: Database) -> None:
    hit = await keep(database, "Omar fixed it", ("Omar",))
    stating = await keep(database, "Omar reports to Lina", ("Omar", "Lina"), states=[("Lina", "manages", "Omar")])
    far = await keep(database, "Lina is in Muscat", ("Lina", "Muscat"))
    await keep(database, "Muscat is hot", ("Muscat",))
    found = await ways(database, hit)
    assert reached(found) == {stating.id, far.id}
    (path,) = (one for one in found if one.memory == far.id)
    assert (path.name, path.shared, path.predicate, path.other, path.other_shared) == ("omar", 2, "manages", "lina", 2)
    async with database.transaction(ME) as connection:
        await memories.invalidate(connection, stating.id, NOW + timedelta(days=9))
    assert await ways(database, hit) == ()
    assert far.id in reached(await ways(database, hit, as_of=NOW + timedelta(days=8)))
    assert await ways(database, hit, as_of=NOW + timedelta(days=9)) == ()
    async with database.transaction(ME) as connection:
        await memories.restore(connection, stating.id)
    assert reached(await ways(database, hit)) == {stating.id, far.id}


async def test_what_is_true_only_later_is_not_reached_and_leads_nowhere_then(database: Database) -> None:
    hit = await keep(database, "Omar fixed it", ("Omar",))
    await keep(
        database,
        "Omar reports to Lina",
        ("Omar", "Lina"),
        states=[("Lina", "manages", "Omar")],
        valid_at=NOW + timedelta(days=5),
    )
    far = await keep(database, "Lina is in Muscat", ("Lina",))
    assert far.id in reached(await ways(database, hit, as_of=NOW + timedelta(days=5)))
    assert await ways(database, hit, as_of=NOW + timedelta(days=4)) == ()
    assert await ways(database, hit, as_of=NOW - timedelta(days=1)) == ()


async def test_what_is_private_is_neither_reached_nor_a_bridge_nor_counted_for_others(database: Database) -> None:
    hit = await keep(database, "Omar fixed it", ("Omar",))
    secret = await keep(
        database,
        "Omar is married to Sara",
        ("Omar", "Sara"),
        states=[("Omar", "married_to", "Sara")],
        visibility=Visibility.PRIVATE,
    )
    sara = await keep(database, "Sara plays the violin", ("Sara",))
    assert reached(await ways(database, hit)) == {secret.id, sara.id}
    assert await ways(database, hit, principal=YOU) == ()
    assert await ways(database, secret, principal=YOU) == (), "an id that was guessed opens nothing"
    plain = await keep(database, "Omar is away", ("Omar",))
    (path,) = await ways(database, hit, principal=YOU)
    assert (path.memory, path.shared) == (plain.id, 2)


async def test_a_namespace_that_is_not_readable_is_no_way(database: Database) -> None:
    async with database.transaction(ME) as connection:
        await grants.put(connection, grants.Grant("work", "reader", Access.READ))
    hit = await keep(database, "Omar fixed it", ("Omar",))
    await keep(database, "Omar is ill", ("Omar",), namespace="hr")
    known_to_all = await keep(
        database,
        "Omar leads Atlas",
        ("Omar", "Atlas"),
        namespace="hr",
        states=[("Omar", "manages", "Atlas")],
        visibility=Visibility.GLOBAL,
    )
    await keep(database, "Atlas is late", ("Atlas",))
    assert known_to_all.id in reached(await ways(database, hit))
    # What a namespace names is for its readers, even where one of its memories is for everybody.
    assert await ways(database, hit, principal=READER) == ()
    assert await ways(database, hit, namespaces=("work",)) == ()
    assert await ways(database, hit, principal=replace_org(ME)) == ()


async def test_the_same_name_in_another_searched_namespace_is_shared(database: Database) -> None:
    hit = await keep(database, "Omar fixed it", ("Omar",))
    other = await keep(database, "OMAR is ill", ("OMAR",), namespace="home")
    assert reached(await ways(database, hit, namespaces=("work", "home"))) == {other.id}


async def test_the_filter_narrows_what_is_reached_not_how_common_a_name_is(database: Database) -> None:
    hit = await keep(database, "Omar fixed it", ("Omar",))
    early = await keep(database, "Omar was away", ("Omar",), valid_at=NOW - timedelta(days=9))
    (path,) = await ways(database, hit, until=NOW)
    assert (path.memory, path.shared) == (early.id, 2)
    assert await ways(database, hit, since=NOW) == ()
    assert await ways(database, hit, sources=("mail",)) == ()
    assert reached(await ways(database, hit, sources=("chat",))) == {early.id}
    assert await ways(database, hit, entities=(uuid7(),)) == ()


async def test_what_everybody_names_leads_nowhere(database: Database) -> None:
    hit = await keep(database, "Omar 0", ("Omar",))
    for number in range(1, COMMON):
        await keep(database, f"Omar {number}", ("Omar",))
    found = await ways(database, hit)
    assert len(reached(found)) == COMMON - 1
    assert {path.shared for path in found} == {COMMON}
    await keep(database, "one too many", ("Omar",))
    assert await ways(database, hit) == ()


async def test_relations_move_with_their_memory_into_a_new_partition(
    postgres: PostgresDatabase, database: Database
) -> None:
    memory = await keep(database, "Omar works at Helio", ("Omar", "Helio"), states=[("Omar", "works_at", "Helio")])
    late = replace(memory, id=UUID(int=memory.id.int - (90 * 86_400_000 << 80)))
    async with database.transaction(ME) as connection:
        # Of three months ago, when there was no partition for it.
        await memories.insert(connection, late)
        named = [entities.Named(name, name, "person_or_thing", "mention") for name in ("omar", "helio")]
        await entities.link(connection, late.id, "work", named)
        await entity_relations.put(connection, late.id, "work", [Related("omar", "works_at", "helio")])
    owner = await asyncpg.connect(postgres.migration_url)
    try:
        where = "SELECT tableoid::regclass::text FROM memories WHERE id = $1"
        month = await owner.fetchval("SELECT to_timestamp(($1::bigint)::float8 / 1000)", late.id.int >> 80)
        assert await owner.fetchval(where, late.id) == "memories_default"
        await owner.execute("SELECT ensure_memory_partitions($1, 0)", month)
        assert await owner.fetchval(where, late.id) != "memories_default"
    finally:
        await owner.close()
    async with database.transaction(ME) as connection:
        assert len(await entity_relations.of_memory(connection, late.id)) == 1


def replace_org(principal: Principal) -> Principal:
    return principal.model_copy(update={"org": "theirs"})
