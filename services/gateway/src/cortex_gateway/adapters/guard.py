"""What stands between the bus and an adapter: one engine's limit, its breaker, who may ask it, and the size of answers.

`ask` never raises (but when it is cancelled) and never takes longer than the limit: what the adapter does after that is
not waited for. One task of each guard, and no question, finds out whether an engine that failed is back; the same task
looks after an engine that nobody asks.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import prometheus_client

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
)
from cortex_gateway.adapters.breaker import LAST_START_S, LAST_TRIAL_S, Breaker, Standing, delay_s
from cortex_gateway.adapters.hit_bounds import bounded
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.untrusted_text import SENTENCE_LENGTH, cut, sentence
from cortex_runtime import logs

WAY_BACK_S: Final = 0.02
"""Kept off the caller's deadline for the reply's way to it."""
WHOLE: Final = 0.9
"""The share of its limit after which an engine's silence is its own fault; with less, its caller was in a hurry."""
CHECK_EVERY_S: Final = 30.0
"""How often an engine that nobody asks is looked after; what `health` says is at most this old."""
SUSPECTED_EVERY_S: Final = 1.0
"""How often at most an engine is looked at because callers in a hurry got no answer."""
CHECK_LIMIT_S: Final = 5.0
AFRESH_EVERY: Final = 3
"""Of the failures in a row of an engine that lives and is not in time, the one after which it is connected to afresh,
which starts a command anew: what makes it slow may be that it has just been started."""
TRIAL_LIMIT_S: Final = 35.0
"""Longer than any adapter takes to connect (`mcp_engine.OPEN_LIMIT_S`)."""
CLOSE_LIMIT_S: Final = 5.0

ASKED: Final = prometheus_client.Gauge(
    "cortex_engine_asked", "Whether questions go to an engine; 0 while its breaker is open", ["engine"]
)

log = logs.get(__name__)


