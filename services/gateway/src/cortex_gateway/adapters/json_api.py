"""The HTTP interface of an engine that speaks no MCP: requests to one judged address, answers as JSON.

Nothing is asked twice: whoever asks a question waits, and the guard knows when an engine is down. An address that
answers with something else than JSON (a page of a proxy, a login) is no engine, and counts as one that is down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from pydantic import JsonValue

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_gateway.adapters.settings import SHORTCUTS, EngineSource
from cortex_providers.outbound import Answer, Destination, Outbound

MAX_RESPONSE_BYTES: Final = 4 << 20
"""Far more than any page of results that is asked for."""


class Refused(Permanent):
    """A healthy server did not take this request; `status` is what it answered with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Failing(Unavailable):
    """The server answered that it failed (5xx): at this request, or at any."""


class JsonApi:
    """A client of the server of `source`. `base` is the path of its interface; the address may have it or not."""

    def __init__(
        self,
        source: EngineSource,
        *,
        base: str,
        headers: Mapping[str, str],
        explain: Callable[[Answer], str],
    ) -> None:
        """`explain` says why a request was refused, without a word of what was sent.

        Raises:
            Permanent: the address is none.
        """
        self.who = f"the engine {source.key}"
        self._setting = SHORTCUTS[source.kind] if source.key == source.kind else f"the url of {self.who}"
        address = source.url.rstrip("/")
        self._destination = Destination.parse(address if address.endswith(base) else address + base, self._setting)
        self._headers = dict(headers)
        self._limit_s = source.limit_s
        self._explain = explain
        self._outbound: Outbound | None = None

    async def open(self) -> None:
        """Be ready. A client that is there stays: it knows where its name led, and drops dead connections by itself."""
        if self._outbound is None:
            self._outbound = Outbound(
                self._destination,
                who=self.who,
                timeout_s=self._limit_s,
                headers=self._headers,
                max_response_bytes=MAX_RESPONSE_BYTES,
            )

    async def close(self) -> None:
        """Close the connections."""
        outbound, self._outbound = self._outbound, None
        if outbound is not None:
            await outbound.close()

    async def get(self, path: str, parameters: Mapping[str, str | int]) -> JsonValue:
        """What is at `path` below the interface.

        Raises:
            Refused: the server does not take the request (400, 409, 413, 422, …).
            Failing: it fails.
            Unavailable: it cannot be reached, has no time, refuses the token, or is not the server that it should be.
        """
        return self._read(await self._client.get(f"{path}?{urlencode(parameters)}" if parameters else path))

    async def post(self, path: str, body: JsonValue) -> JsonValue:
        """What the server answers to `body` (see `get`)."""
        return self._read(await self._client.post(path, body))

    @property
    def _client(self) -> Outbound:
        if self._outbound is None:
            raise Unavailable(f"{self.who} is not connected")
        return self._outbound

    def _read(self, answer: Answer) -> JsonValue:
        if not 200 <= answer.status < 300:
            raise self._failure(answer)
        try:
            data: JsonValue = answer.json()
        except (ValueError, RecursionError):
            raise Unavailable(f"{self.who} answered with something that is not JSON: check {self._setting}") from None
        return data

    def _failure(self, answer: Answer) -> CortexError:
        status = answer.status
        why = self._explain(answer)
        if status in (401, 403):
            return Unavailable(f"{self.who} refused the token with {status}{why}")
        if status == 408:
            return Unavailable(f"{self.who} answered {status}{why}", code=ErrorCode.DEADLINE_EXCEEDED)
        if status >= 500:
            return Failing(f"{self.who} answered {status}{why}")
        if status == 429:
            return Unavailable(f"{self.who} answered {status}{why}")
        return Refused(f"{self.who} refused the request with {status}{why}", status)
