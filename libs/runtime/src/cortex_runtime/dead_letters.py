"""Dead letters: messages nobody could process, with the reason, until somebody replays or purges them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

import nats.js.errors
from nats.aio.client import Client
from nats.js.api import RawStreamMsg

from cortex_contracts import headers, subjects
from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.dead_letter import DeadLetter
from cortex_contracts.streams import DEAD_LETTERS
from cortex_runtime.publishing import publish

REASON_LENGTH = 500
_OWN = (
    headers.DLQ_SUBJECT,
    headers.DLQ_STREAM,
    headers.DLQ_SEQUENCE,
    headers.DLQ_CONSUMER,
    headers.DLQ_DELIVERIES,
    headers.DLQ_REASON,
    headers.DLQ_AT,
)


def identity(sent: Mapping[str, str], stream: str, sequence: int) -> str:
    """The identity of a message by its headers: the one it had before a replay, else its own, else its place."""
    return sent.get(headers.ORIGINAL_MESSAGE_ID) or sent.get(headers.MESSAGE_ID) or f"{stream}:{sequence}"


def letter(
    stream: str,
    consumer: str,
    subject: str,
    sequence: int,
    deliveries: int,
    reason: str,
    sent: Mapping[str, str],
) -> tuple[str, dict[str, str], str]:
    """Subject, headers and message id of the dead letter for one message; the same message makes one letter.

    Of `sent`, the message's own headers, its identity and its trace stay for a replay; the others are anybody's text.
    """
    kept = {headers.ORIGINAL_MESSAGE_ID: identity(sent, stream, sequence)}
    if trace := sent.get(headers.TRACEPARENT):
        kept[headers.TRACEPARENT] = trace
    more = {
        headers.DLQ_SUBJECT: subject,
        headers.DLQ_STREAM: stream,
        headers.DLQ_SEQUENCE: str(sequence),
        headers.DLQ_CONSUMER: consumer,
        headers.DLQ_DELIVERIES: str(deliveries),
        # A header is one line of text.
        headers.DLQ_REASON: " ".join(reason.split())[:REASON_LENGTH],
        headers.DLQ_AT: datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return subjects.dead_letter(stream, consumer), kept | more, f"dlq:{stream}:{consumer}:{sequence}"


async def browse(client: Client, limit: int = 100) -> AsyncIterator[DeadLetter]:
    """The oldest `limit` dead letters."""
    js = client.jetstream()
    state = (await js.stream_info(DEAD_LETTERS.name)).state
    sequence, shown = state.first_seq, 0
    while state.messages and sequence <= state.last_seq and shown < limit:
        try:
            raw = await js.get_msg(DEAD_LETTERS.name, seq=sequence, subject=subjects.DEAD_LETTER_PATTERN, next=True)
        except nats.js.errors.NotFoundError:
            return
        found = _read(raw)
        sequence, shown = found.id + 1, shown + 1
        yield found


async def inspect(client: Client, letter_id: int) -> tuple[DeadLetter, bytes]:
    """One dead letter and its body as it came.

    Raises:
        Permanent: there is none with this id (`not_found`).
    """
    raw = await _get(client, letter_id)
    return _read(raw), raw.data or b""


async def replay(client: Client, letter_id: int) -> DeadLetter:
    """Publish a dead letter again on its first subject, with its first identity, and drop it from the dead letters.

    The publish is acknowledged before the letter is dropped; a repeat after a crash between the two is recognised.

    Raises:
        Permanent: there is none with this id (`not_found`).
        Unavailable: its stream did not confirm.
    """
    raw = await _get(client, letter_id)
    found = _read(raw)
    sent = {name: value for name, value in (raw.headers or {}).items() if name not in _OWN}
    await publish(client, found.subject, raw.data or b"", message_id=f"{found.message_id}~replay-{found.id}", more=sent)
    await client.jetstream().delete_msg(DEAD_LETTERS.name, letter_id)
    return found


async def purge(client: Client, letter_id: int | None = None) -> int:
    """Drop one dead letter, or all of them; returns how many.

    Raises:
        Permanent: there is none with this id (`not_found`).
    """
    js = client.jetstream()
    if letter_id is not None:
        await _get(client, letter_id)
        await js.delete_msg(DEAD_LETTERS.name, letter_id)
        return 1
    count: int = (await js.stream_info(DEAD_LETTERS.name)).state.messages
    await js.purge_stream(DEAD_LETTERS.name)
    return count


async def _get(client: Client, letter_id: int) -> RawStreamMsg:
    try:
        return await client.jetstream().get_msg(DEAD_LETTERS.name, seq=letter_id)
    except nats.js.errors.NotFoundError:
        raise Permanent(f"there is no dead letter {letter_id}", code=ErrorCode.NOT_FOUND) from None


def _read(raw: RawStreamMsg) -> DeadLetter:
    sent = raw.headers or {}
    return DeadLetter(
        id=raw.seq or 0,
        stream=sent.get(headers.DLQ_STREAM, ""),
        consumer=sent.get(headers.DLQ_CONSUMER, ""),
        subject=sent.get(headers.DLQ_SUBJECT, ""),
        sequence=int(sent.get(headers.DLQ_SEQUENCE, "0")),
        message_id=sent.get(headers.ORIGINAL_MESSAGE_ID),
        deliveries=int(sent.get(headers.DLQ_DELIVERIES, "0")),
        reason=sent.get(headers.DLQ_REASON, ""),
        died_at=datetime.fromisoformat(sent.get(headers.DLQ_AT, "1970-01-01T00:00:00+00:00")),
        size_bytes=len(raw.data or b""),
    )
