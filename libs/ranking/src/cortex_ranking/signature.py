"""One bit per dimension of a vector: enough to tell which of ten million are near, at a sixteenth of the size.

A bit says on which side of the model's centre a vector lies. A question keeps its full vector: the sum of its elements
with the signs of the bits ranks as the cosine does, up to noise (asymmetric comparison: Gordo, Perronnin, Gong and
Lazebnik, 2014), so that a shortlist by it holds the nearest. Models put all texts into a narrow cone about a centre;
without it most bits would be the same for everybody. Stored signatures outlive a release: what `centre` is for a model
must never change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cortex_ranking import calibration

Vectors: TypeAlias = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]

_SIGNS: Final = np.where(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1), 1, -1).astype(np.float32)


@lru_cache(maxsize=8)
def centre(model: str, dimension: int) -> Vectors:
    """Where the texts of a model lie, shape (dimension,): the mean of its reference vectors (`calibration`), which are
    about nothing in particular; the origin for a model without."""
    references = calibration.backgrounds(model).references
    if references is None or references.shape[2] != dimension:
        return np.zeros(dimension, dtype=np.float32)
    mean: Vectors = references.reshape(-1, dimension).mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def signatures(vectors: Vectors, model: str) -> Bytes:
    """Signatures of vectors of shape (n, dimension), shape (n, ⌈dimension / 8⌉); the first dimension is the highest
    bit, what is missing of the last byte is 0."""
    return np.packbits(vectors > centre(model, vectors.shape[1]), axis=1)


def signature(vector: Vectors, model: str) -> bytes:
    """The signature of one vector of shape (dimension,)."""
    return signatures(vector[None, :], model).tobytes()


def table(question: Vectors) -> Vectors:
    """What each value of each byte of a signature adds to its nearness to a question of shape (dimension,); shape
    (⌈dimension / 8⌉, 256)."""
    padded = np.zeros(-(-len(question) // 8) * 8, dtype=np.float32)
    padded[: len(question)] = question
    sums: Vectors = padded.reshape(-1, 8) @ _SIGNS.T
    return sums


def nearness(stored: Bytes, added: Vectors) -> Vectors:
    """How near vectors are to the question of `added` (see `table`) by their signatures, shape (n, bytes): only good
    for comparing vectors of one model with each other."""
    width = added.shape[0]
    places = stored + (np.arange(width, dtype=np.int32) * 256)
    found: Vectors = np.take(added.reshape(-1), places).sum(axis=1)
    return found
