"""Embeddings in the database: their type, and the one model that all of them come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector

from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import EmbeddingMismatch

Embedding = Sequence[float] | npt.NDArray[np.float32]
"""shape (dim,), L2-normalised."""

RECORD: Final = """
INSERT INTO database_settings (key, value)
SELECT 'embedding.model', $1 FROM database_settings WHERE key = 'embedding.dimension' AND value = $2
ON CONFLICT DO NOTHING
"""
RECORDED: Final = "SELECT key, value FROM database_settings WHERE key IN ('embedding.dimension', 'embedding.model')"


def halfvec(embedding: Embedding | None) -> HalfVector | None:
    """An embedding as PostgreSQL stores it: 16-bit floats."""
    return None if embedding is None else HalfVector(np.asarray(embedding, dtype=np.float32))


async def check_embedding(connection: Connection, dimension: int, model: str) -> None:
    """Record the model at first use; later make sure that it is the same one. Run it before anything is embedded.

    Raises:
        EmbeddingMismatch: the database was made for another dimension, or its vectors come from another model.
    """
    await connection.execute(RECORD, model, str(dimension))
    recorded = {row["key"]: row["value"] for row in await connection.fetch(RECORDED)}
    stored_dimension, stored_model = int(recorded["embedding.dimension"]), recorded.get("embedding.model")
    if (stored_dimension, stored_model) != (dimension, model):
        raise EmbeddingMismatch(
            f"this database holds embeddings of {stored_dimension} dimensions"
            f"{f' by {stored_model!r}' if stored_model else ''}, but the configured provider makes {dimension} by "
            f"{model!r}; configure a provider that fits, or run `cortex reindex` to embed everything with this one"
        )


class RecordedModel:
    """The model of this installation as a resource: usable only while it is the one the database was filled with."""

    def __init__(self, database: Database, dimension: int, model: str) -> None:
        self._database = database
        self._dimension = dimension
        self._model = model

    async def open(self) -> None:
        """Record the model at first use, later make sure that it is the same one.

        Raises:
            EmbeddingMismatch: it is another one.
            Unavailable: the database is away.
        """
        async with self._database.unscoped() as connection:
            await check_embedding(connection, self._dimension, self._model)

    async def check(self) -> None:
        """It was checked when it was opened; settings do not change while a service runs."""

    async def close(self) -> None:
        """Nothing is held."""
