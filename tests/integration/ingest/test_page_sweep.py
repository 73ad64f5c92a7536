"""The sweep: chunks without a vector get one, once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import pytest

from cortex_contracts.errors import Permanent, Unavailable
from cortex_ingest.sweep import Sweep
from cortex_providers.embedder import TextKind, Vectors
from cortex_store import page_overview, pages, vaults
from cortex_store.database import Database
from cortex_store.embedding import check_embedding
from cortex_store.errors import ModelChanged
from cortex_store.pages import NewChunk, NewPage
from cortex_testkit.eventually import eventually


class Embedder(Protocol):
    model: str
    fail_after: int | None
    texts: list[str]

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors: ...


class Vault(Protocol):
    database: Database
    embedder: Embedder


class Picky:
    """An embedder that refuses one text."""

    def __init__(self, embedder: Embedder, refused: str) -> None:
        self._embedder = embedder
        self._refused = refused
        self.model = embedder.model

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        if any(self._refused in text for text in texts):
            raise Permanent("the model does not take this text")
        return await self._embedder.embed(texts, kind)


async def write(vault: Vault, count: int, *, org: str = "local", slug: str = "plan") -> None:
    """A page whose passages have no vectors."""
    page = NewPage(
        vault="notes",
        slug=slug,
        path=None,
        title="The plan",
        type="note",
        body="",
        content_hash=b"",
        chunks=tuple(NewChunk(f"Passage {number} of {slug}.", ("Part",), None) for number in range(count)),
    )
    async with vault.database.transaction(org) as connection:
        await pages.upsert(connection, page)


async def stale(vault: Vault, org: str = "local") -> int:
    async with vault.database.transaction(org) as connection:
        return (await page_overview.counts(connection)).stale


def sweep(vault: Vault, embedder: Any = None) -> Sweep:
    return Sweep(vault.database, embedder or vault.embedder, hour=3)


async def test_stale_chunks_of_every_org_are_embedded_in_batches(vault: Vault) -> None:
    await write(vault, 150)
    await write(vault, 3, org="stranger")
    assert await sweep(vault).sweep() == 153
    assert (await stale(vault), await stale(vault, "stranger")) == (0, 0)
    assert len(vault.embedder.texts) == 153
    # As a write would have embedded it: with the title and the headings.
    assert "The plan" in vault.embedder.texts[0]
    assert "Part" in vault.embedder.texts[0]
    assert await sweep(vault).sweep() == 0
    assert len(vault.embedder.texts) == 153


async def test_of_two_replicas_one_works(vault: Vault) -> None:
    await write(vault, 200)
    async with vault.database.transaction("local") as connection:
        assert await vaults.try_lock_sync(connection, "/sweep")
        assert await sweep(vault).sweep() == 0
    embedded = await asyncio.gather(sweep(vault).sweep(), sweep(vault).sweep())
    assert sorted(embedded)[-1] == 200
    assert len(vault.embedder.texts) == 200


async def test_a_text_that_the_model_refuses_holds_up_no_other(vault: Vault) -> None:
    await write(vault, 100)
    assert await sweep(vault, Picky(vault.embedder, "Passage 7 ")).sweep() == 99
    assert await stale(vault) == 1
    assert await sweep(vault).sweep() == 1


async def test_what_was_embedded_before_the_embedder_went_away_stays(vault: Vault) -> None:
    await write(vault, 150)
    vault.embedder.fail_after = 100
    with pytest.raises(Unavailable):
        await sweep(vault).sweep()
    left = await stale(vault)
    assert 0 < left < 150
    vault.embedder.fail_after = None
    assert await sweep(vault).sweep() == left


async def test_vectors_of_a_model_that_is_not_the_recorded_one_are_not_written(vault: Vault) -> None:
    await write(vault, 2)
    async with vault.database.unscoped() as connection:
        await check_embedding(connection, 384, "another")
    with pytest.raises(ModelChanged):
        await sweep(vault).sweep()
    assert await stale(vault) == 2


async def test_the_chunks_of_a_page_that_is_written_meanwhile_are_not_mixed_up(vault: Vault) -> None:
    await write(vault, 1)

    class Slow:
        model = vault.embedder.model
        asked = 0

        async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
            self.asked += 1
            if self.asked == 1:
                await write(vault, 2)
            return await vault.embedder.embed(texts, kind)

    # What was asked for first is gone; the two new ones are found in the next batch.
    assert await sweep(vault, Slow()).sweep() == 2
    assert await stale(vault) == 0


async def test_it_runs_once_at_the_start(vault: Vault) -> None:
    await write(vault, 5)
    running = asyncio.create_task(sweep(vault).run())
    try:
        await eventually(lambda: stale(vault), lambda left: left == 0)
    finally:
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
