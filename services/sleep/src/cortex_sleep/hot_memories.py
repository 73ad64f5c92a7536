"""Whole memories out of the hot tier, as the cold store keeps them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar, cast
from uuid import UUID

import numpy as np

from cortex_providers.cold_memory import ColdEntity, ColdMemory, ColdOccurrence, ColdRelation
from cortex_store import demotion
from cortex_store.connection import Connection, Row

SPARSE_HEADER: Final = 12
"""Bytes before the values of a `sparsevec` as pgvector sends it: dimensions, non-zero ones, nothing; 4 each. Then
follow the indices, from 0 on and rising, and the values (pgvector, src/sparsevec.c, sparsevec_send)."""
HALF_HEADER: Final = 4
"""The same for a `halfvec`: dimensions, nothing; 2 each (src/halfvec.c, halfvec_send)."""

RowT = TypeVar("RowT")
_Indexed: TypeAlias = tuple[bytes | None, str | None, int | None, int | None, bytes, bytes]

NEVER_USED: Final = (0, None)
NOT_INDEXED: Final[_Indexed] = (None, None, None, None, b"", b"")
"""The fields of a memory without index rows, from `embedding` to `impacts`."""


async def read(connection: Connection, ids: Sequence[UUID]) -> list[ColdMemory]:
    """Those of `ids` that may leave the hot tier (`cortex_store.demotion`), whole, in their order. Of one moment only
    if they are held."""
    found = await demotion.whole(connection, ids)
    access = {row["memory"]: tuple(row)[1:] for row in found.access}
    indexed = _indexed(found.indexed, found.model)
    occurrences = _grouped(found.occurrences, lambda row: ColdOccurrence(*tuple(row)[1:]))
    entities = _grouped(found.entities, lambda row: ColdEntity(*tuple(row)[1:]))
    relations = _grouped(found.relations, lambda row: ColdRelation(*tuple(row)[1:]))
    sources = _grouped(found.sources, lambda row: cast("UUID", row["source"]))
    rows = {}
    for row in found.memories:
        one = row["id"]
        fields: tuple[Any, ...] = (
            *row,
            *access.get(one, NEVER_USED),
            tuple(occurrences.get(one, ())),
            tuple(entities.get(one, ())),
            tuple(relations.get(one, ())),
            tuple(sources.get(one, ())),
            *indexed.get(one, NOT_INDEXED),
        )
        rows[one] = ColdMemory(*fields)
    return [rows[one] for one in ids if one in rows]


def _indexed(rows: Sequence[Row], model: str | None) -> dict[UUID, _Indexed]:
    """What a cold memory has of its index rows."""
    embeddings = swapped([(row["embedding"] or b"")[HALF_HEADER:] for row in rows], 2)
    sparse = swapped([row["impacts"][SPARSE_HEADER:] for row in rows], 4)
    return {
        row["memory"]: (
            embedding or None,
            model if embedding else None,
            row["script"],
            row["content"],
            numbers[: len(numbers) // 2],
            numbers[len(numbers) // 2 :],
        )
        for row, embedding, numbers in zip(rows, embeddings, sparse, strict=True)
    }


def swapped(sent: Sequence[bytes], width: int) -> list[bytes]:
    """Big-endian numbers of `width` bytes as little-endian ones."""
    swapped = np.frombuffer(b"".join(sent), f"u{width}").byteswap().tobytes()
    ends = list(accumulate(map(len, sent)))
    return [swapped[end - len(one) : end] for one, end in zip(sent, ends, strict=True)]


def _grouped(rows: Iterable[Row], made: Callable[[Row], RowT]) -> dict[UUID, list[RowT]]:
    """What belongs to each memory, in the order of the rows."""
    groups: dict[UUID, list[RowT]] = defaultdict(list)
    for row in rows:
        groups[row["memory"]].append(made(row))
    return groups
