"""The search over the files of the table: two readings of few columns, the second one of few row groups.

First every row group in scope: who may see a row, its words, and the signature of its vector (of small scopes the
vector itself). Then, for those that may be among the best, words, vectors and what else fusion asks for, all exactly.
Memory is bounded whatever the size of the table: `READERS` pieces of 8,192 rows, the kept matches, the shortlist.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cortex_contracts.errors import ErrorCode, Unavailable
from cortex_providers.cold_search import ColdCandidate, ColdFound, ColdQuery, ColdRef, Vector
from cortex_ranking import signature
from cortex_sleep.archive.nearest import Nearest
from cortex_sleep.archive.places import parts, places
from cortex_sleep.archive.words import WordMatches, Words
from cortex_sleep.iceberg.scan import (
    DataFile,
    Files,
    OpenFile,
    Piece,
    may_hold,
    needed,
    numbers_of,
    of_file,
    one_of,
    strings_of_bytes,
    uuids_of,
    visible,
)
from cortex_store.lexical import Plan

READERS: Final = 4
"""Threads that read and decode: one waits for S3 while another works. More do not help two cores."""
EXACT_BELOW: Final = 20_000
"""Rows in the files of a search up to which every vector is compared, as in the hot tier."""
SHORTLISTED: Final = 4
"""How many times the wanted number of rows are compared exactly after their signatures: see tests/bench/archive.py."""
FIRST_SHARE: Final = 0.7
"""Of the time, for the first reading; the rest is for what it found."""

DETAILS: Final = (
    "id",
    "valid_at",
    "session",
    "turn",
    "importance",
    "script",
    "entities",
    "terms",
    "impacts",
    "embedding_model",
    "embedding",
)

T = TypeVar("T")


class Clock:
    """Tells a search when to stop."""

    def __init__(self, limit_s: float, cancelled: threading.Event) -> None:
        self._end = time.monotonic() + limit_s
        self._limit_s = limit_s
        self._cancelled = cancelled

    def late(self, share: float = 1.0) -> bool:
        """Is this share of the time over?

        Raises:
            Unavailable: nobody waits any longer.
        """
        if self._cancelled.is_set():
            raise Unavailable("the search was given up", code=ErrorCode.DEADLINE_EXCEEDED)
        return time.monotonic() > self._end - self._limit_s * (1 - share)


def search(table: Files, known: Sequence[DataFile], query: ColdQuery, cancelled: threading.Event) -> ColdFound:
    """What answers a question among the `known` files of a table.

    Raises:
        Unavailable: `cancelled` was set.
    """
    try:
        return _Search(table, known, query, Clock(query.limit_s, cancelled)).run()
    finally:
        # The allocators would hold back 200 MB (measured) until the next search.
        for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
            pool.release_unused()


class _Search:
    def __init__(self, table: Files, known: Sequence[DataFile], query: ColdQuery, clock: Clock) -> None:
        self._table = table
        self._query = query
        self._clock = clock
        self._scopes = {scope.namespace: scope.readable for scope in query.reader.scopes}
        self._total = len(known)
        # The newest first: when there is no time for all, what is left out is the oldest.
        self._files = sorted(
            (
                file
                for file in known
                if file.org == query.reader.org
                and file.namespace in self._scopes
                and may_hold(query.filter, file.first_valid_at, file.last_valid_at)
            ),
            key=lambda file: (file.last_valid_at is None, file.last_valid_at, file.path),
            reverse=True,
        )
        self._exact = sum(file.rows for file in self._files) <= EXACT_BELOW
        self._words = Words(query.terms)
        self._matches = WordMatches(self._words)
        self._nearest = Nearest(query.limit if self._exact else query.limit * SHORTLISTED)
        self._table_of_bytes = None if query.vector is None else signature.table(query.vector)
        self._lock = threading.Lock()
        self._opened: set[int] = set()
        self._bytes = 0
        self._other_model = 0
        self._complete = True

    def run(self) -> ColdFound:
        with ThreadPoolExecutor(READERS, thread_name_prefix="archive") as pool:
            _drain(pool, self._survey, range(len(self._files)))
            plan = self._matches.plan()
            found = np.union1d(self._matches.best(self._query.limit), self._nearest.places)
            grouped: dict[int, list[int]] = {}
            for place in found.tolist():
                grouped.setdefault(parts(place)[0], []).append(place)
            batches = _drain(pool, lambda file: self._details(file, grouped[file], plan), sorted(grouped))
        return ColdFound(
            candidates=tuple(one for batch in batches for one in batch),
            best_lexical=plan.best,
            rows=self._matches.memories,
            other_model=self._other_model,
            files=self._total,
            files_read=len(self._opened),
            bytes_read=self._bytes,
            complete=self._complete,
        )

    def _survey(self, number: int) -> None:
        """The first reading of one file."""
        file, query = self._files[number], self._query
        meaning = () if query.vector is None else ("embedding_model", "embedding" if self._exact else "signature")
        reader = of_file(query.reader, file)
        columns = (*needed(query.filter, reader), *meaning, *(("terms",) if query.terms else ()))
        if self._left_out():
            return
        with closing(OpenFile(self._table, file)) as opened:
            for group in opened.groups(query.filter):
                if self._left_out():
                    break
                impacts = _Impacts(opened, group)
                first = 0
                for batch in opened.batches(group, columns):
                    mask = visible(batch, query.filter, reader, readable=self._scopes[file.namespace])
                    self._look(number, Piece(group, first, batch, mask), impacts)
                    first += batch.num_rows
            with self._lock:
                self._opened.add(number)
                self._bytes += opened.bytes_read

    def _left_out(self) -> bool:
        late = self._clock.late(FIRST_SHARE)
        if late:
            self._complete = False
        return late

    def _look(self, number: int, piece: Piece, impacts: _Impacts) -> None:
        matched_places, matched = np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32)
        if self._query.terms:
            values, offsets = numbers_of(piece.batch.column("terms"))
            at, rows = self._words.match(values, offsets, piece.visible)
            if len(at):
                found = self._words.matched(values[at], impacts.of(piece, at), rows)
                matched_places = places(number, piece.group, found.rows + piece.first)
                matched = found.impacts
        near_rows, nearness, other = self._compare(piece)
        with self._lock:
            self._matches.add(matched_places, matched, piece.in_scope)
            self._nearest.add(places(number, piece.group, near_rows + piece.first), nearness)
            self._other_model += other

    def _compare(self, piece: Piece) -> tuple[NDArray[np.int64], Vector, int]:
        """Rows in scope that have a vector of the model, how near they are, and how many have none."""
        vector = self._query.vector
        if vector is None or self._table_of_bytes is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), 0
        allowed = of_model(piece.batch, self._query.model)
        if piece.visible is not None:
            allowed &= piece.visible
        if self._exact:
            rows, stored = strings_of_bytes(piece.batch.column("embedding"), 2 * len(vector))
            kept = allowed[rows]
            nearness = halves(stored[kept]) @ vector
        else:
            rows, stored = strings_of_bytes(piece.batch.column("signature"), self._table_of_bytes.shape[0])
            kept = allowed[rows]
            nearness = signature.nearness(stored if kept.all() else stored[kept], self._table_of_bytes)
        return rows[kept], nearness, piece.in_scope - int(np.count_nonzero(kept))

    def _details(self, number: int, chosen: Sequence[int], plan: Plan) -> list[ColdCandidate]:
        """The second reading of one file: rows that may be among the best, with everything that is compared."""
        groups: dict[int, list[int]] = {}
        for place in chosen:
            _, group, row = parts(place)
            groups.setdefault(group, []).append(row)
        found: list[ColdCandidate] = []
        if not self._clock.late():
            with closing(OpenFile(self._table, self._files[number])) as opened:
                for group, rows in groups.items():
                    if self._clock.late():
                        break
                    taken = opened.taken(group, np.array(rows, dtype=np.int64), DETAILS)
                    found += self._candidates(number, group, rows, taken.combine_chunks().to_batches()[0], plan)
                with self._lock:
                    self._bytes += opened.bytes_read
        if len(found) < len(chosen):
            self._complete = False
        return found

    def _candidates(
        self, number: int, group: int, rows: Sequence[int], batch: pa.RecordBatch, plan: Plan
    ) -> list[ColdCandidate]:
        file, query = self._files[number], self._query
        lexical = np.zeros(len(rows))
        if query.terms:
            values, offsets = numbers_of(batch.column("terms"))
            weights = numbers_of(batch.column("impacts"))[0]
            at, row = self._words.match(values, offsets, None)
            idfs = np.array([plan.idfs[int(term)] for term in self._words.terms])
            np.add.at(lexical, row, weights[at] * idfs[np.searchsorted(self._words.terms, values[at])])
        cosines: dict[int, float] = {}
        if query.vector is not None:
            have, stored = strings_of_bytes(batch.column("embedding"), 2 * len(query.vector))
            kept = of_model(batch, query.model)[have]
            near = halves(stored[kept]) @ query.vector
            cosines = dict(zip(have[kept].tolist(), near.tolist(), strict=True))
        columns = {
            name: batch.column(name).to_pylist()
            for name in ("valid_at", "session", "turn", "importance", "script", "entities")
        }
        return [
            ColdCandidate(
                ref=ColdRef(file.path, group, row),
                id=memory,
                namespace=file.namespace,
                lexical=float(lexical[at]),
                cosine=cosines.get(at),
                session=columns["session"][at],
                turn=columns["turn"][at],
                valid_at=columns["valid_at"][at],
                script=columns["script"][at] or 0,
                named=_named(columns["entities"][at], query.names),
                importance=columns["importance"][at],
            )
            for at, (row, memory) in enumerate(zip(rows, uuids_of(batch.column("id")), strict=True))
        ]


class _Impacts:
    """The impacts of a row group, read when a word of the question is in it."""

    def __init__(self, opened: OpenFile, group: int) -> None:
        self._opened = opened
        self._group = group
        self._pieces: Any = None
        self._at = -1
        self._rows = 0
        self._values: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    def of(self, piece: Piece, at: NDArray[np.int64]) -> NDArray[np.float32]:
        """The impacts of the terms at places of a piece; pieces come in their order."""
        if self._pieces is None:
            self._pieces = self._opened.batches(self._group, ("impacts",))
        while self._at < piece.first:
            batch = next(self._pieces)
            self._values = numbers_of(batch.column("impacts"))[0]
            self._at = 0 if self._at < 0 else self._at + self._rows
            self._rows = batch.num_rows
        return self._values[at]


def of_model(batch: pa.RecordBatch, model: str) -> NDArray[np.bool_]:
    """Which rows have a vector of a model."""
    return one_of(batch.column("embedding_model"), (model,))


def halves(stored: NDArray[np.uint8]) -> Vector:
    """Vectors of shape (rows, bytes) as little-endian 16-bit floats."""
    return np.ascontiguousarray(stored).view("<f2").astype(np.float32)


def _named(entities: Sequence[dict[str, str]] | None, names: frozenset[str]) -> int:
    roles = [2 if one["role"] == "speaker" else 1 for one in entities or () if one["key"] in names]
    return max(roles, default=0)


def _drain(pool: ThreadPoolExecutor, work: Callable[[int], T], items: Sequence[int]) -> list[T]:
    """Work on all items side by side; the first failure ends what has not begun."""
    futures = [pool.submit(work, item) for item in items]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise
