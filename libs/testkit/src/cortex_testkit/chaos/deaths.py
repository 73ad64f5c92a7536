"""What happens to the processes: SIGKILL, now and then SIGSTOP, and an object store that lets nobody write."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

import asyncpg

from cortex_infra.bootstrap import DATABASE, with_database
from cortex_infra.errors import ServerError
from cortex_testkit.chaos.ledger import Ledger
from cortex_testkit.system import CACHE, NATS, POSTGRES, System

OBJECTS: Final = "objects"
REPLICA: Final = "sleep-2"
WEIGHTS: Final[Mapping[str, int]] = {
    "sleep": 5,
    REPLICA: 5,
    "ingest": 4,
    "recall": 1,
    POSTGRES: 2,
    "backend": 2,
    NATS: 2,
    OBJECTS: 2,
    "objects stopped": 2,
    "objects read-only": 2,
    CACHE: 1,
    "embedder": 1,
}
"""How often one is hit compared with the others. `backend`: a process of PostgreSQL that serves a connection, after
which all of it recovers."""
TWO_AT_ONCE: Final = 0.2
AWAY_S: Final = (0.0, 2.0)
STOPPED_S: Final = (2.0, 8.0)
READ_ONLY_S: Final = (3.0, 10.0)


class Deaths:
    """Hits one thing after the other, the same things in the same order for the same seed."""

    def __init__(self, system: System, ledger: Ledger, seed: int, pauses_s: tuple[float, float]) -> None:
        """`pauses_s`: least and greatest time between two of them."""
        self.over = asyncio.Event()
        self.hits: Counter[str] = Counter()
        self._system = system
        self._ledger = ledger
        self._rng = random.Random(f"{seed}:deaths")
        self._pauses_s = pauses_s

    async def go_on(self) -> None:
        """Hit until it is over; whatever is hit is whole again when this returns, or on its way."""
        choices = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
        while not self.over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), self._rng.uniform(*self._pauses_s))
            self._look()
            hit = {self._rng.choice(choices) for _ in range(1 + (self._rng.random() < TWO_AT_ONCE))}
            away = [self._rng.random() for _ in sorted(hit)]
            # One process is hit in one way at a time.
            if sum(name.startswith(OBJECTS) for name in hit) > 1:
                hit = {min(hit)}
            async with asyncio.TaskGroup() as tasks:
                for name, share in zip(sorted(hit), away, strict=False):
                    self.hits[name] += 1
                    tasks.create_task(self._hit(name, share))

    def _look(self) -> None:
        """Nothing may die by itself, whatever happens to the others."""
        for name in self._system.names:
            if not self._system.alive(name):
                self._ledger.blame("died by itself", name)
                self._system.launch(name)

    async def _hit(self, name: str, share: float) -> None:
        ways: dict[str, Callable[[float], Awaitable[None]]] = {
            "backend": self._backend,
            "objects stopped": self._stopped,
            "objects read-only": self._read_only,
        }
        if name in ways:
            await ways[name](share)
        else:
            await self._killed(name, share)

    async def _killed(self, name: str, share: float) -> None:
        self._system.kill(name)
        await asyncio.sleep(_within(AWAY_S, share))
        await self._start(name)

    async def _start(self, name: str) -> None:
        """Start it; a server as often as it takes: PostgreSQL waits for what its predecessor has left to end."""
        self._system.launch(name)
        if name not in (*self._system.services, REPLICA):
            while True:
                try:
                    await self._system.ready(name)
                    return
                except ServerError:
                    self._system.kill(name)
                    self._system.launch(name)

    async def _backend(self, _: float) -> None:
        dsn = with_database(self._system.installation.superuser_dsn, DATABASE)
        with suppress(OSError, asyncpg.PostgresError):
            connection = await asyncpg.connect(dsn, timeout=2)
            try:
                pids = await connection.fetch(
                    "SELECT pid FROM pg_stat_activity WHERE usename LIKE 'cortex%' AND state <> 'idle' ORDER BY pid"
                )
            finally:
                connection.terminate()
            if pids:
                os.kill(pids[self._rng.randrange(len(pids))]["pid"], signal.SIGKILL)

    async def _stopped(self, share: float) -> None:
        """It takes connections and answers nothing."""
        pid = self._system.pid(OBJECTS)
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(_within(STOPPED_S, share))
        os.kill(pid, signal.SIGCONT)

    async def _read_only(self, share: float) -> None:
        """Nobody may write to it; it reads who may what when it starts."""
        file = self._system.installation.home.data / OBJECTS / "s3.json"
        everything = file.read_text(encoding="utf-8")
        identities = json.loads(everything)
        for identity in identities["identities"]:
            identity["actions"] = ["Read", "List"]
        for text, lasts_s in ((json.dumps(identities), _within(READ_ONLY_S, share)), (everything, 0.0)):
            file.write_text(text, encoding="utf-8")
            self._system.kill(OBJECTS)
            await self._start(OBJECTS)
            await asyncio.sleep(lasts_s)


def _within(bounds: tuple[float, float], share: float) -> float:
    least, greatest = bounds
    return least + share * (greatest - least)
