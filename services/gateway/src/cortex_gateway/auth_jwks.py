"""The public keys of an issuer of tokens: fetched, kept, and fetched again when they change (RFC 7517).

Keys that are known stay while the issuer is away. Whoever sends tokens with made-up key ids makes the gateway ask no
more often than every `REFRESH_S`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx
import jwt

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_gateway.config import is_loopback
from cortex_providers.outbound import Destination, Outbound
from cortex_runtime import logs

ALGORITHMS: Final = frozenset({"RS256", "ES256", "EdDSA"})
FRESH_S: Final = 300.0
"""How long a key that the issuer has withdrawn may still be taken."""
REFRESH_S: Final = 10.0
"""Least time between two requests to the issuer."""
TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 256 << 10
MAX_KEYS: Final = 100
SETTING: Final = "CORTEX_JWT_JWKS_URL"

log = logs.get(__name__)

Fetch = Callable[[], Awaitable[bytes]]


class Issuer:
    """Where the keys are published. A resource of the service."""

    def __init__(self, url: str) -> None:
        """Raises Permanent: the address is none, or one whose answers anybody on the way could change."""
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            raise Permanent(f"{SETTING}: expected an address like https://host/path") from None
        destination = Destination.parse(str(parsed.copy_with(raw_path=b"/", fragment=None)), SETTING)
        if destination.scheme != "https" and not is_loopback(destination.host):
            raise Permanent(f"{SETTING}: expected https beyond loopback")
        self._path = parsed.raw_path.decode("ascii")
        self._outbound = Outbound(
            destination,
            who="the issuer of tokens",
            timeout_s=TIMEOUT_S,
            headers={"Accept": "application/json, application/jwk-set+json"},
            max_response_bytes=MAX_BYTES,
            connections=1,
        )

    async def open(self) -> None:
        """Nothing to open: it may be away."""

    async def check(self) -> None:
        """Always usable: see `Jwks`."""

    async def close(self) -> None:
        """Close the connection."""
        await self._outbound.close()

    async def fetch(self) -> bytes:
        """The key set. Raises Unavailable when there is none to be had."""
        answer = await self._outbound.get(self._path)
        if answer.status != 200:
            raise Unavailable(f"the issuer of tokens answered with status {answer.status}")
        return answer.body


class Jwks:
    """The keys of one issuer."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: tuple[jwt.PyJWK, ...] | None = None
        self._fetched_at = self._asked_at = float("-inf")
        self._failure = ""
        self._asking: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, algorithm: str) -> tuple[jwt.PyJWK, ...]:
        """The keys that a token may be signed with: the one of its key id, or without an id all of the algorithm.

        Raises:
            Unavailable: the key is not known, and the issuer cannot be asked.
        """
        found = self._fitting(kid, algorithm)
        if found:
            if self._clock() >= self._fetched_at + FRESH_S:
                self._refresh()  # behind: what is known is good enough for this token
            return found
        if asking := self._refresh():
            await asyncio.shield(asking)
        found = self._fitting(kid, algorithm)
        if not found and self._failure:
            raise Unavailable("the keys of the issuer of tokens cannot be had now")
        return found

    def _fitting(self, kid: str | None, algorithm: str) -> tuple[jwt.PyJWK, ...]:
        return tuple(
            key for key in self._keys or () if key.algorithm_name == algorithm and (kid is None or key.key_id == kid)
        )

    def _refresh(self) -> asyncio.Task[None] | None:
        """Ask the issuer, unless that was done just now; the request that runs."""
        if self._asking is None and self._clock() >= self._asked_at + REFRESH_S:
            self._asked_at = self._clock()
            self._asking = asyncio.create_task(self._ask())
        return self._asking

    async def _ask(self) -> None:
        try:
            self._keys = parse(await self._fetch())
            self._fetched_at = self._clock()
            self._failure = ""
        except CortexError as error:
            if error.message != self._failure:
                log.warning("keys of the issuer of tokens are not refreshed", reason=error.message)
            self._failure = error.message
        finally:
            self._asking = None


def parse(body: bytes) -> tuple[jwt.PyJWK, ...]:
    """The keys of a set that can verify; others (symmetric, for encryption, of unknown form, too short) are left out.

    Raises:
        Unavailable: it is no key set.
    """
    try:
        found = json.loads(body)["keys"]
        listed = [one for one in found if isinstance(one, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unavailable("the issuer of tokens answered with something that is no key set") from None
    keys = (_key(one) for one in listed[:MAX_KEYS])
    return tuple(key for key in keys if key is not None)


def _key(data: dict[str, Any]) -> jwt.PyJWK | None:
    # "d": a private key that was published by mistake proves nothing any more.
    if "d" in data or data.get("use", "sig") != "sig" or not isinstance(data.get("kid"), str | None):
        return None
    try:
        key = jwt.PyJWK.from_dict(data)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return key if key.algorithm_name in ALGORITHMS else None
