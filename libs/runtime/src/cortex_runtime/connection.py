"""One-shot NATS connections: for commands, probes and tests that want an answer now, not a service that waits."""

from __future__ import annotations

from urllib.parse import urlsplit

import nats.errors
from nats.aio.client import Client

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_contracts.permissions import inbox_prefix


async def connect_once(url: str, *, timeout_s: float = 2.0) -> Client:
    """Connect as the user in `url`, with that user's private inbox; no reconnects.

    Raises:
        Unavailable: the server does not answer.
        Permanent: it refuses the user (`unauthorized`).
    """

    async def ignore(_: Exception) -> None:
        """The exception of `connect` says the same; the client would log it, too."""

    client = Client()
    try:
        await client.connect(
            url,
            # Without reconnects the client still tries 60 times to connect first, two seconds apart.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=max(1, round(timeout_s)),
            error_cb=ignore,
            inbox_prefix=inbox_prefix(urlsplit(url).username or ""),
        )
    except BaseException as error:
        # A client whose connect fails, or is cancelled, leaves its socket open.
        await client.close()
        if not isinstance(error, OSError | nats.errors.Error | TimeoutError):
            raise
        # While it connects the client gives the server's refusal as text only.
        if "authorization" in str(error).lower():
            raise Permanent("NATS refuses this user or its password", code=ErrorCode.UNAUTHORIZED) from error
        raise Unavailable(f"NATS does not answer ({type(error).__name__})") from error
    return client
