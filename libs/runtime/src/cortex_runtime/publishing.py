"""Publishing to JetStream: acknowledged, and repeated under one message id until it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from cortex_contracts import headers, streams
from cortex_contracts.errors import ErrorCode, Permanent, Unavailable

PUBLISH_TIMEOUT_S: Final = 2.0
PUBLISH_ATTEMPTS: Final = 4
MESSAGE_TOO_LARGE: Final = 10054
"""JetStream's error code for a message above the stream's limit."""
EXPECTED_STREAM: Final = "Nats-Expected-Stream"
"""The header that the client adds to what it publishes to a stream."""


@dataclass(frozen=True, slots=True)
class Published:
    """The server has stored a message; `duplicate` when it had it already."""

    stream: str
    sequence: int
    duplicate: bool


def room(client: Client, sent: Mapping[str, str] | None) -> int:
    """The bytes that the body of a message may have beside the headers `sent`, which count; none: it has no headers.

    The client checks the body alone, and the server closes the connection of one that sends more than `max_payload`.
    """
    if sent is None:
        return client.max_payload
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return client.max_payload - len(f"NATS/1.0\r\n{lines}\r\n".encode())


async def publish(client: Client, subject: str, body: bytes, *, message_id: str, more: Mapping[str, str]) -> Published:
    """Publish to the stream that stores `subject` and wait for its acknowledgement (see `Bus.publish`)."""
    stream = streams.stream_for(subject)
    sent = {**more, headers.MESSAGE_ID: message_id}
    if len(body) > room(client, {**sent, EXPECTED_STREAM: stream.name}):
        raise Permanent("the message is larger than the server takes", code=ErrorCode.TOO_LARGE)
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((nats.errors.TimeoutError, nats.js.errors.NoStreamResponseError)),
            stop=stop_after_attempt(PUBLISH_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.1, max=1.0),
            reraise=True,
        ):
            with attempt:
                ack = await client.jetstream().publish(
                    subject, body, timeout=PUBLISH_TIMEOUT_S, stream=stream.name, headers=sent
                )
        return Published(ack.stream, ack.seq, bool(ack.duplicate))
    except nats.js.errors.APIError as error:
        if error.err_code == MESSAGE_TOO_LARGE:
            raise Permanent(
                f"the message is larger than {stream.max_message_bytes} bytes", code=ErrorCode.TOO_LARGE
            ) from None
        raise Unavailable(f"stream {stream.name} refused the message ({error.err_code})") from error
    except (nats.errors.Error, nats.js.errors.Error, TimeoutError) as error:
        raise Unavailable(f"stream {stream.name} did not confirm the message ({type(error).__name__})") from error
