"""REST: `POST /v1/chat/completions` and `GET /v1/models`, as OpenAI's API has them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import prometheus_client
from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_gateway.auth import principal_of
from cortex_gateway.chat import BRAIN, Chat, Prepared, read
from cortex_gateway.chat_errors import PREFIX, ChatRefused, error_of
from cortex_gateway.chat_events import Events, Tokens
from cortex_gateway.chat_upstream import Given, failed, refused, taken
from cortex_gateway.openapi import CREDENTIALS
from cortex_gateway.usage import Purpose, Usage
from cortex_providers.outbound import Stream
from cortex_runtime import logs

PATH: Final = f"{PREFIX}/chat/completions"
BODY_LIMIT_BYTES: Final = 16 << 20
"""A request may carry images."""
CONTEXT_HEADER: Final = "X-Cortex-Context"
MISS_HEADER: Final = "X-Cortex-Miss"
MAX_CONTEXT_HEADER: Final = 2_000
"""Characters: proxies refuse responses with heads of 4 or 8 KiB (nginx, `proxy_buffer_size`)."""
PASSED_HEADERS: Final = ("retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
"""Of the upstream's: when to try again, and which request it was."""
EVENT_STREAM: Final = "text/event-stream"
SECONDS: Final = prometheus_client.Histogram("cortex_chat_seconds", "Time to the end of the upstream's answer")

REQUEST: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["model", "messages"],
                    "properties": {
                        "model": {"type": "string", "description": f"`{BRAIN}`, or a configured model"},
                        "messages": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["role"],
                                "properties": {"role": {"type": "string"}},
                            },
                        },
                        "stream": {"type": "boolean"},
                    },
                    "additionalProperties": True,
                    "description": "OpenAI's chat completion request; fields that are not named here pass unchanged",
                },
                "example": {"model": BRAIN, "messages": [{"role": "user", "content": "Who owns the Billing API?"}]},
            }
        },
    }
}
COMPLETION_EXAMPLE: Final[dict[str, Any]] = {
    "id": "chatcmpl-7",
    "object": "chat.completion",
    "created": 1796040000,
    "model": "small-model",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Inês owns it [ines-roldao]."},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 310, "completion_tokens": 9, "total_tokens": 319},
}
MODELS_EXAMPLE: Final[dict[str, Any]] = {
    "object": "list",
    "data": [{"id": BRAIN, "object": "model", "created": 0, "owned_by": "cortex"}],
}
ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": ["string", "null"]},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "integer", "null"]},
            },
        }
    },
}

log = logs.get(__name__)


def _error(status: int, description: str, message: str, code: str, param: str | None = None) -> dict[str, Any]:
    value = {"error": error_of(status, message, code, param=param)}
    return {"description": description, "content": {"application/json": {"schema": ERROR_SCHEMA, "example": value}}}


REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    401: _error(401, "No valid credentials", "expected valid credentials", "unauthorized"),
    429: _error(429, "Too many requests, or the day's tokens are spent; wait `Retry-After` seconds",
                "the 50000 tokens of this day (UTC) are spent", "daily_tokens_spent"),
}  # fmt: skip
CHAT_REFUSALS: Final[dict[int | str, dict[str, Any]]] = REFUSALS | {
    400: _error(400, "The body is no JSON object", "expected a JSON object as the body", "invalid_json"),
    404: _error(
        404,
        "There is no such model, or no upstream is configured",
        "there is no model 'x' here",
        "model_not_found",
        "model",
    ),
    413: _error(413, "The body is too large", f"expected a body of at most {BODY_LIMIT_BYTES} bytes", "too_large"),
    422: _error(422, "A field is wrong", "messages: expected a list", "invalid_value", "messages"),
    502: _error(502, "The upstream fails", "the chat upstream does not answer (ConnectError)", "upstream_unreachable"),
    503: _error(
        503, "A key cannot be checked now; wait `Retry-After` seconds", "no ingest service answers", "unavailable"
    ),
    504: _error(504, "The upstream is too slow", "the chat upstream did not begin to answer", "upstream_timeout"),
    "4XX": _error(400, "What the upstream refuses, in its words", "temperature is too high", "invalid_value"),
}


