"""The one endpoint: `POST /api/v1/brain/sync/webhook`.

Nothing of a request is looked at before its signature is checked over the raw bytes, and neither body nor signature is
ever logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from cortex_contracts.errors import Unavailable
from cortex_runtime import logs, tracing
from cortex_runtime.settings_vaults import VaultSource
from cortex_webhook import delivery, signature
from cortex_webhook.commands import SyncCommands
from cortex_webhook.errors import DeliveryError, Forged, Malformed, TooLarge, TooSlow

PATH: Final = "/api/v1/brain/sync/webhook"
MAX_BODY_BYTES: Final = 25 * 1024 * 1024
"""GitHub's own limit of a payload."""
LARGE_BODY_BYTES: Final = 128 * 1024
"""Above this a body is worked on in a thread: 25 MB of JSON take 0.1 s to read, of form fields some seconds."""
LARGE_BODIES: Final = 8
"""Held at a time, 200 MB; further ones wait unread. Whether a body is signed is only known when all of it is there."""
BODY_TIMEOUT_S: Final = 30.0
RETRY_AFTER_S: Final = 30

log = logs.get(__name__)

Decision = delivery.Pong | delivery.Ignored | delivery.Wanted


def build(commands: SyncCommands, secrets: Sequence[bytes], vaults: Sequence[VaultSource]) -> FastAPI:
    """The HTTP face of the service."""
    app = FastAPI(title="Cortex webhook", openapi_url=None)
    large = asyncio.Semaphore(LARGE_BODIES)

    def examine(event: str, delivery_id: str, content_type: str, body: bytes, given: str | None) -> Decision:
        if not signature.is_valid(body, given, secrets):
            raise Forged("the signature is missing or wrong")
        if not event or not delivery.is_delivery_id(delivery_id):
            raise Malformed("expected the headers X-GitHub-Event and X-GitHub-Delivery")
        return delivery.read(event, delivery_id, content_type, body, vaults)

    async def receive(request: Request, held: AsyncExitStack) -> JSONResponse:
        """Verify one delivery and queue what it asks for; the work itself happens after the answer."""
        headers = request.headers
        delivery_id = headers.get("x-github-delivery", "")
        try:
            body = await _body(request, lambda: held.enter_async_context(large))
            arguments = (
                headers.get("x-github-event", ""),
                delivery_id,
                headers.get("content-type", ""),
                body,
                headers.get(signature.HEADER),
            )
            if len(body) > LARGE_BODY_BYTES:
                decision = await asyncio.to_thread(examine, *arguments)
            else:
                decision = examine(*arguments)
        except DeliveryError as error:
            log.warning("delivery refused", error=error.name, reason=str(error))
            return _refusal(error.status, error.name, str(error))
        match decision:
            case delivery.Pong():
                return JSONResponse({"status": "ok"})
            case delivery.Ignored(reason):
                log.info("delivery ignored", delivery=delivery_id, reason=reason)
                return JSONResponse({"status": "ignored", "reason": reason}, status_code=202)
            case delivery.Wanted():
                return await queue(decision, delivery_id)

    async def queue(wanted: delivery.Wanted, delivery_id: str) -> JSONResponse:
        try:
            new = await commands.send(wanted, delivery_id)
        except Unavailable as error:
            log.warning("delivery not queued", delivery=delivery_id, reason=error.message)
            response = _refusal(503, "unavailable", "the bus does not confirm; redeliver this delivery later")
            response.headers["Retry-After"] = str(RETRY_AFTER_S)
            return response
        status = "queued" if new else "duplicate"
        log.info("delivery accepted", delivery=delivery_id, status=status, vaults=wanted.vaults)
        return JSONResponse({"status": status, "vaults": list(wanted.vaults)}, status_code=202)

    @app.post(PATH)
    async def webhook(request: Request) -> JSONResponse:
        """A delivery of GitHub."""
        async with AsyncExitStack() as held:
            with tracing.span("receive delivery"):
                return await receive(request, held)

    return app


async def _body(request: Request, wait_for_room: Callable[[], Awaitable[None]]) -> bytes:
    """The raw body; it is refused as soon as it is known to be too large, and a large one waits for room.

    Raises:
        TooLarge: it is longer than `MAX_BODY_BYTES`.
        Forged: nothing that could be a signature came with it.
        TooSlow: it did not arrive whole within `BODY_TIMEOUT_S`.
    """
    too_large = TooLarge(f"expected at most {MAX_BODY_BYTES} bytes")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
        raise too_large
    if not signature.is_well_formed(request.headers.get(signature.HEADER)):
        # Before a byte of the body is kept: only who claims to know the secret may send much.
        raise Forged("expected the header X-Hub-Signature-256 with a SHA-256 signature")
    received, has_room = bytearray(), False
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for piece in request.stream():
                received += piece
                if len(received) > MAX_BODY_BYTES:
                    raise too_large
                if len(received) > LARGE_BODY_BYTES and not has_room:
                    await wait_for_room()
                    has_room = True
    except (TimeoutError, ClientDisconnect):
        raise TooSlow(f"expected the whole body within {BODY_TIMEOUT_S:g} s") from None
    return bytes(received)


def _refusal(status: int, error: str, message: str) -> JSONResponse:
    return JSONResponse({"error": error, "message": message}, status_code=status)
