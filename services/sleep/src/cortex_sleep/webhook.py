"""The outgoing webhook: wake events for whoever does not read the bus.

The stream holds what was not taken yet, so nothing is lost while the receiver or this process is away, and the settle
rule of every consumer applies. What the receiver took is in the inbox and is not sent again. When the connection breaks
between its answer and the inbox, it is sent twice, under the same id.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from cortex_contracts.errors import Permanent, Retryable, Unavailable
from cortex_contracts.messages.events import WakeEvent
from cortex_providers.outbound import Destination, Outbound
from cortex_runtime import inbox
from cortex_runtime.bus import Delivery
from cortex_sleep.ports import Transactions
from cortex_sleep.wake import may_show
from cortex_sleep.webhook_message import Verdict, body, delay, signed, verdict
from cortex_store import memories

URL_SETTING: Final = "CORTEX_WAKE_WEBHOOK_URL"
SECRETS_SETTING: Final = "CORTEX_WAKE_WEBHOOK_SECRETS"
WHO: Final = "the wake webhook"
CONSUMER: Final = "wake-webhook"

TIMEOUT_S: Final = 15.0
"""Of one try. Standard Webhooks recommends 15 to 30 s."""
TRIES: Final = 100
GIVEN_UP_AFTER: Final = timedelta(days=1)
"""With both behind it a message becomes a dead letter: a hundred tries take about a day, and one that is replayed later
has its tries again."""


class Webhook:
    """Sends wake events to the configured receiver. A resource of the service, usable without a connection."""

    def __init__(self, url: str, keys: Sequence[bytes], database: Transactions) -> None:
        """Raises Permanent: the address is none, or there is nothing to sign with; the message names the setting."""
        if not keys:
            raise Permanent(f"{URL_SETTING} is set, but {SECRETS_SETTING} is not")
        try:
            parsed = urlsplit(url)
        except ValueError:
            raise Permanent(f"{URL_SETTING}: expected an address like https://host/path") from None
        destination = Destination.parse(f"{parsed.scheme}://{parsed.netloc}", URL_SETTING)
        self._path = f"{parsed.path}?{parsed.query}" if parsed.query else parsed.path
        self._keys = tuple(keys)
        self._database = database
        self._outbound = Outbound(destination, who=WHO, timeout_s=TIMEOUT_S)

    async def open(self) -> None:
        """Nothing to open: a receiver that is away is tried again."""

    async def check(self) -> None:
        """Always usable."""

    async def close(self) -> None:
        """Close the connections."""
        await self._outbound.close()

    async def deliver(self, event: WakeEvent, delivery: Delivery) -> None:
        """Send one event, unless the receiver has it.

        Raises:
            Permanent: the receiver does not want it, or did not take it in `TRIES` tries and a day.
            Retryable: it is tried again later.
            Unavailable: the database is away.
        """
        async with self._database.transaction(event.org) as connection:
            if await inbox.seen(connection, CONSUMER, str(event.event_id)):
                return
            # It may have waited for long: what was forgotten or made private meanwhile is not shown to anybody.
            about = await memories.get(connection, event.memory_id) if event.memory_id else None
        if about is None or not may_show(about):
            event = event.model_copy(update={"preview": "", "entity": None})
        content = body(event)
        headers = signed(event, content, self._keys, datetime.now(UTC))
        answered: Mapping[str, str] = {}
        try:
            async with self._outbound.stream(self._path, content, headers=headers, whole_s=TIMEOUT_S) as answer:
                meant, answered = verdict(answer.status), answer.headers
                reason = f"{WHO} answered with status {answer.status}"
        except Unavailable as error:
            meant, reason = Verdict.LATER, error.message
        if meant is Verdict.REFUSED:
            raise Permanent(reason)
        if meant is Verdict.LATER:
            if delivery.deliveries >= TRIES and datetime.now(UTC) - event.occurred_at >= GIVEN_UP_AFTER:
                raise Permanent(f"given up after {delivery.deliveries} tries: {reason}")
            raise Retryable(reason, delay_s=delay(delivery.deliveries, answered, random.random()))
        async with self._database.transaction(event.org) as connection:
            await inbox.claim(connection, CONSUMER, str(event.event_id))


async def nobody(_: WakeEvent, __: Delivery) -> None:
    """Without a receiver the events stay on the bus: one that is configured later gets what happens from then on."""
