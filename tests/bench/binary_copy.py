"""Rows as PostgreSQL's binary COPY reads them, made from columns of numpy arrays (PostgreSQL documentation, "COPY")."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]

HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER: Final = b"\xff\xff"
INTEGER_OID: Final = 23


async def stream(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    """A whole copy of rows."""
    yield HEADER
    for part in parts:
        yield part
    yield TRAILER


def integers(values: NDArray[np.integer], size: int) -> Bytes:
    """`smallint`, `integer`, `bigint` or `boolean` (2, 4, 8 or 1 bytes); shape (n, size)."""
    return _bytes(np.asarray(values).astype(f">i{size}" if size > 1 else "u1")[:, None])


def halfvecs(vectors: NDArray[np.float32]) -> Bytes:
    """pgvector's `halfvec`: number of elements, a zero, and IEEE half floats."""
    head = np.tile(np.array([vectors.shape[1], 0], dtype=">i2"), (len(vectors), 1))
    return np.concatenate([_bytes(head), _bytes(vectors.astype(">f2"))], axis=1)


def integer_arrays(values: NDArray[np.integer]) -> Bytes:
    """`integer[]` of one length; `values` has shape (n, length)."""
    n, length = values.shape
    head = np.tile(np.array([1, 0, INTEGER_OID, length, 1], dtype=">i4"), (n, 1))
    each = np.stack([np.full_like(values, 4), values], axis=2).astype(">i4").reshape(n, 2 * length)
    return np.concatenate([_bytes(head), _bytes(each)], axis=1)


def sparsevecs(indices: NDArray[np.integer], values: NDArray[np.floating], dimensions: int) -> Bytes:
    """pgvector's `sparsevec` of one number of elements: `indices` grow along a row and start at 0."""
    n, length = indices.shape
    head = np.tile(np.array([dimensions, length, 0], dtype=">i4"), (n, 1))
    return np.concatenate([_bytes(head), _bytes(indices.astype(">i4")), _bytes(values.astype(">f4"))], axis=1)


def rows(columns: Sequence[Bytes | None]) -> Bytes:
    """Rows of columns that have one size each; none is NULL in every row. Shape (n, size of a row)."""
    n = next(len(column) for column in columns if column is not None)
    parts = [_constant(len(columns), 2, n)]
    for column in columns:
        if column is None:
            parts.append(_constant(-1, 4, n))
        else:
            parts += [_constant(column.shape[1], 4, n), column]
    return np.concatenate(parts, axis=1)


def interleaved(groups: Sequence[tuple[NDArray[np.int64], Bytes]], n: int) -> bytes:
    """Rows of several sizes in their order: each group is the numbers of its rows, and the rows."""
    sizes = np.zeros(n, dtype=np.int64)
    for numbers, made in groups:
        sizes[numbers] = made.shape[1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    whole = np.empty(starts[-1], dtype=np.uint8)
    for numbers, made in groups:
        whole[starts[numbers][:, None] + np.arange(made.shape[1])] = made
    return whole.tobytes()


def _constant(value: int, size: int, n: int) -> Bytes:
    return np.tile(_bytes(np.array([[value]], dtype=f">i{size}")), (n, 1))


def _bytes(values: NDArray[np.generic]) -> Bytes:
    made: Bytes = np.ascontiguousarray(values).view(np.uint8)
    return made
