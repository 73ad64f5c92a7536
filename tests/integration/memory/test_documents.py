"""Documents on a real database: what changes, what stays, who reads it, and what a crash leaves."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from cortex_contracts.errors import CortexError, ErrorCode, InvalidMessage, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.documents import DocumentDraft, DocumentRetained
from cortex_contracts.messages.memory import MemoryDraft, Visibility, WriteDecision
from cortex_contracts.rpc.documents import DocumentReply, DocumentRequest, DocumentsRequest
from cortex_contracts.rpc.ingest import Access
from cortex_infra.bootstrap import with_database
from cortex_ingest.changes import Changes
from cortex_ingest.documents import BATCH, Documents
from cortex_ingest.retain import Retain
from cortex_providers.embedder import TextKind, Vectors
from cortex_recall import documents as reading
from cortex_store import documents, grants, memories, memory_index
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.ids import uuid7
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer
from cortex_writing.announcements import Announcements

ME = Principal(org="local", subject="me")
WORDS = "retries limit staging database port key harbour review launch budget owner train window shed meeting".split()
START = datetime(2024, 1, 1, tzinfo=UTC)


class HashedTexts:
    """An embedder that remembers what it was asked, and can be away after so many batches."""

    model = "hashed-texts"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.batches_left = 1_000_000

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        if not self.batches_left:
            raise Unavailable("the embedder is away")
        self.batches_left -= 1
        self.asked += texts
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(384) for seed in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Bumped:
    """Which namespaces readers were told of."""

    def __init__(self) -> None:
        self.namespaces: list[str] = []

    async def bump(self, org: str, namespace: str) -> None:
        self.namespaces.append(namespace)


class Library:
    """The use cases that write and read documents."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embedder = HashedTexts()
        self.bumped = Bumped()
        announcements = Announcements(lambda: None, self.bumped)
        self.documents = Documents(database, self.embedder, announcements)
        self.statements = Retain(database, self.embedder, announcements)
        self.changes = Changes(database, self.embedder, announcements)
        self.reading = reading.Documents(database)

    async def put(
        self, content: str, document_id: str = "notes/atlas.md", principal: Principal = ME, **fields: Any
    ) -> DocumentRetained:
        draft = DocumentDraft(**({"namespace": "work", "document_id": document_id, "content": content} | fields))
        return await self.documents.retain(principal, draft)

    async def read(
        self, document_id: str = "notes/atlas.md", principal: Principal = ME, as_of: datetime | None = None
    ) -> DocumentReply:
        question = {"principal": principal, "namespace": "work", "document_id": document_id, "as_of": as_of}
        reply = await self.reading.document(DocumentRequest(**question))
        chunks = list(reply.chunks)
        last = reply
        while last.next is not None:
            last = await self.reading.document(DocumentRequest(**question, first=last.next))
            chunks += last.chunks
        return reply.model_copy(update={"chunks": tuple(chunks), "next": None})

    async def text(self, *where: Any, **more: Any) -> str:
        return "".join(chunk.text for chunk in (await self.read(*where, **more)).chunks)

    async def ids(self, *where: Any, **more: Any) -> list[UUID]:
        return [chunk.memory_id for chunk in (await self.read(*where, **more)).chunks]

    async def listed(self, principal: Principal = ME, **fields: Any) -> list[str]:
        reply = await self.reading.documents(DocumentsRequest(principal=principal, **fields))
        return [one.document_id for one in reply.documents]


@pytest.fixture
async def library(postgres: PostgresDatabase) -> AsyncIterator[Library]:
    database = Database(postgres.runtime_url)
    await database.open()
    async with database.unscoped() as connection:
        await check_embedding(connection, 384, HashedTexts.model)
    yield Library(database)
    await database.close()


def paragraphs(count: int, seed: int = 1) -> list[str]:
    dice = random.Random(seed)
    return [
        " ".join(f"{' '.join(dice.choices(WORDS, k=9))} {dice.randrange(10**6)}." for _ in range(dice.randint(2, 6)))
        for _ in range(count)
    ]


def joined(parts: Sequence[str]) -> str:
    return "\n\n".join(parts)


