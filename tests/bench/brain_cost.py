"""What a piece of work costs: processor seconds of each process of a system, and what its embedder did meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import psutil

from cortex_infra.bringup import System
from cortex_infra.servers import embedder
from cortex_infra.status import status

_SAMPLE = re.compile(r'^cortex_embedder_(\w+)_total\{lane="(\w+)"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True)
class Moment:
    """Readings at one moment. `embedder`: seconds, texts and tokens by lane."""

    at: float
    processor_s: Mapping[str, float]
    embedder: Mapping[tuple[str, str], float]


async def moment(system: System) -> Moment:
    """Read everything."""
    state = await status(system.installation.home)
    pids = {one.name: one.pid for one in (*state.services, *state.infra) if one.pid is not None}
    base = next(server.url for server in system.installation.servers if server.name == embedder.NAME)
    async with httpx.AsyncClient(trust_env=False) as client:
        told = (await client.get(f"{base.removesuffix('/v1')}/metrics")).text
    return Moment(
        time.perf_counter(),
        {name: _seconds(pid) for name, pid in pids.items()},
        {(what, lane): float(value) for what, lane, value in _SAMPLE.findall(told)},
    )


def between(before: Moment, after: Moment) -> dict[str, Any]:
    """What it cost. `embedder share of the time`: how much of it passages that came many at once were in the model;
    `of the processors`: how much of all processor seconds of the system were the embedder's."""
    seconds = after.at - before.at
    spent = {name: after.processor_s[name] - before.processor_s.get(name, 0) for name in after.processor_s}
    total = sum(spent.values())

    def did(what: str, *lanes: str) -> float:
        return sum(after.embedder.get((what, lane), 0) - before.embedder.get((what, lane), 0) for lane in lanes)

    texts = did("texts", "loads", "alone")
    return {
        "embedder share of the time": round(did("seconds", "loads") / seconds, 3),
        "embedder share of the processors": round(spent.get(embedder.NAME, 0) / total, 3) if total else 0.0,
        "embedded texts": int(texts),
        "embedded questions": int(did("texts", "queries")),
        "tokens per text": round(did("tokens", "loads", "alone") / texts, 1) if texts else 0.0,
        "processor seconds": {name: round(value, 1) for name, value in sorted(spent.items()) if value >= 0.05},
    }


def _seconds(pid: int) -> float:
    """Of a process and of all below it, those included that have ended."""
    try:
        process = psutil.Process(pid)
        return sum(sum(one.cpu_times()[:4]) for one in (process, *process.children(recursive=True)))
    except psutil.NoSuchProcess:
        return 0.0
