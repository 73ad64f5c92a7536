"""What every HTTP port of the gateway has in front of its routes: trace, body limit, and an end for open streams."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_contracts import headers as names
from cortex_gateway.problems import problem
from cortex_runtime import tracing

BODY_LIMIT_BYTES: Final = 1 << 20
BODY_WHOLE_S: Final = 30.0
TRACE_STATE: Final = "trace"


class Trace:
    """ASGI middleware: a request runs in a span below the one its `traceparent` names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app in a span."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        parent = Headers(scope=scope).get(names.TRACEPARENT)
        carrier = {names.TRACEPARENT: parent} if parent else None
        with tracing.span(f"{scope['method']} {scope['path']}", carrier, SpanKind.SERVER):
            # A handler may run in another task (an MCP session's), which takes the trace from here.
            scope.setdefault("state", {})[TRACE_STATE] = tracing.headers()
            await self._app(scope, receive, send)


class LimitBody:
    """ASGI middleware: a body above the limit is refused with 413 before anything reads it, one that does not come
    whole in time with 408. Paths that begin as one of `longer` have a limit of their own."""

    def __init__(
        self,
        app: ASGIApp,
        limit_bytes: int = BODY_LIMIT_BYTES,
        longer: Mapping[str, int] = MappingProxyType({}),
        whole_s: float = BODY_WHOLE_S,
    ) -> None:
        self._app = app
        self._limit_bytes = limit_bytes
        self._longer = longer
        self._whole_s = whole_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the body in, then run the app on it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "DELETE", "OPTIONS"):
            return await self._app(scope, receive, send)
        own = (limit for start, limit in self._longer.items() if scope["path"].startswith(start))
        limit_bytes = next(own, self._limit_bytes)
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdigit() and int(declared) > limit_bytes:
            return await self._refuse(limit_bytes, scope, receive, send)
        body = bytearray()
        more = True
        try:
            # Who sends slowly, or never to the end, must not fill the memory.
            async with asyncio.timeout(self._whole_s):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > limit_bytes:
                        return await self._refuse(limit_bytes, scope, receive, send)
        except TimeoutError:
            late = problem(408, "too_slow", f"expected the whole body within {self._whole_s:g} s")
            return await late(scope, receive, send)
        taken: Message | None = {"type": "http.request", "body": bytes(body), "more_body": False}

        async def replay() -> Message:
            nonlocal taken
            if taken is not None:
                message, taken = taken, None
                return message
            return await receive()

        return await self._app(scope, replay, send)

    async def _refuse(self, limit_bytes: int, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = problem(413, "too_large", f"expected a body of at most {limit_bytes} bytes")
        await refusal(scope, receive, send)


class Drain:
    """Ends the streams that stay open (MCP) when the service stops, as if their clients had left.

    A resource of the service; without it a stop would wait for every connected agent.
    """

    def __init__(self) -> None:
        self._closing = asyncio.Event()

    async def open(self) -> None:
        """Nothing to open."""

    async def check(self) -> None:
        """Always usable."""

    async def close(self) -> None:
        """End the open streams."""
        self._closing.set()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """`app` with an end for its streams."""

        async def drained(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return await app(scope, receive, send)
            started = ended = False

            async def watch(message: Message) -> None:
                nonlocal started, ended
                if message["type"] == "http.response.start":
                    if started and self._closing.is_set():
                        return  # the MCP SDK's SSE route answers once more after its stream: nobody is left to hear it
                    started = True
                ended = message["type"] == "http.response.body" and not message.get("more_body", False)
                await send(message)

            await app(scope, lambda: self._receive(receive), watch)
            if started and not ended and self._closing.is_set():
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        return drained

    async def _receive(self, receive: Receive) -> Message:
        """The next message, or the client's leave when the service stops first."""
        message = asyncio.ensure_future(receive())
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait({message, closing}, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()
            closing.cancel()