class Guard:
    """One engine, guarded. `run` must run for it to be connected, tried again and looked after."""

    def __init__(
        self,
        source: EngineSource,
        engine: Engine,
        org: str,
        longest_s: float,
        *,
        delay: Callable[[int], float] | None = None,
    ) -> None:
        """`longest_s` bounds the limit of `source`: what whoever asks gives an engine at most.
        `delay` is the time to the next trial, by failures in a row; none: that of `breaker`.
        """
        self.key = source.key
        self._source = source
        self._engine = engine
        self._org = org
        self._limit_s = min(source.limit_s, longest_s)
        last_s = LAST_START_S if source.command else LAST_TRIAL_S
        self._delay = delay or (lambda failures: delay_s(failures, random.random(), last_s))
        self._breaker = Breaker()
        ASKED.labels(self.key).set(self._breaker.asked)
        self._turned = asyncio.Event()
        """Set when the breaker has changed, or when the engine should be looked after at once."""
        self._known = asyncio.Event()
        """Set from the end of the first trial."""
        self._suspect = False
        self._overdue = False
        """Whether all that is known against the engine is that it was not in time."""
        self._heard_at = 0.0
        self._last_ingest: datetime | None = None
        self._given_up: set[asyncio.Task[Sequence[Hit]]] = set()

    @property
    def breaker(self) -> Breaker:
        """What is known of the engine now."""
        return self._breaker

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        """The engine's hits, or why there are none, within the limit."""
        if (reason := self._refused(request.principal)) is not None:
            return self._down(reason)
        if not self._breaker.asked:
            return self._down(self._why())
        deadline_s = max(0.001, request.deadline_ms / 1000 - WAY_BACK_S)
        limit_s = min(self._limit_s, deadline_s)
        task = asyncio.create_task(self._searched(request))
        try:
            done, _ = await asyncio.wait({task}, timeout=limit_s)
        except asyncio.CancelledError:
            self._give_up(task)
            raise
        if not done:
            self._give_up(task)
            return self._late(limit_s)
        try:
            hits = bounded(self.key, task.result(), request.k, self._source.secrets)
        except CortexError as error:
            reason = sentence(error.message, self._source.secrets)
            if isinstance(error, Unavailable):
                self._fail(reason)
            return self._down(reason)
        except (Exception, asyncio.CancelledError) as error:  # edge: a fault of ours says nothing of the engine
            log.error("adapter failed", engine=self.key, exc_info=error)
            return self._down("unexpected failure")
        self._turn(self._breaker.answered())
        self._heard_at = _now()
        return EngineAskReply(engine=self.key, status=EngineStatus.UP, hits=hits)

    async def health(self, request: EngineHealthRequest) -> EngineHealth:
        """What is known of the engine now; nothing is asked of it."""
        seen = request.principal.org == self._org and self._breaker.standing is Standing.CLOSED
        if not seen:
            return EngineHealth(engine=self.key, status=EngineStatus.DOWN)
        last = self._last_ingest
        stale = None if last is None else max(0.0, (datetime.now(UTC) - last).total_seconds() / 3600)
        return EngineHealth(engine=self.key, status=EngineStatus.UP, last_ingest=last, staleness_h=stale)

    async def run(self) -> None:
        """Connect, look after the engine, and try it again after each failure, until cancelled; then close it."""
        try:
            while True:
                if self._breaker.standing is Standing.CLOSED:
                    await self._look_after()
                else:
                    await self._try_again()
        finally:
            with suppress(Exception):  # edge: what does not close must not keep the process
                async with asyncio.timeout(CLOSE_LIMIT_S):
                    await self._engine.close()

    async def _searched(self, request: EngineAskRequest) -> Sequence[Hit]:
        if self._breaker.standing is Standing.UNKNOWN:
            await self._known.wait()
            if not self._breaker.asked:
                raise Unavailable(self._why())
        return await self._engine.search(request.query, request.k)

    def _give_up(self, task: asyncio.Task[Sequence[Hit]]) -> None:
        task.cancel()
        self._given_up.add(task)
        task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[Sequence[Hit]]) -> None:
        self._given_up.discard(task)
        if not task.cancelled():
            task.exception()  # nobody waits for it any more

    def _late(self, limit_s: float) -> EngineAskReply:
        reason = f"no answer within {limit_s * 1000:.0f} ms"
        if self._breaker.standing is Standing.UNKNOWN:
            reason = f"{reason}: it is still being connected to"
        if limit_s >= WHOLE * self._limit_s:
            self._overdue = self._breaker.standing is Standing.CLOSED
            self._fail(reason)
        else:
            # The caller had less time than the engine may take: that says little, and is looked into.
            self._suspect = True
            self._turned.set()
        return self._down(reason)

    def _fail(self, reason: str, *, on_trial: bool = False) -> None:
        if self._breaker.asked:
            log.warning("engine is down", engine=self.key, reason=reason)
        elif not on_trial:
            return  # a question that began before the engine was known to be down
        self._turn(self._breaker.failed(_now(), reason, self._delay(self._breaker.failures + 1)))

    def _turn(self, breaker: Breaker) -> None:
        if breaker.standing is not self._breaker.standing:
            self._turned.set()
        self._breaker = breaker
        ASKED.labels(self.key).set(breaker.asked)

    def _refused(self, principal: Principal) -> str | None:
        if principal.org != self._org:
            return "this engine belongs to another organisation"
        namespace = self._source.namespace
        if namespace is not None and principal.readable is not None and namespace not in principal.readable:
            return "this engine may not be asked with these credentials"
        return None

    def _why(self) -> str:
        wait_s = self._breaker.trial_at - _now()
        when = f"tried again in {math.ceil(wait_s)} s" if wait_s > 0 else "being tried again"
        return f"{cut(self._breaker.reason, SENTENCE_LENGTH - 40)}; {when}"

    def _down(self, reason: str) -> EngineAskReply:
        error = cut(reason, SENTENCE_LENGTH)
        return EngineAskReply(engine=self.key, status=EngineStatus.DOWN, error=error)

    async def _try_again(self) -> None:
        """Wait until the next trial is due, and try; what answers meanwhile makes it needless."""
        while (wait_s := self._breaker.trial_at - _now()) > 0:
            if await self._woken(wait_s):
                return
        reason = await self._trial()
        if reason is None:
            log.info("engine is up", engine=self.key)
            self._heard_at = _now()
            self._turn(self._breaker.reached())
        else:
            self._fail(reason, on_trial=True)
        self._known.set()
        if reason is None:
            await self._learn_age()

    async def _trial(self) -> str | None:
        """Why the engine cannot be asked again; none when it can."""
        overdue, self._overdue = self._overdue, False
        reuse = overdue and self._breaker.failures % AFRESH_EVERY != 0
        if reuse and await self._failure(self._engine.check(), CHECK_LIMIT_S, "gave no sign of life") is None:
            return None
        return await self._failure(self._engine.open(), TRIAL_LIMIT_S, "was not connected")

    async def _look_after(self) -> None:
        """Wait until the engine has not been heard of for a while, or is suspected, and check it."""
        every_s = SUSPECTED_EVERY_S if self._suspect else CHECK_EVERY_S
        wait_s = self._heard_at + every_s - _now()
        if wait_s > 0 and await self._woken(wait_s):
            return
        self._suspect = False
        reason = await self._failure(self._engine.check(), CHECK_LIMIT_S, "gave no sign of life")
        if reason is not None:
            return self._fail(reason)
        self._heard_at = _now()
        await self._learn_age()

    async def _failure(self, proof: Coroutine[None, None, None], limit_s: float, late: str) -> str | None:
        """Why a proof of life failed; none when it did not."""
        try:
            async with asyncio.timeout(limit_s):
                await proof
        except CortexError as error:
            return sentence(error.message, self._source.secrets)
        except TimeoutError:
            return f"the engine {self.key} {late} within {limit_s:g} s"
        except Exception as error:  # edge: an adapter's fault must not end the trials
            log.error("adapter failed", engine=self.key, exc_info=error)
            return "unexpected failure"
        return None

    async def _learn_age(self) -> None:
        try:
            async with asyncio.timeout(CHECK_LIMIT_S):
                self._last_ingest = await self._engine.last_ingest()
        except (CortexError, TimeoutError) as error:
            reason = sentence(str(error), self._source.secrets)
            log.info("age of an engine not known", engine=self.key, reason=reason or "too slow")
        except Exception as error:  # edge: an adapter's fault must not end the care
            log.error("adapter failed", engine=self.key, exc_info=error)

    async def _woken(self, wait_s: float) -> bool:
        """Whether something turned within `wait_s`."""
        try:
            async with asyncio.timeout(wait_s):
                await self._turned.wait()
        except TimeoutError:
            return False
        self._turned.clear()
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()
