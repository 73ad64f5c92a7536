"""Everything that an org has in one state of the table, read again and compared with what went in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cortex_contracts.errors import Unavailable
from cortex_providers.cold_memory import CHECKSUM_BYTES, checksum
from cortex_providers.cold_store import (
    MAX_DAMAGES,
    BatchProof,
    Damage,
    Damaged,
    DamageKind,
    Known,
    Verification,
)
from cortex_runtime import logs
from cortex_sleep.iceberg import columns, files
from cortex_sleep.iceberg.faults import translated
from cortex_sleep.iceberg.files import ColdFile
from cortex_sleep.iceberg.table import ColdSnapshot

_NAMED_IDS: Final = 10
"""Of the rows that a damage concerns."""

log = logs.get(__name__)


class Reading:
    """The files of an org, read one after the other. What it keeps is 32 bytes a batch and 16 bytes for each row of the
    month that is being read."""

    def __init__(self, snapshot: ColdSnapshot, org: str) -> None:
        self._snapshot = snapshot
        self.files: tuple[ColdFile, ...] = tuple(
            sorted(
                (file for file in snapshot.files if file.org == org),
                key=lambda file: (file.namespace, file.month, file.path),
            )
        )
        self._waiting = iter(self.files)
        self._month: tuple[str, str] | None = None
        self._ids: list[npt.NDArray[np.void]] = []
        self._batches: dict[UUID, _Sum] = defaultdict(_Sum)
        self._rows = 0
        self._thawed: set[tuple[UUID, UUID]] = set()
        self._damages: list[Damage] = []
        self._damaged = 0

    def leave_out(self, known: Known) -> None:
        """Rows that count for nothing, by what is known of the batches after the state of the table was chosen: nothing
        in it has come back since. Call it before any file is read."""
        self._thawed = {(batch, one) for batch, proof in known.items() if proof for one in proof.thawed}

    def read_next(self) -> None:
        """Read one more file; blocks.

        Raises:
            Unavailable: the store is away or slow: nothing can be said about the file.
        """
        file = next(self._waiting)
        if (file.namespace, file.month) != self._month:
            self._end_month()
            self._month = (file.namespace, file.month)
        table = self._snapshot.table
        try:
            with translated():
                size = len(table.io.new_input(file.path))
                if size != file.size_bytes:
                    self._note(Damage(DamageKind.FILE_SIZE, file.name, file.rows))
                read = sum(map(self._read, files.batches(table, file.path, columns.ROWS)), start=0)
        except Damaged:
            missing = not self._exists(file)
            self._note(Damage(DamageKind.FILE_MISSING if missing else DamageKind.FILE_UNREADABLE, file.name, file.rows))
        except Unavailable:
            raise
        except Exception as error:
            # Bytes that decode, but to nothing that was ever written, can go wrong anywhere.
            log.warning("a file of the cold store cannot be read", file=file.name, kind=type(error).__name__)
            self._note(Damage(DamageKind.FILE_UNREADABLE, file.name, file.rows))
        else:
            if read != file.rows:
                self._note(Damage(DamageKind.FILE_UNREADABLE, file.name, abs(file.rows - read)))

    def verdict(self, before: Known, after: Known) -> Verification:
        """What is wrong, given what was known of the batches before and after the state of the table was chosen."""
        self._end_month()
        for batch, proof in before.items():
            # One that changed in between may be there in either form.
            if proof is not None and after.get(batch) == proof and self._batches[batch].proof != proof:
                rows = abs(proof.rows - self._batches[batch].rows) or proof.rows
                self._note(Damage(DamageKind.BATCH_DIFFERS, str(batch), rows))
        for batch, found in self._batches.items():
            if found.rows and batch not in before and batch not in after:
                self._note(Damage(DamageKind.BATCH_UNKNOWN, str(batch), found.rows))
        batches = sum(found.rows > 0 for found in self._batches.values())
        return Verification(len(self.files), self._rows, batches, self._damaged, tuple(self._damages))

    def _read(self, rows: pa.RecordBatch) -> int:
        memories = columns.memories(rows)
        demotions = columns.ids(rows.column("demotion"))
        changed = []
        ids = []
        for memory, demotion, stored in zip(memories, demotions, rows.column("checksum").to_pylist(), strict=True):
            if (demotion, memory.id) in self._thawed:
                continue
            ids.append(memory.id.bytes)
            computed = checksum(memory)
            self._batches[demotion].add(computed)
            if computed != stored:
                changed.append(memory.id)
        if changed:
            self._note(Damage(DamageKind.ROW_CHANGED, self._place(), len(changed), tuple(changed[:_NAMED_IDS])))
        self._ids.append(np.frombuffer(b"".join(ids), np.dtype("V16")))
        self._rows += len(ids)
        return len(memories)

    def _end_month(self) -> None:
        """No row of a month may be there twice: a memory stays in the month of its `valid_at`."""
        if not self._ids:
            return
        pairs = np.concatenate(self._ids).view("u8").reshape(-1, 2)
        self._ids = []
        ids, counts = np.unique(pairs, axis=0, return_counts=True)
        repeated = counts > 1
        if repeated.any():
            twice = tuple(UUID(bytes=each.tobytes()) for each in ids[repeated][:_NAMED_IDS])
            self._note(Damage(DamageKind.ROW_TWICE, self._place(), int((counts - 1).sum()), twice))

    def _exists(self, file: ColdFile) -> bool:
        with translated():
            return bool(self._snapshot.table.io.new_input(file.path).exists())

    def _place(self) -> str:
        return "/".join(self._month or ())

    def _note(self, damage: Damage) -> None:
        self._damaged += 1
        if len(self._damages) < MAX_DAMAGES:
            self._damages.append(damage)


@dataclass(slots=True)
class _Sum:
    """The proof of a batch as its rows come by."""

    rows: int = 0
    total: int = 0

    def add(self, computed: bytes) -> None:
        self.rows += 1
        self.total = (self.total + int.from_bytes(computed)) % (1 << 256)

    @property
    def proof(self) -> BatchProof:
        return BatchProof(self.rows, self.total.to_bytes(CHECKSUM_BYTES))
