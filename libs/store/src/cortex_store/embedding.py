"""Embeddings in the database: their type, and the one model that all of them come from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector

from cortex_contracts.errors import CortexError
from cortex_runtime import logs
from cortex_store.connection import Connection
from cortex_store.database import Database
from cortex_store.errors import EmbeddingMismatch, ModelChanged

log = logs.get(__name__)

Embedding = Sequence[float] | npt.NDArray[np.float32]
"""shape (dim,), L2-normalised."""

RECORD: Final = """
INSERT INTO database_settings (key, value)
SELECT 'embedding.model', $1 FROM database_settings WHERE key = 'embedding.dimension' AND value = $2
ON CONFLICT DO NOTHING
"""
RECHECK_S: Final = 1.0
"""How long a change of the model may go unnoticed by `RecordedModel.fits`. Vectors of another model are never compared:
the statements that use them look at the record themselves."""
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
    stored_dimension, stored_model = await recorded(connection)
    if (stored_dimension, stored_model) != (dimension, model):
        raise EmbeddingMismatch(
            f"this database holds embeddings of {stored_dimension} dimensions"
            f"{f' by {stored_model!r}' if stored_model else ''}, but the configured provider makes {dimension} by "
            f"{model!r}; configure a provider that fits, or run `cortex reindex` to embed everything with this one"
        )


async def recorded(connection: Connection) -> tuple[int, str | None]:
    """Dimension and model of the database's vectors; no model before the first use."""
    found = {row["key"]: row["value"] for row in await connection.fetch(RECORDED)}
    return int(found["embedding.dimension"]), found.get("embedding.model")


async def require_recorded(connection: Connection, model: str) -> None:
    """Make sure that vectors of `model` still belong into the database. In the transaction that writes them, after it
    has touched their table, the answer holds until it ends.

    Raises:
        ModelChanged: they do not.
    """
    dimension, stored = await recorded(connection)
    if stored not in (None, model):
        raise ModelChanged(
            f"`cortex reindex` has moved the database from {model!r} to {stored!r} ({dimension} dimensions): restart "
            f"with CORTEX_EMBEDDINGS_MODEL={stored} and CORTEX_EMBEDDINGS_DIMENSION={dimension}"
        )


class RecordedModel:
    """The model of this installation as a resource: usable only while it is the one the database was filled with."""

    def __init__(self, database: Database, dimension: int, model: str) -> None:
        self._database = database
        self._dimension = dimension
        self._model = model
        self._change: ModelChanged | None = None
        self._checked_at = 0.0

    async def open(self) -> None:
        """Record the model at first use, later make sure that it is the same one.

        Raises:
            EmbeddingMismatch: it is another one.
            Unavailable: the database is away.
        """
        async with self._database.unscoped() as connection:
            await check_embedding(connection, self._dimension, self._model)

    async def check(self) -> None:
        """Is it still the one? A change is logged once; it takes a restart with the new settings.

        Raises:
            ModelChanged: it is not.
            Unavailable: the database is away.
        """
        try:
            async with self._database.unscoped() as connection:
                await require_recorded(connection, self._model)
        except ModelChanged as change:
            if self._change is None:
                log.error("embedding model changed", reason=change.message)
            self._change = change
            raise
        self._change = None

    async def fits(self) -> bool:
        """The same as a question that costs nothing most of the time: it may be `RECHECK_S` behind. While the database
        is away the last answer stands."""
        if time.monotonic() - self._checked_at >= RECHECK_S:
            self._checked_at = time.monotonic()
            with contextlib.suppress(CortexError):
                await self.check()
        return self._change is None

    async def close(self) -> None:
        """Nothing is held."""
