"""What is searched for in a cold store, and what is found there: rows by their words and by their meaning.

A store decides nothing about who may see what: the caller names the scopes and the subject, the store applies them to
every row, and counts, scores and finds nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from cortex_providers.cold_memory import ColdMemory

Vector: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ColdScope:
    """A namespace that is searched; one that is not `readable` for its memories that the whole org may read."""

    namespace: str
    readable: bool


@dataclass(frozen=True, slots=True)
class ColdReader:
    """Who reads: `subject` sees its own private memories in the scopes, none of anybody else. `hidden` are batches that
    are not the cold store's yet, `thawed` rows (batch, memory) that are not its any more."""

    org: str
    subject: str
    scopes: tuple[ColdScope, ...]
    hidden: frozenset[UUID] = frozenset()
    thawed: frozenset[tuple[UUID, UUID]] = frozenset()


@dataclass(frozen=True, slots=True)
class ColdFilter:
    """What a search is narrowed to; none narrows nothing. Times are half-open, `as_of` is inclusive; `entities` are
    folded names, any of them."""

    networks: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ColdQuery:
    """A search. `terms`: dimensions of the distinct terms of the question (`ColdMemory.terms`), in its order; `vector`:
    shape (dimension,), L2-normalised, compared with vectors of `model` only; `names`: folded names that the question
    may mean; `limit`: how many each way finds; `limit_s`: how long it may take."""

    reader: ColdReader
    terms: tuple[int, ...]
    vector: Vector | None
    model: str
    names: frozenset[str]
    filter: ColdFilter
    limit: int
    limit_s: float


@dataclass(frozen=True, slots=True)
class ColdRef:
    """Where a row is in the files of the store, for as long as a search of it is worked on."""

    path: str
    group: int
    row: int


@dataclass(frozen=True, slots=True)
class ColdRow:
    """A memory, the batch that brought it, and the checksum that it was written with."""

    memory: ColdMemory
    batch: UUID
    checksum: bytes


@dataclass(frozen=True, slots=True)
class ColdCandidate:
    """A row that may answer, with its exact scores. `lexical` is BM25; `cosine` is none where row and question do not
    both have a vector of the model; `named`: 2 when a named entity speaks in it, 1 when it is mentioned, else 0."""

    ref: ColdRef
    id: UUID
    namespace: str
    lexical: float
    cosine: float | None
    session: str | None
    turn: int | None
    valid_at: datetime
    script: int
    named: int
    importance: float


@dataclass(frozen=True, slots=True)
class ColdFound:
    """Candidates in no order. `best_lexical` is the largest BM25 score that any memory could have for the question;
    `rows` is how many memories of the scopes were compared, `other_model` how many of them have no vector of the model.
    `files_read` of `files` of the table were opened; `complete`: there was time for all that are in scope."""

    candidates: tuple[ColdCandidate, ...]
    best_lexical: float
    rows: int
    other_model: int
    files: int
    files_read: int
    bytes_read: int
    complete: bool


class ColdLook(Protocol):
    """One consistent look at a cold store. Every method raises Unavailable when the store is away or slow, and Damaged
    when a file of it cannot be read; who stops waiting ends the work."""

    async def search(self, query: ColdQuery) -> ColdFound:
        """What answers a question."""
        ...

    async def rows(self, refs: Sequence[ColdRef]) -> list[ColdMemory]:
        """Rows that a search of this look found, in the order of `refs`."""
        ...

    async def find(self, reader: ColdReader, ids: Collection[UUID]) -> Mapping[UUID, ColdRow]:
        """The memories of these ids that `reader` may see."""
        ...