def chat_router(chat: Chat, usage: Usage) -> APIRouter:
    """The routes; who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["chat"], dependencies=CREDENTIALS)

    @routes.post(
        "/chat/completions",
        summary="Chat with what the vaults know",
        response_class=Response,
        openapi_extra=REQUEST,
        responses=CHAT_REFUSALS
        | {
            200: {
                "description": "The upstream's answer as it is; with `stream` the upstream's events. "
                f"`{CONTEXT_HEADER}` has the slugs of the pages it was given, `{MISS_HEADER}` why there are none",
                "content": {
                    "application/json": {"example": COMPLETION_EXAMPLE},
                    EVENT_STREAM: {"schema": {"type": "string"}},
                },
            }
        },
    )
    async def complete(request: Request) -> Response:
        """Up to five pages about the last user message go before the conversation, everything goes to the configured
        model, and its answer comes back unchanged. Without pages the chat goes on."""
        return Relay(chat, usage, principal_of(request), await request.body())

    @routes.get(
        "/models",
        summary="What may be asked for as `model`",
        responses=REFUSALS
        | {200: {"description": "The models", "content": {"application/json": {"example": MODELS_EXAMPLE}}}},
    )
    async def models() -> dict[str, Any]:
        """`[brain]`, and the models of the upstream that callers may name themselves."""
        return {
            "object": "list",
            "data": [{"id": name, "object": "model", "created": 0, "owned_by": "cortex"} for name in chat.models],
        }

    return routes


class Relay(Response):
    """The upstream's answer to one request; when the client leaves, the upstream is left too."""

    def __init__(self, chat: Chat, usage: Usage, principal: Principal, asked: bytes) -> None:
        super().__init__()
        self._chat = chat
        self._usage = usage
        self._principal = principal
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, for as long as somebody listens."""
        work = asyncio.create_task(self._answer(scope, receive, send))
        left = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            if not work.done():
                work.cancel()
            await asyncio.gather(work, left, return_exceptions=True)
        if not work.cancelled():
            work.result()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            # Megabytes of JSON take their time; health and heartbeats go on meanwhile.
            asked = await asyncio.to_thread(read, self._asked)
            prepared = await self._chat.prepare(self._principal, asked)
            response = await self._relayed(prepared, send)
        except ChatRefused as refusal:
            response = refusal.response()
        if response is not None:
            await response(scope, receive, send)

    async def _relayed(self, prepared: Prepared, send: Send) -> Response | None:
        """The answer when it came as a whole; none: it was streamed."""
        receipts = _receipts(prepared)
        tokens = Tokens(prepared.body["messages"])
        body = await asyncio.to_thread(lambda: json.dumps(prepared.body).encode())
        started = time.perf_counter()
        worked = False
        try:
            async with self._chat.upstream.ask(body, stream=prepared.stream) as answer:
                passed = {name: answer.headers[name] for name in PASSED_HEADERS if name in answer.headers}
                if not 200 <= answer.status < 300:
                    refusal = refused(await taken(answer), passed)
                    refusal.headers.update(receipts)
                    raise refusal
                worked = True
                if answer.headers.get("content-type", "").startswith(EVENT_STREAM):
                    await self._streamed(answer, {**passed, **receipts}, tokens, send)
                    return None
                given = await taken(answer)
                tokens.read(given.body)
                return _whole(given, {**passed, **receipts})
        except ChatRefused as refusal:
            worked = worked or refusal.status == 504
            raise
        except asyncio.CancelledError:
            # The caller left. What the upstream was asked it may have answered: leaving early saves no tokens.
            worked = True
            raise
        finally:
            if worked:
                self._count(tokens, time.perf_counter() - started)

    def _count(self, tokens: Tokens, seconds: float) -> None:
        """Count what the answer took, also of one that nobody waited for; the request itself is counted already."""
        SECONDS.observe(seconds)
        input_tokens, output_tokens = tokens.used
        self._usage.count(
            self._principal,
            Purpose.CHAT,
            requests=0,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            model_ms=round(seconds * 1000),
        )

    async def _streamed(self, answer: Stream, headers: Mapping[str, str], tokens: Tokens, send: Send) -> None:
        """Pass on every event as soon as it is whole. An answer that breaks off ends with an error instead of `[DONE]`,
        without the event that was not whole: half of one is not to be read."""
        head = {
            "content-type": answer.headers["content-type"],
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            **headers,
        }
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in head.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        events = Events()
        try:
            async for piece in answer.pieces:
                for event in events.feed(piece):
                    tokens.read_event(event)
                    await send({"type": "http.response.body", "body": event, "more_body": True})
            last = events.rest
            tokens.read_event(last)
        except CortexError as error:
            last = failed(error).event()
        await send({"type": "http.response.body", "body": last, "more_body": False})


def _whole(given: Given, headers: Mapping[str, str]) -> Response:
    try:
        complete = isinstance(json.loads(given.body), dict)
    except (ValueError, RecursionError):
        complete = False
    if not complete:
        raise ChatRefused(502, "the chat upstream answered with something that is no completion", "upstream")
    return Response(given.body, given.status, dict(headers), given.headers.get("content-type", "application/json"))


def _receipts(prepared: Prepared) -> dict[str, str]:
    """What the caller learns about the context: slugs as URLs have them, as many as a header holds."""
    if prepared.miss:
        return {MISS_HEADER: prepared.miss}
    return {CONTEXT_HEADER: slugs} if (slugs := _listed(prepared.slugs)) else {}


def _listed(slugs: Sequence[str]) -> str:
    listed = ""
    for slug in slugs:
        more = f"{listed},{quote(slug)}" if listed else quote(slug)
        if len(more) > MAX_CONTEXT_HEADER:
            break
        listed = more
    return listed


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
