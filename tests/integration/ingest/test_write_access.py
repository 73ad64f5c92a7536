"""Who may not write a namespace is told so before the text goes to a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft, Retained
from cortex_ingest.retain import Retain
from cortex_providers.embedder import TextKind, Vectors
from cortex_store.database import Database
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_writing.announcements import Announcements

READER = Principal(org="local", subject="reader", writable=("own",))


class AskedModel:
    """Keeps what it is asked, and is away."""

    model = "asked"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        self.asked += texts
        raise Unavailable("the embedder does not answer")


class NoCache:
    async def bump(self, org: str, namespace: str) -> None:
        pass


@pytest.fixture
async def database(postgres: PostgresDatabase) -> AsyncIterator[Database]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield database
    await database.close()


async def test_a_text_that_may_not_be_written_is_not_embedded(database: Database):
    model = AskedModel()
    retain = Retain(database, model, Announcements(lambda: None, NoCache()))
    with pytest.raises(Permanent, match="no access to write the namespace 'other'") as refused:
        await retain.retain(READER, MemoryDraft(namespace="other", content="The harbour opens at nine."))
    assert refused.value.code is ErrorCode.FORBIDDEN
    assert model.asked == []
    with pytest.raises(Unavailable):
        await retain.retain(READER, MemoryDraft(namespace="own", content="The harbour opens at nine."))
    assert len(model.asked) == 1


async def test_of_a_batch_only_what_may_be_written_is_embedded(database: Database):
    model = AskedModel()
    retain = Retain(database, model, Announcements(lambda: None, NoCache()))
    drafts = [
        MemoryDraft(namespace=namespace, content=f"The harbour {namespace} opens at nine.")
        for namespace in ("own", "other", "own")
    ]
    with pytest.raises(Unavailable):
        await retain.retain_batch(READER, drafts, embed=True, decide=False)
    assert len(model.asked) == 2
    assert not any("other" in text for text in model.asked)

    outcomes = await retain.retain_batch(READER, drafts, embed=False, decide=False)
    written, refused, _ = outcomes
    assert isinstance(written, Retained)
    assert isinstance(refused, CortexError)
    assert refused.code is ErrorCode.FORBIDDEN
