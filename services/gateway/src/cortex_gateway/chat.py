"""`[brain]` chats: what the vaults know about the last message goes before it, the rest goes to a language model.

Whatever is wrong with the pages, the chat goes on without them: a miss is logged, counted and told, never an error.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

import prometheus_client

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import QUERY_PAGES, PageResult, QueryPagesRequest
from cortex_gateway.chat_context import MAX_PAGES, context_of, question_of, with_context, worth
from cortex_gateway.chat_errors import ChatRefused
from cortex_gateway.chat_upstream import MODEL_SETTING, URL_SETTING, Upstream
from cortex_gateway.usage import Purpose, Usage
from cortex_runtime import logs
from cortex_runtime.bus import Bus

BRAIN: Final = "[brain]"
"""The model that means: with context, from the configured model."""
NO_TEXT: Final = "no_text"
EMPTY: Final = "empty"
TIMEOUT: Final = "timeout"
FOUND: Final = "found"
CONTEXTS: Final = prometheus_client.Counter(
    "cortex_chat_contexts_total", "Chats with the model [brain], by found or why they had no context", ["outcome"]
)

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """Seconds the pages may take, the least score of one, and tokens of a principal in a day (0: any number)."""

    query_s: float
    min_score: float
    daily_tokens: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a caller sent it: every field is kept as it is."""

    body: dict[str, Any]

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, oldest first."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as it comes."""
        return self.body.get("stream") is True


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as the upstream gets it, the slugs of the pages in it, and why there are none (none: there are, or the
    model is not `[brain]`)."""

    body: dict[str, Any]
    slugs: tuple[str, ...] = ()
    miss: str | None = None
    stream: bool = field(default=False)


class Chat:
    """Prepares requests for the upstream."""

    def __init__(
        self, bus: Bus, usage: Usage, upstream: Upstream | None, models: Sequence[str], limits: ChatLimits
    ) -> None:
        self._bus = bus
        self._usage = usage
        self._upstream = upstream
        self._models = tuple(models)
        self._limits = limits

    @property
    def models(self) -> tuple[str, ...]:
        """What may be asked for; without an upstream nothing."""
        return (BRAIN, *self._models) if self._upstream else ()

    @property
    def upstream(self) -> Upstream:
        """Where chats go.

        Raises:
            ChatRefused: none is configured.
        """
        if self._upstream is None:
            sentence = f"no chat upstream is configured: set {URL_SETTING} and {MODEL_SETTING}, start the gateway again"
            raise ChatRefused(404, sentence, "model_not_found", param="model")
        return self._upstream

    async def prepare(self, principal: Principal, asked: Asked) -> Prepared:
        """The request with its context and the upstream's model; a model that callers name themselves has no context.

        Raises:
            ChatRefused: there is no such model, no upstream, or the tokens of the day are spent.
        """
        upstream = self.upstream
        if asked.model not in self.models:
            sentence = f"there is no model {asked.model[:100]!r} here; expected one of {', '.join(self.models)}"
            raise ChatRefused(404, sentence, "model_not_found", param="model")
        await self._within_the_day(principal)
        if asked.model != BRAIN:
            return Prepared(asked.body, stream=asked.stream)
        context, slugs, miss = await self._context(principal, asked)
        CONTEXTS.labels(miss or FOUND).inc()
        if miss:
            self._usage.count(principal, Purpose.CHAT_MISS)
        messages = with_context(asked.messages, context) if slugs else asked.messages
        return Prepared({**asked.body, "model": upstream.model, "messages": messages}, slugs, miss, asked.stream)

    async def _within_the_day(self, principal: Principal) -> None:
        limit = self._limits.daily_tokens
        if not limit or await self._usage.tokens_today(principal) < limit:
            return
        now = datetime.now(UTC)
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        seconds = str(int((midnight - now).total_seconds()) + 1)
        sentence = f"the {limit} tokens of this day (UTC) are spent; there are new ones in {seconds} s"
        headers = {"Retry-After": seconds, "x-should-retry": "false"}
        raise ChatRefused(429, sentence, "daily_tokens_spent", type="insufficient_quota", headers=headers)

    async def _context(self, principal: Principal, asked: Asked) -> tuple[str, tuple[str, ...], str | None]:
        """The context, the slugs in it, and why there is none."""
        question = question_of(asked.messages)
        if not question:
            return self._missed(NO_TEXT)
        try:
            results = await self._found(principal, question)
        except TimeoutError:
            return self._missed(TIMEOUT, f"no answer within {self._limits.query_s:g} s")
        except CortexError as error:
            reason = TIMEOUT if error.code is ErrorCode.DEADLINE_EXCEEDED else error.code.value
            return self._missed(reason, error.message)
        except Exception as error:  # edge: no failure of the pages may end a chat
            log.error("unexpected failure", place="context of a chat", exc_info=error)
            return self._missed(ErrorCode.INTERNAL.value, type(error).__name__)
        if not results:
            return self._missed(EMPTY)
        context, taken = context_of(results)
        return context, tuple(one.slug for one in taken), None

    async def _found(self, principal: Principal, question: str) -> tuple[PageResult, ...]:
        limit_s = self._limits.query_s
        request = QueryPagesRequest(principal=principal, query=question, limit=MAX_PAGES)
        async with asyncio.timeout(limit_s):
            reply = await self._bus.request(QUERY_PAGES, request, timeout_s=limit_s)
        return worth(reply.results, self._limits.min_score)

    def _missed(self, reason: str, detail: str = "") -> tuple[str, tuple[str, ...], str | None]:
        (log.warning if detail else log.info)("chat without context", reason=reason, detail=detail)
        return "", (), reason


def read(body: bytes) -> Asked:
    """A request, checked as far as Cortex itself reads it; the rest is the upstream's to judge.

    Raises:
        ChatRefused: 400 for what is no JSON object, 422 for a field that is wrong.
    """
    try:
        given = json.loads(body, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        raise ChatRefused(400, "expected a JSON object as the body", "invalid_json") from None
    if not isinstance(given, dict):
        raise ChatRefused(400, "expected a JSON object as the body", "invalid_json")
    model, messages = given.get("model"), given.get("messages")
    if not isinstance(model, str):
        raise _wrong("model", "expected the name of a model", given)
    if not isinstance(messages, list) or not messages:
        raise _wrong("messages", "expected a list with at least one message", given)
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise _wrong(f"messages[{number}]", "expected an object with a role", given)
    return Asked(given)


def _wrong(param: str, expected: str, given: dict[str, Any]) -> ChatRefused:
    code = "invalid_value" if param in given or "[" in param else "missing_required_parameter"
    return ChatRefused(422, f"{param}: {expected}", code, param=param)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    """A number that can be written again: `1e999` is JSON, and no float."""
    if not math.isfinite(number := float(text)):
        raise ValueError("expected a number of 64 bits")
    return number
