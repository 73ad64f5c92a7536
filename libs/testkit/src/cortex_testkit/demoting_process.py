"""Workers that demote and are killed (SIGKILL) after a while, one after the other: `python -m <this> …`.

Arguments: URL of the database as sleep sees it, warehouse, org, namespace, memories of a batch. Each line on standard
input is the seconds that the next worker lives after it has begun to use the cold store, or `inf`; each line on
standard output says how it ended, `killed`, or `done` when nothing was left to do, and after how many such seconds.
Workers are forks of a process that has imported what they need.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.sleep import SleepCause
from cortex_contracts.subjects import SleepPhase
from cortex_providers.cold_memory import ColdMemory
from cortex_providers.cold_store import Batch, ColdStoreConfig, Written
from cortex_sleep import demote
from cortex_sleep.demotion import Rules
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.run import Runner
from cortex_store import sleep_runs
from cortex_store.database import Database
from cortex_writing.announcements import Announcements


class _Nobody:
    async def bump(self, org: str, namespace: str) -> None:
        """Nobody has cached anything."""


class _Watched(IcebergColdStore):
    """Tells that it is used, by a byte into a pipe."""

    def __init__(self, config: ColdStoreConfig, used: int) -> None:
        super().__init__(config)
        self._used = used

    async def append(self, batch: Batch, rows: Sequence[ColdMemory], *, recorded: bool = True) -> Written:
        os.write(self._used, b".")
        return await super().append(batch, rows, recorded=recorded)

    async def checksums(self, batch: Batch) -> Mapping[UUID, bytes]:
        os.write(self._used, b".")
        return await super().checksums(batch)


async def _work(used: int, database_url: str, warehouse: str, org: str, namespace: str) -> None:
    """One run of the phase, taken up where another worker left it."""
    database = Database(database_url, application_name="cortex-sleep")
    await database.open()
    store = _Watched(ColdStoreConfig(warehouse, database_url), used)
    rules = Rules(timedelta(0), timedelta(0), 1.0)
    phase = demote.Demote(store, Announcements(lambda: None, _Nobody()), rules)
    runner = Runner(database, [phase], lambda: None, pace=0.0, waits_s=())
    operator = Principal(org=org, subject="operator")
    async with database.transaction(operator) as connection:
        run = await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, [SleepPhase.DEMOTE])
    while True:
        try:
            # The server may not have noticed yet that the last worker is dead.
            await runner.step()
            async with database.transaction(operator) as connection:
                [state] = await sleep_runs.get(connection, [run])
        except Unavailable:
            continue
        if state.finished_at is not None:
            break
        await asyncio.sleep(0.02)
    await store.close()
    await database.close()


def _child(used: int, database_url: str, warehouse: str, org: str, namespace: str) -> None:
    code = 1
    try:
        asyncio.run(_work(used, database_url, warehouse, org, namespace))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> None:
    """See the module."""
    database_url, warehouse, org, namespace, batch = sys.argv[1:]
    demote.BATCH = int(batch)  # type: ignore[misc] # small batches make many moments to die in
    for line in sys.stdin:
        using, used = os.pipe()
        pid = os.fork()
        if pid == 0:
            _child(used, database_url, warehouse, org, namespace)
        os.close(used)
        ended = os.pidfd_open(pid)
        select.select([using, ended], [], [])
        began, lives_s = time.monotonic(), float(line)
        is_over, _, _ = select.select([ended], [], [], None if math.isinf(lives_s) else lives_s)
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(ended)
        os.close(using)
        outcome = "done" if status == 0 else "killed" if not is_over else "failed"
        print(outcome, time.monotonic() - began, flush=True)


if __name__ == "__main__":
    # What is slow to import, before the first fork.
    import cortex_sleep.iceberg.table  # noqa: F401

    main()