async def test_only_what_changed_is_embedded_and_the_rest_keeps_its_memories(library: Library) -> None:
    parts = paragraphs(120)
    first = await library.put(joined(parts))
    before = await library.ids()
    assert (first.version, first.added, first.kept, first.removed) == (1, first.chunks, 0, 0)
    assert len(before) == first.chunks > 20
    assert await library.text() == joined(parts)

    library.embedder.asked.clear()
    again = await library.put(joined(parts))
    assert again == first.model_copy(update={"added": 0, "kept": first.chunks, "unchanged": True})
    assert library.embedder.asked == []

    parts.insert(3, "Atlas moved to the harbour.")
    second = await library.put(joined(parts))
    after = await library.ids()
    assert second.version == 2
    assert 1 <= second.added <= 6
    assert len(library.embedder.asked) == second.added
    assert second.kept == first.chunks - second.removed
    assert [one for one in after if one in set(before)] == [one for one in before if one in set(after)]
    assert len(set(after) & set(before)) == second.kept
    assert await library.text() == joined(parts)
    async with library.database.transaction(ME) as connection:
        rows = await memories.by_ids(connection, after)
        # What moved is beside its new neighbours, in the rows and in the index.
        assert [rows[one].turn for one in after] == list(range(len(after)))
        session = rows[after[0]].session
        assert session is not None
        assert list(await memory_index.turns(connection, "work", session, 0, 9_999)) == after
        assert {row.source_ref for row in rows.values()} == {"notes/atlas.md"}
        gone = await memories.by_ids(connection, [one for one in before if one not in set(after)])
        assert all(row.invalid_at is not None for row in gone.values())


async def test_each_text_that_it_had_can_be_read_for_its_time(library: Library) -> None:
    dice = random.Random(7)
    parts = paragraphs(40, seed=3)
    texts = []
    for day in range(8):
        at = START + timedelta(days=day)
        await library.put(joined(parts), occurred_at=at)
        texts.append((at, joined(parts)))
        match dice.randrange(4):
            case 0:
                parts.insert(dice.randrange(len(parts)), paragraphs(1, seed=day + 50)[0])
            case 1:
                del parts[dice.randrange(len(parts)) :][:5]
            case 2:
                parts.reverse()
            case 3:
                parts[1:1] = parts[-3:]
    for at, text in texts:
        assert await library.text(as_of=at) == text
        assert await library.text(as_of=at + timedelta(hours=23)) == text
    assert await library.text() == texts[-1][1]
    with pytest.raises(Permanent, match="no such document then"):
        await library.read(as_of=START - timedelta(days=1))


async def test_after_a_crash_it_goes_on_where_it_was(library: Library) -> None:
    text = joined(paragraphs(700))
    seen: list[tuple[int, int]] = []

    async def die(done: int, total: int) -> None:
        seen.append((done, total))
        if done >= BATCH:
            raise RuntimeError("killed")

    draft = DocumentDraft(namespace="work", document_id="notes/atlas.md", content=text)
    with pytest.raises(RuntimeError, match="killed"):
        await library.documents.retain(ME, draft, die)
    assert [done for done, _ in seen] == [0, BATCH]
    with pytest.raises(Permanent, match="no such document"):
        await library.read()
    assert await library.listed() == []

    library.embedder.batches_left = 1
    with pytest.raises(Unavailable):
        await library.documents.retain(ME, draft)
    library.embedder.batches_left = 1_000
    retained = await library.documents.retain(ME, draft)
    assert len(library.embedder.asked) == retained.chunks == retained.added
    assert await library.text() == text

    # A crash on the way to another text, which is then given up for a third one.
    library.embedder.batches_left = 1
    with pytest.raises(Unavailable):
        await library.put(joined(paragraphs(700, seed=2)))
    assert await library.text() == text
    library.embedder.batches_left = 1_000
    third = await library.put(f"{text}\n\nThe end.")
    assert (third.version, third.added) == (2, 1)
    async with library.database.transaction(ME) as connection:
        live = await connection.fetchval("SELECT count(*) FROM memories WHERE invalid_at IS NULL")
    assert live == third.chunks


