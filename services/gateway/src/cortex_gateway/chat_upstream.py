"""The language model that chats go to: one configured destination with OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_gateway.chat_errors import ChatRefused
from cortex_providers.outbound import Destination, DestinationRefused, Outbound, Stream, Unanswered
from cortex_runtime import logs

BASE: Final = "/v1"
WHO: Final = "the chat upstream"
URL_SETTING: Final = "CORTEX_CHAT_UPSTREAM_URL"
MODEL_SETTING: Final = "CORTEX_CHAT_UPSTREAM_MODEL"
KEY_SETTING: Final = "CORTEX_CHAT_UPSTREAM_API_KEY"
CONNECTIONS: Final = 64
"""Chats at one time: as many as the gateway works on at once for a caller that waits seconds for each."""
ATTEMPTS: Final = 2
RETRY_S: Final = 0.2
WHOLE: Final = 10
"""An answer may take this many times the time limit in all: it bounds the beginning and every piece."""
OWN_CREDENTIALS: Final = frozenset({401, 403, 407})
"""What the upstream says to Cortex's credentials is not what Cortex says to the caller's."""
SHAPED: Final = frozenset({429})
"""Refusals that are worth their status even in another form."""

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that has come as a whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Upstream:
    """A client of the configured upstream; a resource of the service, which is usable without a connection."""

    def __init__(self, url: str, model: str, api_key: str, timeout_s: float) -> None:
        """`url` may end in `/v1` or another path that the routes start with; without a path it is `/v1`.

        Raises:
            Permanent: the address is none, or the model has none; the message names the setting.
        """
        if not model:
            raise Permanent(f"{URL_SETTING} is set, but {MODEL_SETTING} is not")
        destination = Destination.parse(url, URL_SETTING)
        if not destination.base:
            destination = Destination(destination.scheme, destination.host, destination.port, BASE)
        self.model = model
        self._timeout_s = timeout_s
        self._outbound = Outbound(
            destination,
            who=WHO,
            timeout_s=timeout_s,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            connections=CONNECTIONS,
        )

    async def open(self) -> None:
        """Nothing to open: an upstream that is away is told to who asks it."""

    async def check(self) -> None:
        """Always usable."""

    async def close(self) -> None:
        """Close the connections."""
        await self._outbound.close()

    @asynccontextmanager
    async def ask(self, body: bytes, *, stream: bool) -> AsyncIterator[Stream]:
        """Send a request and give the answer while it comes. A connection that fails before the answer begins is tried
        once more.

        Raises:
            ChatRefused: nobody answers, not in time, or elsewhere than configured.
        """
        accept = {"Accept": "text/event-stream" if stream else "application/json"}
        async with AsyncExitStack() as stack:
            for attempt in range(ATTEMPTS):
                try:
                    answer = await stack.enter_async_context(
                        self._outbound.stream("chat/completions", body, headers=accept, whole_s=WHOLE * self._timeout_s)
                    )
                    break
                except CortexError as error:
                    if not isinstance(error, Unanswered) or attempt + 1 == ATTEMPTS:
                        raise failed(error) from None
                await asyncio.sleep(RETRY_S)
            yield answer


async def taken(answer: Stream) -> Given:
    """The whole of an answer.

    Raises:
        ChatRefused: it does not come to its end.
    """
    body = bytearray()
    try:
        async for piece in answer.pieces:
            body += piece
    except CortexError as error:
        raise failed(error) from None
    return Given(answer.status, answer.headers, bytes(body))


def failed(error: CortexError) -> ChatRefused:
    """What a caller gets when the upstream fails: 504 when the time is over, else 502."""
    log.warning("the chat upstream failed", reason=error.message)
    if isinstance(error, DestinationRefused):
        return ChatRefused(502, f"{WHO} was not reached where it is configured; the gateway's log says why", "upstream")
    late = error.code is ErrorCode.DEADLINE_EXCEEDED
    return ChatRefused(504 if late else 502, error.message, "upstream_timeout" if late else "upstream_unreachable")


def refused(given: Given, headers: Mapping[str, str]) -> ChatRefused:
    """What a caller gets for a refusal of the upstream: the same, where it is of OpenAI's form and means the caller.

    `headers` are those of the upstream's that the caller may have.
    """
    if given.status in OWN_CREDENTIALS:
        log.error("the chat upstream refuses the gateway", status=given.status)
        sentence = f"{WHO} refuses the gateway's credentials ({given.status}): {KEY_SETTING} must be one it accepts"
        return ChatRefused(502, sentence, "upstream_credentials")
    said = _error_of(given.body)
    if said is None:
        log.warning("the chat upstream refuses in another form", status=given.status)
        status = given.status if given.status in SHAPED or given.status >= 500 else 502
        return ChatRefused(status, f"{WHO} answered with status {given.status}", "upstream", headers=headers)
    relayed = ChatRefused(given.status, "", "", headers=headers)
    relayed.body = said
    return relayed


def _error_of(body: bytes) -> dict[str, Any] | None:
    """The body, when it is an error of OpenAI's API."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = said.get("error") if isinstance(said, dict) else None
    return said if isinstance(error, dict) and isinstance(error.get("message"), str) else None
