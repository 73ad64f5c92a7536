"""The fan-out: one question to every engine in scope at once, over NATS.

An engine never fails a question: whatever goes wrong with it, it is `down` with the reason, and the others are not
delayed past its limit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, Protocol

from cortex_contracts.errors import CortexError, ErrorCode, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.ask import EngineState, GatewayHealth
from cortex_contracts.rpc.contract import ReplyT, RequestT, Rpc
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
)
from cortex_gateway.adapters.hit_bounds import SNIPPET_LENGTH
from cortex_gateway.adapters.untrusted_text import cut, sentence
from cortex_gateway.errors import UnknownEngine
from cortex_runtime import logs

TITLE_LENGTH: Final = 500
PATH_LENGTH: Final = 1_000
ASSERTIONS: Final = 32
"""Of one hit; no page or memory has more."""
HEALTH_AGE_S: Final = 1.0
"""`GET /health` is open: within this time everybody gets the same answer, so that it cannot be used to load engines."""

log = logs.get(__name__)


class Caller(Protocol):
    """Calls an RPC (the bus)."""

    async def request(self, rpc: Rpc[RequestT, ReplyT], request: RequestT, *, timeout_s: float | None = None) -> ReplyT:
        """The result of the call. Raises CortexError."""
        ...


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What one engine had to say, and how it was."""

    state: EngineState
    hits: tuple[Hit, ...]


class FanOut:
    """The engines that are asked. None of them gets more than `limit_s` for a question."""

    def __init__(
        self,
        caller: Caller,
        keys: Sequence[str],
        limit_s: float,
        own: Principal,
        absent: Mapping[str, str] = MappingProxyType({}),
        on_request: Sequence[str] = (),
    ) -> None:
        """`absent`: engines that are known and not configured, each with the setting that would change that; a question
        that names one is told so. `on_request`: engines that are asked only by a question that names them."""
        self._caller = caller
        self._keys = tuple(keys)
        self._limit_s = limit_s
        self._own = own
        self._known = tuple(dict.fromkeys((*self._keys, *on_request)))
        self._absent = {key: name for key, name in absent.items() if key not in self._known}
        self._health: tuple[float, GatewayHealth] | None = None
        self._asking_health = asyncio.Lock()

    def select(self, scope: Sequence[str] | None) -> tuple[str, ...]:
        """The engines a question goes to: those of its scope, or all that are configured when it names none.

        Raises:
            UnknownEngine: the scope names something that is no engine.
        """
        if not scope:
            return self._keys
        unknown = [key for key in scope if key not in self._known and key not in self._absent]
        if unknown:
            raise UnknownEngine(unknown, self._known)
        return tuple(dict.fromkeys(scope))

    async def ask(
        self,
        principal: Principal,
        query: str,
        k: int,
        scope: Sequence[str] | None,
        remaining_s: float,
        heard: Callable[[EngineAnswer], None] | None = None,
    ) -> tuple[EngineAnswer, ...]:
        """The answers of the engines in scope, in the order of the scope, within `remaining_s` at most.

        `heard` is told each answer when it comes. Whoever cancels this cancels what the engines do.

        Raises:
            UnknownEngine: see `select`.
        """
        keys = self.select(scope)
        limit_s = max(0.001, min(self._limit_s, remaining_s))
        request = EngineAskRequest(principal=principal, query=query, k=k, deadline_ms=max(1, int(limit_s * 1000)))

        async def answer(key: str) -> EngineAnswer:
            said = _not_configured(key, self._absent[key]) if key in self._absent else await self._ask(key, request)
            if heard is not None:
                heard(said)
            return said

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(key)) for key in keys]
        return tuple(task.result() for task in tasks)

    async def health(self) -> GatewayHealth:
        """Liveness and freshness of every engine, at most `HEALTH_AGE_S` old."""
        async with self._asking_health:
            if self._health is None or time.monotonic() - self._health[0] > HEALTH_AGE_S:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._health_of(key)) for key in self._keys]
                states = tuple(task.result() for task in tasks)
                health = GatewayHealth(engines=states, ok=all(state.status is EngineStatus.UP for state in states))
                self._health = (time.monotonic(), health)
            return self._health[1]

    async def _ask(self, key: str, request: EngineAskRequest) -> EngineAnswer:
        rpc = engine.ask(key)
        limit_s = request.deadline_ms / 1000
        started = time.perf_counter()

        async def call() -> EngineAskReply:
            return await self._caller.request(rpc, request, timeout_s=limit_s)

        reply, error = await _attempt(key, call, limit_s)
        ms = round((time.perf_counter() - started) * 1000)
        if reply is None or reply.status is EngineStatus.DOWN:
            return _down(key, ms, error or (reply and reply.error) or "the engine says it is down")
        hits = tuple(_received(key, hit) for hit in reply.hits[: request.k])
        # An engine that is up may have answered without a part of itself, and says so.
        missing = sentence(reply.error) if reply.error else None
        return EngineAnswer(EngineState(engine=key, status=EngineStatus.UP, ms=ms, error=missing), hits)

    async def _health_of(self, key: str) -> EngineHealth:
        rpc = engine.health(key)

        async def call() -> EngineHealth:
            return await self._caller.request(rpc, EngineHealthRequest(principal=self._own), timeout_s=rpc.timeout_s)

        state, _ = await _attempt(key, call, rpc.timeout_s)
        if state is None:
            return EngineHealth(engine=key, status=EngineStatus.DOWN)
        stale = state.staleness_h
        if stale is None and state.last_ingest is not None:
            stale = max(0.0, (datetime.now(UTC) - state.last_ingest).total_seconds() / 3600)
        return state.model_copy(update={"engine": key, "staleness_h": stale})


async def _attempt(key: str, call: Callable[[], Awaitable[ReplyT]], limit_s: float) -> tuple[ReplyT | None, str | None]:
    """The result of `call`, or why there is none."""
    try:
        async with asyncio.timeout(limit_s):
            return await call(), None
    except CortexError as error:
        if error.code is ErrorCode.DEADLINE_EXCEEDED:
            return None, _too_slow(limit_s)
        # A missing responder is said by the bus in terms of subjects; a person wants to know the engine.
        return None, f"nothing answers for the engine {key}" if isinstance(error, Unavailable) else error.message
    except TimeoutError:
        return None, _too_slow(limit_s)
    except Exception as error:  # edge: one engine's fault must not become the question's
        log.error("engine call failed", engine=key, exc_info=error)
        return None, "unexpected failure"


def _too_slow(limit_s: float) -> str:
    return f"no answer within {limit_s * 1000:.0f} ms"


def _not_configured(key: str, name: str) -> EngineAnswer:
    return _down(key, 0, f"not configured: set {name}")


def _down(key: str, ms: int, error: str) -> EngineAnswer:
    return EngineAnswer(EngineState(engine=key, status=EngineStatus.DOWN, ms=ms, error=sentence(error)), ())


def _received(key: str, hit: Hit) -> Hit:
    """A hit as we go on with it: under the key that was asked, whatever the engine calls itself, and of a size that
    ranking and reconciling are made for, whoever answers."""
    fields = {
        "engine": key,
        "title": cut(hit.title, TITLE_LENGTH),
        "path": cut(hit.path, PATH_LENGTH),
        "snippet": cut(hit.snippet, SNIPPET_LENGTH),
        "assertions": hit.assertions[:ASSERTIONS],
    }
    changes = {name: value for name, value in fields.items() if value != getattr(hit, name)}
    return hit.model_copy(update=changes) if changes else hit
