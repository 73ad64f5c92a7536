"""What maintenance will do, decided without touching anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Protocol

TARGET_BYTES: Final = 128 * 2**20
"""How large a file gets at most by joining: what Parquet readers plan with, and a rewrite of it takes seconds."""
SMALL_BYTES: Final = TARGET_BYTES * 3 // 4
"""From this size on a file is left alone."""
FEWEST: Final = 4
"""So many small files of one month are worth joining; fewer wait for more."""
MOST: Final = 16
"""Files that are read at once while they are joined, 15 MB of memory each; more take further joins."""
LEAST_ORPHAN_AGE: Final = timedelta(hours=1)
"""No write of ours takes as long: a file that is younger may be about to be committed."""


class SizedFile(Protocol):
    """A data file, as planning needs it."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def org(self) -> str: ...  # noqa: D102
    @property
    def namespace(self) -> str: ...  # noqa: D102
    @property
    def month(self) -> str: ...  # noqa: D102
    @property
    def size_bytes(self) -> int: ...  # noqa: D102
    @property
    def first_valid_at(self) -> datetime: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Join:
    """Files of one month of a namespace that become one."""

    org: str
    namespace: str
    month: str
    paths: tuple[str, ...]


def joins(files: Iterable[SizedFile]) -> list[Join]:
    """Which files to join: of each namespace and month the small ones, in order of their first row, up to `MOST` and as
    make one file of `TARGET_BYTES`; ordered by org, namespace and month. Done again with the files that were made, it
    ends with nothing to join."""
    months: dict[tuple[str, str, str], list[SizedFile]] = {}
    for file in files:
        if file.size_bytes < SMALL_BYTES:
            months.setdefault((file.org, file.namespace, file.month), []).append(file)
    planned: list[Join] = []
    for (org, namespace, month), small in sorted(months.items()):
        ordered = sorted(small, key=lambda file: (file.first_valid_at, file.path))
        planned.extend(
            Join(org, namespace, month, tuple(file.path for file in group))
            for group in _groups(ordered)
            if len(group) >= FEWEST
        )
    return planned


def _groups(files: Sequence[SizedFile]) -> Iterable[list[SizedFile]]:
    group: list[SizedFile] = []
    size = 0
    for file in files:
        if group and (size + file.size_bytes > TARGET_BYTES or len(group) == MOST):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size_bytes
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the warehouse, whoever wrote it."""

    path: str
    size_bytes: int
    changed_at: datetime


def orphans(stored: Iterable[StoredFile], referred: frozenset[str], now: datetime, age: timedelta) -> list[StoredFile]:
    """Files that no snapshot refers to and that are older than any write takes: what crashed writers, given-up commits
    and expired snapshots left behind. None is younger than `LEAST_ORPHAN_AGE`."""
    before = now - max(age, LEAST_ORPHAN_AGE)
    return [file for file in stored if file.path not in referred and file.changed_at < before]


@dataclass(frozen=True, slots=True)
class KnownSnapshot:
    """A state of the table that can still be read."""

    id: int
    made_at: datetime
    is_current: bool


def expired(snapshots: Iterable[KnownSnapshot], now: datetime, keep: timedelta) -> list[int]:
    """Snapshots that were replaced by the next one longer than `keep` ago, so that no reader is left that began on
    them; oldest first."""
    ordered = sorted(snapshots, key=lambda each: each.made_at)
    return [
        snapshot.id
        for snapshot, following in pairwise(ordered)
        if not snapshot.is_current and following.made_at < now - keep
    ]
