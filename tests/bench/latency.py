"""Timed recalls through NATS: percentiles of what a caller waits, and where an answer spends its time."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from synthetic_questions import Question

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.recall import RECALL, RecallReply, RecallRequest
from cortex_runtime.bus import Bus


@dataclass(frozen=True)
class Run:
    """Milliseconds of each recall, and what the whole took."""

    walls: list[float]
    replies: list[RecallReply]
    seconds: float

    def summary(self) -> dict[str, float]:
        """Percentiles in milliseconds and recalls per second."""
        return percentiles(self.walls) | {"per_s": round(len(self.walls) / self.seconds, 1)}


def percentiles(walls: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99."""
    return {f"p{p}": round(float(np.percentile(walls, p)), 1) for p in (50, 95, 99)}


async def run(
    bus: Bus, me: Principal, asked: Sequence[Question], callers: int = 1, *, explain: bool = False, rounds: int = 1
) -> Run:
    """Ask everything `rounds` times; `callers` wait for one answer each at a time.

    Raises:
        RuntimeError: an answer went without its vector.
    """
    walls: list[float] = []
    replies: list[RecallReply] = []
    waiting = iter([question for _ in range(rounds) for question in asked])

    async def caller() -> None:
        for question in waiting:
            request = RecallRequest(principal=me, query=question.text, namespaces=question.namespaces, explain=explain)
            started = time.perf_counter()
            reply = await bus.request(RECALL, request, timeout_s=30)
            walls.append((time.perf_counter() - started) * 1000)
            replies.append(reply)
            if reply.degraded:
                raise RuntimeError(f"an answer is degraded: {', '.join(reply.degraded)}")

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return Run(walls, replies, time.perf_counter() - started)


async def warm_up(bus: Bus, me: Principal, asked: Sequence[Question]) -> None:
    """Bring the store into memory: the first recalls of one that was not read for long may run into a time limit."""
    for question in asked:
        with suppress(Unavailable):
            await run(bus, me, [question])


def stages(explained: Run) -> dict[str, dict[str, float]]:
    """Milliseconds per stage; `queue` is what the caller waits beyond them: the bus, and what is made of the answer."""
    times: dict[str, list[float]] = defaultdict(list)
    for wall, reply in zip(explained.walls, explained.replies, strict=True):
        for stage, took in reply.stages_ms.items():
            times[stage].append(took)
        times["queue"].append(wall - sum(reply.stages_ms.values()))
    return {stage: percentiles(each) for stage, each in times.items()}
