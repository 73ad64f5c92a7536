"""Pages and the files they come from: what the sync of a vault does beyond writing a page."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from cortex_store import indexed_text, pages
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding, recorded

RELEASE: Final = "UPDATE pages SET path = NULL WHERE vault = $1 AND slug = $2 AND path <> $3"
IS_FROM: Final = "SELECT EXISTS (SELECT FROM pages WHERE vault = $1 AND slug = $2 AND path = $3)"
VECTORS: Final = "SELECT title, heading_path, passage, embedding FROM page_vectors($1, $2, $3)"


async def release(connection: Connection, vault: str, slug: str, path: str) -> None:
    """Take a page from the file it comes from, unless that is `path`: the `upsert` that follows in this transaction
    gives it to that one. The page stays the one it was."""
    await connection.execute(pages.LOCK, vault)
    await connection.execute(RELEASE, vault, slug, path)


async def delete(connection: Connection, vault: str, slug: str, path: str) -> bool:
    """Delete a page if it still comes from the file at `path`; false if it does not."""
    await connection.execute(pages.LOCK, vault)
    return bool(await connection.fetchval(IS_FROM, vault, slug, path)) and await pages.delete(connection, vault, slug)


async def vectors(
    connection: Connection, vault: str, slugs: Collection[str], model: str, limit: int
) -> dict[str, Embedding]:
    """Vectors by the text they stand for, at most `limit`, of the passages that these pages have; none if the
    database's vectors come from another model."""
    if (await recorded(connection))[1] not in (None, model):
        return {}
    return {
        indexed_text.passage(row["title"], row["heading_path"], row["passage"]): np.asarray(
            row["embedding"].to_numpy(), dtype=np.float32
        )
        for row in await connection.fetch(VECTORS, vault, sorted(slugs), limit)
    }
