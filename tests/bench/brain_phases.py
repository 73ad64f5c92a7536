"""The parts of the measurement of the Brain API, in their order: syncs, reading, stages, writing, a steady rate."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import brain_cost
import numpy as np
import redis.asyncio
import synthetic_vault as synthetic
from brain_client import PREFIX, Api, Call, Walls
from latency import percentiles
from synthetic_memories import SEED

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import BRAIN_STATUS, QUERY_PAGES, BrainStatusRequest, QueryPagesRequest
from cortex_gateway.auth import OWNER
from cortex_infra import bringup, installation
from cortex_infra.ports import Ports
from cortex_infra.servers import cache
from cortex_runtime.bus import Bus

ME: Final = Principal(org=installation.DEFAULT_ORG, subject=OWNER)
ASKED: Final = 300
"""Requests of one row, for one caller and for eight each."""
WARM: Final = 100
CALLERS: Final = (1, 8)
CHANGED: Final = 100
WRITTEN: Final = 20
RATE: Final = 10.0
RATE_S: Final = 30.0
MIX: Final = {"query": 0.5, "page": 0.3, "search": 0.2}
SHOWN_EVERY_S: Final = 15.0
NOT_EMBED: Final = "all but embed"
STUCK_S: Final = 600.0
"""A sync whose state does not change for so long has stopped."""


class Bench:
    """One system with its vault, and what was measured of it."""

    def __init__(self, system: bringup.System, api: Api, bus: Bus, vault: synthetic.Repository, pages: int) -> None:
        self.system = system
        self.api = api
        self.bus = bus
        self.vault = vault
        self.pages = pages
        self.report: dict[str, Any] = {"syncs": {}, "walls": {}, "errors": {}}
        self._rng = np.random.default_rng([SEED, 50, pages])
        self._questions = synthetic.questions(pages, ASKED * 6 + int(RATE * RATE_S) * 2 + WARM, self._rng)
        # Other pages than those that an interrupted run has left in a kept system.
        self._first_number = int(time.time())
        self._numbers = count(self._first_number)

    # Syncs ------------------------------------------------------------------------------------------------------------

    async def settled(self) -> None:
        """Wait until the pages equal the branch: a sync is asked for when the system starts."""
        head = self.vault.head()
        await self._until(lambda status: status["commit"] == head and status["state"] != "running", [])

    async def sync(self, name: str, begin: Callable[[], Awaitable[Any]], head: str) -> None:
        """Begin a sync, wait for its end, and count what it cost."""
        last = (await self.api.status())["last_sync"]
        before = await brain_cost.moment(self.system)
        await begin()
        progress: list[int] = []

        def ended(status: dict[str, Any]) -> bool:
            return bool(status["commit"] == head and status["state"] != "running" and status["last_sync"] != last)

        status = await self._until(ended, progress)
        after = await brain_cost.moment(self.system)
        seconds = after.at - before.at
        cost = brain_cost.between(before, after)
        changed = int(status["pages_changed"])
        self.report["syncs"][name] = {
            "seconds": round(seconds, 1),
            "pages": changed,
            "pages/s": round(changed / seconds, 1),
            "embedded texts/s": round(cost["embedded texts"] / seconds, 1),
            "result": status["last_result"],
            "errors": len(status["errors"]),
            "values of progress seen": len(set(progress)),
            **cost,
        }
        row(f"sync, {name}", self.report["syncs"][name])

    async def push(self, pages: Sequence[synthetic.Page], message: str) -> tuple[str, str]:
        """Commit pages; returns the head before and after. Nobody is told."""
        before = self.vault.head()
        return before, self.vault.commit(pages, message)

    async def _until(self, reached: Callable[[dict[str, Any]], bool], progress: list[int]) -> dict[str, Any]:
        started = shown = moved = time.perf_counter()
        last: dict[str, Any] = {}
        while not reached(status := await self.api.status()):
            now = time.perf_counter()
            moved, last = (moved, last) if status == last else (now, status)
            if now - moved > STUCK_S:
                raise RuntimeError(f"the sync has stopped: {status}")
            if running := status["progress"]:
                progress.append(running["done"])
            if now - shown >= SHOWN_EVERY_S:
                shown = now
                done = f"{running['done']:,} of {running['total']:,}" if running else status["state"]
                print(f"  … {done} after {now - started:.0f} s", file=sys.stderr, flush=True)
            await asyncio.sleep(0.1 if now - started < 10 else 0.5)
        return status

    # Reading and writing ----------------------------------------------------------------------------------------------

    async def reading(self) -> None:
        """Questions that nobody has asked, questions asked again, pages and words; nothing else happens."""
        await self._forget_vectors()
        await self.api.closed(self._calls("query", 20))
        for callers in CALLERS:
            before = await brain_cost.moment(self.system)
            self.add(f"query, cold, {plural(callers)}", await self.api.closed(self._calls("query", ASKED), callers))
            cost = brain_cost.between(before, await brain_cost.moment(self.system))
            # The others were answered by their words: the vector did not come in time.
            row("  questions with a vector", {"n": cost["embedded questions"]})
        warm = self._calls("query", WARM)
        await self.api.closed(warm, 4)
        for callers in CALLERS:
            self.add(f"query, warm, {plural(callers)}", await self.api.closed(warm * 3, callers))
        for kind in ("page", "search"):
            for callers in CALLERS:
                self.add(f"{kind}, {plural(callers)}", await self.api.closed(self._calls(kind, ASKED), callers))

    async def stages(self) -> None:
        """Where a question's time goes: recall's own stages, the rest of the call on the bus, and what the gateway adds
        to that, by the difference of the medians."""
        times: dict[str, list[float]] = {}
        walls = []
        for call in range(ASKED):
            request = QueryPagesRequest(principal=ME, query=self._questions.pop())
            started = time.perf_counter()
            reply = await self.bus.request(QUERY_PAGES, request, timeout_s=10)
            walls.append((time.perf_counter() - started) * 1000)
            if reply.degraded:
                raise RuntimeError(f"answer {call} is degraded: {reply.degraded}")
            for stage, took in reply.stages.items():
                times.setdefault(stage, []).append(took)
            times.setdefault("rest of the call", []).append(walls[-1] - sum(reply.stages.values()))
            times.setdefault(NOT_EMBED, []).append(walls[-1] - reply.stages.get("embed", 0.0))
        found = {stage: percentiles(each) for stage, each in times.items()}
        cold = self.report["walls"]["query, cold, 1 caller"]["query"]["p50"]
        found["gateway and HTTP"] = {"p50": round(cold - percentiles(walls)["p50"], 1)}
        self.report["stages_ms"] = found
        for stage, waited in found.items():
            row(f"  stage: {stage}", waited)

    async def writing(self) -> None:
        """PUT, and how long until the page is found."""
        walls = Walls()
        for _ in range(WRITTEN):
            await self._write(walls)
        self.add("writing", walls)

    async def rate(self, name: str, *, deliver: tuple[str, str] | None = None) -> None:
        """Ten requests a second for thirty seconds; with `deliver` a delivery every second and a write every five
        beside them."""
        wanted = [str(kind) for kind in self._rng.choice(list(MIX), int(RATE * RATE_S), p=list(MIX.values()))]
        calls = [self._calls(kind, 1)[0] for kind in wanted]
        beside = Walls()

        async def deliveries() -> None:
            assert deliver is not None
            for second in range(int(RATE_S)):
                await self.api.deliver(*deliver, beside)
                if second % 5 == 0:
                    await self._write(beside)
                await asyncio.sleep(1)

        before = await brain_cost.moment(self.system)
        more = asyncio.create_task(deliveries()) if deliver else None
        walls = await self.api.open(calls, RATE, self._rng)
        if more is not None:
            await more
        cost = brain_cost.between(before, await brain_cost.moment(self.system))
        for other, each in beside.of.items():
            walls.of.setdefault(other, []).extend(each)
        walls.errors += beside.errors
        self.add(name, walls)
        self.report.setdefault("rate", {})[name] = cost
        row(f"  processors, {name}", cost)

    async def _write(self, walls: Walls) -> None:
        text = " ".join(self._questions[-1 - at] for at in range(6))
        await self.api.written_to_found(next(self._numbers), text, walls)

    async def cleared(self) -> None:
        """Delete the pages that were written."""
        for number in range(self._first_number, next(self._numbers)):
            await self.api.forget(number)

    def add(self, name: str, walls: Walls) -> None:
        """Keep and print what callers waited."""
        self.report["walls"][name] = walls.summary()
        for kind, waited in walls.summary().items():
            row(name if name.startswith(kind) else f"{name}: {kind}", waited)
        if walls.errors:
            self.report["errors"][name] = dict(walls.errors)
            row(f"{name}: ERRORS", walls.errors)

    def _calls(self, kind: str, number: int) -> list[Call]:
        if kind == "query":
            return [Call.query(self._questions.pop()) for _ in range(number)]
        if kind == "search":
            return [Call.search(words) for words in synthetic.keywords(self.pages, number, self._rng)]
        return [Call.page(synthetic.page(self.pages, int(self._rng.integers(self.pages))).slug) for _ in range(number)]

    async def _forget_vectors(self) -> None:
        """Empty the cache: what an earlier run has asked is cold again, and a changed page is embedded as on a day when
        nobody has seen its text for an hour."""
        home = self.system.installation.home
        port = Ports(home.ports_file).remembered(cache.NAME) or 0
        client = redis.asyncio.Redis.from_url(cache.url(installation.credentials(home).get("cache"), port))
        await client.flushall()
        await client.aclose()

    async def measure(self, kept: Path) -> dict[str, Any]:
        """Everything, in the order of the report. `kept` has the figures of the first sync, which is done once."""
        await self.settled()
        if kept.exists():
            self.report["syncs"] = json.loads(kept.read_text(encoding="utf-8"))
            for name, figures in self.report["syncs"].items():
                row(f"sync, {name} (an earlier run)", figures)
        else:
            before, head = await self.push([synthetic.page(self.pages, n) for n in range(self.pages)], "All pages")
            await self.sync("first", lambda: self.api.deliver(before, head), head)
            kept.write_text(json.dumps(self.report["syncs"], indent=1), encoding="utf-8")
        first = self.vault.head()
        known = await self.bus.request(BRAIN_STATUS, BrainStatusRequest(principal=ME), timeout_s=30)
        self.report["store"] = known.model_dump(include={"pages", "links", "chunks", "stale_chunks"})
        row("store", self.report["store"])
        try:
            await self._measured(first)
        finally:
            self.vault.move(first)
        return self.report

    async def _measured(self, first: str) -> None:
        await self.sync("nothing changed", lambda: self.api.json(Call("sync", f"{PREFIX}/sync", "POST")), first)
        chosen = self._rng.choice(self.pages, min(CHANGED, self.pages), replace=False).tolist()
        await self._forget_vectors()
        before, head = await self.push([synthetic.page(self.pages, n, 1) for n in chosen], "Some pages")
        await self.sync(f"{len(chosen)} pages changed", lambda: self.api.deliver(before, head), head)
        await self.reading()
        await self.stages()
        await self.writing()
        await self.rate("10/s, idle")
        await self._forget_vectors()
        before, head = await self.push([synthetic.page(self.pages, n, 2) for n in range(self.pages)], "Every page")
        await self.api.deliver(before, head)
        await self._until(lambda status: bool(status["progress"]) or status["commit"] == head, [])
        await self.rate("10/s, while a sync runs", deliver=(before, head))
        state = await self.api.status()
        self.report["sync still ran"] = state["state"] == "running"
        row("  the sync", {"state": state["state"], "progress": state["progress"]})
        await self.cleared()


def row(name: str, figures: Mapping[str, Any]) -> None:
    """Print a row."""
    print(f"  {name:<44}" + "  ".join(f"{key} {value}" for key, value in figures.items()), flush=True)


def plural(callers: int) -> str:
    """How many callers."""
    return f"{callers} caller" + ("s" if callers > 1 else "")
