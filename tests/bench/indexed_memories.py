"""What the product's analysis and index functions make of synthetic memories, over arrays: terms with their impacts,
buckets and keys, content hashes, and ids. `seeding` compares a sample with the product's own functions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import synthetic_memories as synthetic
from numpy.typing import NDArray

from cortex_store import lexical

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Indexed:
    """The terms of a chunk: `memory` is the number inside the chunk; sorted by memory and dimension."""

    memory: Ints
    term: Ints
    impact: NDArray[np.float64]
    bucket: Ints
    key: NDArray[np.int32]
    counts: Ints


def ids(chunk: synthetic.Chunk, rng: np.random.Generator) -> NDArray[np.uint8]:
    """UUIDs of version 7; shape (n, 16)."""
    ids = rng.integers(256, size=(len(chunk), 16), dtype=np.uint8)
    ids[:, :6] = chunk.millis.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:]
    ids[:, 6] = 0x70 | ids[:, 6] & 0x0F
    ids[:, 8] = 0x80 | ids[:, 8] & 0x3F
    return ids


def indexed(chunk: synthetic.Chunk, scopes: Ints) -> Indexed:
    """What `indexed_text.document` makes of each memory."""
    words = synthetic.vocabulary()
    names = synthetic.speakers()
    moments = chunk.moments()
    dated = [
        [
            words.number(str(m.day)),
            words.number(synthetic.MONTHS[m.month - 1]),
            words.number(str(m.year)),
            words.number(names[speaker]),
        ]
        for m, speaker in zip(moments, chunk.speakers, strict=True)
    ]
    lengths = np.diff(chunk.starts)
    of = np.concatenate([np.repeat(np.arange(len(chunk)), lengths), np.repeat(np.arange(len(chunk)), 4)])
    tokens = np.concatenate([chunk.tokens, np.array(dated).ravel()])
    _, first, tf = np.unique((of << 30) | words.dimensions[tokens], return_index=True, return_counts=True)
    memory, term = of[first], tokens[first]
    norm = lexical.K1 * (1 - lexical.B + lexical.B * (lengths + 4) / lexical.AVERAGE_LENGTH)
    impact = tf * (lexical.K1 + 1) / (tf + norm[memory])
    bucket = np.searchsorted(lexical.EDGES, impact, side="right")
    signed = words.hashes[term].view(np.int32).astype(np.int64)
    return Indexed(
        memory,
        term,
        impact,
        bucket,
        term_keys(scopes[chunk.scopes[memory]], signed, bucket),
        np.bincount(memory, minlength=len(chunk)),
    )


def term_keys(scopes: Ints, terms: Ints, buckets: Ints) -> NDArray[np.int32]:
    """The SQL function `term_key` over arrays: PostgreSQL's `hashint8extended`, which is Jenkins' lookup3."""
    value = (terms << 2) + buckets
    low, high = (value & 0xFFFFFFFF).astype(np.uint32), (value >> 32).astype(np.uint32)
    k = low ^ np.where(value >= 0, high, ~high)
    a = np.full(len(k), 0x9E3779B9 + 4 + 3923095 & 0xFFFFFFFF, dtype=np.uint32)
    b, c = a.copy(), a.copy()

    def turned(x: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
        return (x << np.uint32(by)) | (x >> np.uint32(32 - by))

    b = b + scopes.astype(np.uint32)  # a seed below 2^32 leaves `a` as it is
    for by in (4, 6, 8, 16, 19, 4):  # mix: the three change places each time
        a = (a - c) ^ turned(c, by)
        c = c + b
        a, b, c = b, c, a
    # After six turns every one is back in its place.
    a = a + k
    for by in (14, 11, 25, 16, 4, 14, 24):  # final
        c = (c ^ b) - turned(b, by)
        a, b, c = b, c, a
    return a.view(np.int32)  # after seven turns `b` is here


def content_key(name: str, content: str) -> int:
    """`indexed_text.content_key` of words that are folded already."""
    digest = hashlib.sha256(f"{name.lower()} {content}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