async def test_writers_of_one_document_leave_the_text_of_one_of_them(library: Library) -> None:
    texts = [joined(paragraphs(150, seed=seed)) for seed in (1, 1, 2, 3)]
    await asyncio.gather(*(library.put(text) for text in texts))
    assert await library.text() in texts
    async with library.database.transaction(ME) as connection:
        live = await connection.fetch("SELECT id FROM memories WHERE invalid_at IS NULL")
    assert {row["id"] for row in live} == set(await library.ids())


async def test_a_private_span_across_chunks_is_nowhere(
    library: Library, postgres: PostgresDatabase, postgres_server: PostgresServer
) -> None:
    hidden = [f"qxzjvk{number:05}" for number in range(600)]
    text = f"# Open\n\nBefore it.\n\n<private>\n\n# {hidden[0]}\n\n{joined(hidden)}\n\n</private>\n\nAfter it."
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *["qxzjvkAAAABBBBCCCC"] * 200, "-----END PRIVATE KEY-----"])
    retained = await library.put(f"{text}\n\n{key}", metadata={"password": "qxzjvk99"})
    assert (retained.redactions.private, retained.redactions.credentials) == (1, 2)
    assert await library.text() == "# Open\n\nBefore it.\n\n[private]\n\nAfter it.\n\n[redacted:private-key]"
    with pytest.raises(InvalidMessage, match="must not be stored"):
        await library.put("text", document_id="https://me:qxzjvk12345@example.org/notes")
    assert "qxzjvk" not in "\n".join(library.embedder.asked)
    connection = await asyncpg.connect(with_database(postgres_server.superuser_url, postgres.name))
    try:
        tables = await connection.fetch(
            "SELECT oid::regclass::text AS name FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        for table in tables:
            rows = await connection.fetch(f"SELECT t::text AS row FROM {table['name']} t")
            assert "qxzjvk" not in "".join(row["row"] for row in rows), table["name"]
    finally:
        await connection.close()


@pytest.mark.parametrize("content", [" \n\t ", "\x00 \u200b", "<private>all of it", "\ufeff"])
async def test_a_text_with_nothing_in_it_is_refused_and_changes_nothing(library: Library, content: str) -> None:
    await library.put("One paragraph.")
    with pytest.raises(InvalidMessage):
        await library.put(content)
    assert await library.text() == "One paragraph."


async def test_any_text_is_stored_as_it_is(library: Library) -> None:
    dice = random.Random(1)
    for text in (
        "".join(map(chr, dice.choices([*range(1, 256)], k=20_000))),
        "A" * 30_000,
        "a\x00b " * 3_000,
        "سطر\r\n" * 4_000,
        f"one{' ' * 50_000}two",
        "قاعدة البيانات. " * 2_000,
    ):
        await library.put(text)
        assert await library.text() == text.replace("\x00", " ").strip()


async def test_a_long_text_is_read_in_pages_that_fit_into_a_message(library: Library) -> None:
    text = "\n\n".join(f"{number} {'é' * 1_500}" for number in range(320))
    await library.put(text)
    question = DocumentRequest(principal=ME, namespace="work", document_id="notes/atlas.md")
    page = await library.reading.document(question)
    assert page.next is not None
    assert len(page.model_dump_json().encode()) < 1_000_000
    assert page.document.chars == len(text)
    assert await library.text() == text


async def test_what_was_derived_goes_with_its_document(library: Library) -> None:
    retained = await library.put(joined(paragraphs(30)), metadata={"author": "Ada"})
    chunks = await library.ids()
    other = Principal(org="local", subject="other")
    async with library.database.transaction(other) as connection:
        made = {
            name: memories.NewMemory(uuid7(), where, name, "sleep", 0.5, START, owner="other", visibility=visibility)
            for name, where, visibility in (
                ("summary", "work", Visibility.TEAM),
                ("of the summary", "elsewhere", Visibility.PRIVATE),
                ("unrelated", "work", Visibility.TEAM),
            )
        }
        for one in made.values():
            await memories.insert(connection, one)
        await documents.derived(connection, made["summary"].id, chunks[:3])
        await documents.derived(connection, made["of the summary"].id, [made["summary"].id])
        await documents.derived(connection, made["unrelated"].id, [made["of the summary"].id])
        await connection.execute("UPDATE memories SET invalid_at = NULL")
    async with library.database.transaction(ME) as connection:
        # Nothing goes while its sources are there.
        assert await documents.invalidate_derived(connection, chunks, START) == ()

    library.bumped.namespaces.clear()
    forgotten = await library.documents.forget(ME, "work", "notes/atlas.md")
    assert (forgotten.chunks, forgotten.derived, forgotten.changed) == (retained.chunks, 3, True)
    assert set(library.bumped.namespaces) == {"work", "elsewhere"}
    async with library.database.transaction(other) as connection:
        assert await connection.fetchval("SELECT count(*) FROM memories WHERE invalid_at IS NULL") == 0
        ops = await connection.fetchval(
            "SELECT array_agg(op) FROM memory_events WHERE memory_id = $1", made["of the summary"].id
        )
    assert ops == ["forget"]
    with pytest.raises(Permanent) as gone:
        await library.read()
    assert gone.value.code is ErrorCode.NOT_FOUND
    again = await library.documents.forget(ME, "work", "notes/atlas.md")
    assert (again.chunks, again.derived, again.changed) == (0, 0, False)

    back = await library.put(joined(paragraphs(30)))
    assert (back.version, back.added) == (2, back.chunks)
    assert await library.text() == joined(paragraphs(30))


async def test_statements_and_chunks_leave_each_other_alone(library: Library) -> None:
    stated = await library.statements.retain(ME, MemoryDraft(namespace="work", content="Atlas retries three times."))
    assert stated is not None
    await library.put("Atlas retries five times.")
    repeated = await library.statements.retain(ME, MemoryDraft(namespace="work", content="Atlas retries five times."))
    assert repeated is not None
    assert (repeated.decision, repeated.superseded) == (WriteDecision.UPDATE, (stated.memory_id,))
    [chunk] = await library.ids()
    assert chunk != repeated.memory_id
    async with library.database.transaction(ME) as connection:
        assert (await memories.by_ids(connection, [chunk]))[chunk].invalid_at is None


async def test_a_chunk_is_forgotten_and_improved_like_any_memory(library: Library) -> None:
    text = joined([f"# {name}\n\n{joined(paragraphs(8, seed))}" for seed, name in enumerate(("Harbour", "Shed"))])
    await library.put(text)
    chunks = (await library.read()).chunks
    inside = next(chunk for chunk in chunks if chunk.headings == "Shed")
    assert any(asked.startswith("Shed\n") for asked in library.embedder.asked)
    library.embedder.asked.clear()
    assert (await library.changes.improve(ME, [inside.memory_id])).improved == 1
    assert library.embedder.asked == [f"Shed\n{inside.text.strip()}"]
    await library.changes.forget(ME, inside.memory_id)
    await library.put(f"{text}\n\nThe end.")
    after = {chunk.memory_id: chunk for chunk in (await library.read()).chunks}
    assert after[inside.memory_id].invalid_at is not None
    assert await library.text() == f"{text}\n\nThe end."


READER = Principal(org="local", subject="reader", readable=(), writable=())
WRITER = Principal(org="local", subject="writer", readable=(), writable=())
REVOKED = Principal(org="local", subject="revoked", readable=(), writable=())
STRANGER = Principal(org="local", subject="stranger", readable=("other",), writable=("other",))
OTHER_ORG = Principal(org="theirs", subject="me")


@pytest.mark.parametrize(
    ("principal", "sees", "writes"),
    [
        (ME, {"team", "org", "mine"}, True),
        (READER, {"team", "org"}, False),
        (WRITER, {"team", "org"}, True),
        (STRANGER, {"org"}, False),
        (OTHER_ORG, set(), True),
        (REVOKED, {"org"}, False),
    ],
    ids=["owner", "granted reader", "granted writer", "stranger", "other org", "revoked"],
)
async def test_who_reads_and_writes_which_document(
    library: Library, principal: Principal, sees: set[str], writes: bool
) -> None:
    for name, visibility in (("team", "team"), ("org", "global"), ("mine", "private")):
        await library.put(f"The text of {name}.", document_id=name, visibility=visibility)
        await library.put(f"The other text of {name}.", document_id=name, visibility=visibility)
    async with library.database.transaction(ME) as connection:
        for agent, rights in (("reader", Access.READ), ("writer", Access.WRITE)):
            await grants.put(connection, grants.Grant("work", agent, rights))
    assert set(await library.listed(principal)) == sees
    for name in ("team", "org", "mine"):
        if name in sees:
            assert await library.text(name, principal) == f"The other text of {name}."
        else:
            with pytest.raises(CortexError) as refused:
                await library.read(name, principal)
            assert refused.value.code is ErrorCode.NOT_FOUND
        if principal is ME:
            continue
        if principal is WRITER and name in sees:
            assert (await library.documents.forget(principal, "work", name)).changed
            await library.put(f"The other text of {name}.", document_id=name, principal=principal)
            continue
        with pytest.raises(CortexError) as refused:
            await library.documents.forget(principal, "work", name)
        assert refused.value.code is (ErrorCode.FORBIDDEN if name in sees else ErrorCode.NOT_FOUND)
    async with library.database.transaction(principal) as connection:
        seen = await connection.fetch("SELECT document_id FROM documents")
        assert {row["document_id"] for row in seen} == sees
        assert await connection.fetchval("SELECT count(DISTINCT document) FROM document_chunks") == len(sees)
    if writes:
        await library.put("New.", document_id="new", principal=principal)
        assert await library.text("new", principal) == "New."
    else:
        with pytest.raises(CortexError) as refused:
            await library.put("New.", document_id="new", principal=principal)
        assert refused.value.code is ErrorCode.FORBIDDEN


async def test_who_may_read_it_can_change_for_all_texts_that_it_had(library: Library) -> None:
    guest = Principal(org="local", subject="guest")
    first = joined(paragraphs(20))
    await library.put(first, occurred_at=START)
    await library.put(f"The harbour.\n\n{first}", occurred_at=START + timedelta(days=1))
    ids = await library.ids()
    before = await library.ids(as_of=START)
    assert await library.ids(principal=guest) == ids

    library.embedder.asked.clear()
    private = await library.put(f"The harbour.\n\n{first}", visibility="private")
    assert (private.version, private.added, private.unchanged) == (2, 0, False)
    assert library.embedder.asked == []
    assert await library.ids() == ids
    async with library.database.transaction(guest) as connection:
        assert await memories.by_ids(connection, [*ids, *before]) == {}
        query = memory_index.Query({}, (), [1.0, *[0.0] * 383], HashedTexts.model, 500)
        assert await memory_index.search(connection, query) == ()
        past = memory_index.Query(
            {}, (), [1.0, *[0.0] * 383], HashedTexts.model, 500, filter=memory_index.Filter(as_of=START)
        )
        assert await memory_index.search(connection, past) == ()
    with pytest.raises(Permanent):
        await library.read(principal=guest)

    # The id is free for the others, and nobody can tell that it was taken.
    other = await library.put("Of the team.", principal=guest)
    assert (other.version, other.unchanged) == (1, False)
    assert await library.text(principal=guest) == "Of the team."
    assert await library.text() == f"The harbour.\n\n{first}"

    # And nobody takes for itself what is the team's.
    await library.put("Mine.", visibility="private", principal=Principal(org="local", subject="third"))
    assert await library.text(principal=guest) == "Of the team."

    await library.put(f"The harbour.\n\n{first}", document_id="second", visibility="private")
    await library.put(f"The harbour.\n\n{first}", document_id="second", visibility="global")
    assert await library.text("second", STRANGER) == f"The harbour.\n\n{first}"


async def test_documents_are_listed_in_order_and_in_pages(library: Library) -> None:
    for name in ("b/1", "a/2", "a/1", "a_3", "مذكرات/١"):
        await library.put("Text.", document_id=name)
    assert await library.listed() == ["a/1", "a/2", "a_3", "b/1", "مذكرات/١"]
    assert await library.listed(prefix="a/") == ["a/1", "a/2"]
    assert await library.listed(prefix="a_") == ["a_3"]
    assert await library.listed(namespaces=("other",)) == []
    page = await library.reading.documents(DocumentsRequest(principal=ME, limit=2, offset=1))
    assert ([one.document_id for one in page.documents], page.more) == (["a/2", "a_3"], True)
