"""The cold store port: memories that left the hot tier, whole, in batches that are proved before a hot row goes.

Drivers register under the entry-point group `cortex.cold_store`; `open_store` finds one by name. A driver's factory
takes a `ColdStoreConfig` and returns a `ColdStore`. Only the sleep service opens one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol, cast
from uuid import UUID

from cortex_contracts.errors import Permanent
from cortex_providers import drivers
from cortex_providers.cold_memory import ColdMemory, combined
from cortex_providers.cold_search import ColdLook

GROUP: Final = "cortex.cold_store"


class Damaged(Permanent):
    """What was committed cannot be read as it was written: `cortex cold verify` tells what."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Memories of one namespace that go together."""

    id: UUID
    org: str
    namespace: str


@dataclass(frozen=True, slots=True)
class BatchProof:
    """What a batch is: how many rows, and their checksums combined (32 bytes, `cold_memory.combined`). `thawed`: ids of
    rows that may be there as well and count for nothing."""

    rows: int
    checksum: bytes
    thawed: frozenset[UUID] = field(default=frozenset(), compare=False)

    @classmethod
    def of(cls, checksums: Iterable[bytes]) -> BatchProof:
        """The proof of rows with these checksums, in any order."""
        known = list(checksums)
        return cls(len(known), combined(known))


@dataclass(frozen=True, slots=True)
class Written:
    """What an append made: files and their bytes."""

    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ColdStatus:
    """What an org has in the table: `months` of its namespaces, `small_files` that maintenance would join. `snapshots`
    and `last_change_at` are the table's, of every org."""

    location: str
    rows: int
    files: int
    size_bytes: int
    months: int
    small_files: int
    snapshots: int
    last_change_at: datetime | None


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How maintenance treats the table. `keep_snapshots`: how long a reader may need one; `orphan_age`: how old a file
    that nothing refers to must be before it is removed, longer than any write takes."""

    keep_snapshots: timedelta = timedelta(days=3)
    orphan_age: timedelta = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Upkept:
    """What maintenance did."""

    files_joined: int = 0
    files_made: int = 0
    snapshots_expired: int = 0
    orphans_removed: int = 0
    orphan_bytes: int = 0


Known = Mapping[UUID, BatchProof | None]
"""Batches of an org by their ids: what must be there of each; none: it is not settled yet, so anything may."""


class DamageKind(StrEnum):
    """What can be wrong with a cold tier."""

    FILE_MISSING = "file missing"
    FILE_SIZE = "file size"
    """It is not as long as it was written."""
    FILE_UNREADABLE = "file unreadable"
    ROW_CHANGED = "row changed"
    """Its checksum is not the one that it was written with."""
    ROW_TWICE = "row twice"
    BATCH_DIFFERS = "batch differs"
    """It has not the rows that left the hot tier: some are missing, more or others."""
    BATCH_UNKNOWN = "batch unknown"
    """The database knows nothing of it: perhaps it was restored from an older backup than the store."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written; `where`: the file's name or the batch's id, `rows`: how many are
    concerned, `ids`: the first of them."""

    what: DamageKind
    where: str
    rows: int = 0
    ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What was read, and what is wrong with it: nothing, hopefully. Names at most `MAX_DAMAGES`, counts all."""

    files: int
    rows: int
    batches: int
    damaged: int
    damages: tuple[Damage, ...]


MAX_DAMAGES: Final = 1_000

Progress = Callable[[int, int], Awaitable[None]]
"""Told how many files of how many are done."""
Pause = Callable[[], Awaitable[None]]
"""Awaited between two steps."""


class ColdStore(drivers.Driver, Protocol):
    """Keeps memories in files. Calls are safe beside those of any other process on the same table.

    Every method raises Unavailable when the store or its catalog is away, slow, or cannot work now, and Permanent when
    it refuses for good (credentials, read-only, no such bucket). Errors name neither contents nor credentials.
    """

    async def append(self, batch: Batch, rows: Sequence[ColdMemory], *, recorded: bool = True) -> Written:
        """Add the rows of a batch, up to `MAX_BATCH`, all or none. With `recorded` nothing is added unless the database
        says, at the moment of the commit, that the batch is being written (`hold_cold_batch`). It returns when nothing
        can come any more; after Unavailable the batch may be there or not: ask `checksums`."""
        ...

    async def checksums(self, batch: Batch) -> Mapping[UUID, bytes]:
        """The checksum of every committed row of a batch, computed from what is read back; empty: it is not there.

        Raises:
            Damaged: a row is there twice, or a file cannot be read.
        """
        ...

    async def remove(self, batch: Batch, ids: Sequence[UUID]) -> int:
        """Take rows of a batch out again, for example of memories that changed while they were written; how many."""
        ...

    async def status(self, org: str) -> ColdStatus:
        """What an org has, from the metadata alone."""
        ...

    async def look(self) -> ColdLook:
        """A look at the table as it is now: what is searched in it stays as it was, whatever is changed meanwhile."""
        ...

    async def maintain(self, upkeep: Upkeep, now: datetime, pause: Pause | None = None) -> Upkept:
        """Join small files, expire old snapshots, remove files that nothing refers to, as of `now`; `pause` is awaited
        between the steps and may raise to stop it. Safe beside readers and writers."""
        ...

    async def verify(
        self, org: str, known: Callable[[], Awaitable[Known]], progress: Progress | None = None
    ) -> Verification:
        """Read everything of an org again: every file, the checksum of every row, and every batch against what is
        `known`, which is asked before and after a state of the table is chosen: what changes meanwhile is no damage."""
        ...


MAX_BATCH: Final = 10_000
"""Rows of one append: with 4,000 bytes each, 40 MB as objects and as columns."""


@dataclass(frozen=True, slots=True)
class ColdStoreConfig:
    """Where a cold store is. Neither the keys nor the URLs, which may hold passwords, are ever shown.

    `warehouse`: `s3://bucket/prefix` or a folder. `catalog`: SQL or REST URL of an Iceberg catalog, empty: the schema
    `cold_catalog` of the database. `database`: DSN of sleep's database, whose lock serialises commits.
    """

    warehouse: str
    database: str = field(repr=False)
    catalog: str = field(default="", repr=False)
    endpoint: str = ""
    region: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    """How long a server may be silent; what takes longer but goes on is not ended."""


def open_store(driver: str, config: ColdStoreConfig) -> ColdStore:
    """The cold store of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[ColdStoreConfig], ColdStore]",
        drivers.load(GROUP, driver, what="cold store", setting="CORTEX_COLD_STORE_DRIVER"),
    )
    return factory(config)
