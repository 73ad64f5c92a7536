"""Prometheus metrics of a service: messages by consumer and outcome, RPCs by subject and outcome, and their times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response

MESSAGES = Counter("cortex_messages_total", "Messages by consumer and settlement", ["consumer", "outcome"])
MESSAGE_SECONDS = Histogram("cortex_message_seconds", "Time to process a message", ["consumer"])
RPCS = Counter("cortex_rpcs_total", "RPCs by subject and outcome", ["subject", "outcome"])
RPC_SECONDS = Histogram("cortex_rpc_seconds", "Time to answer an RPC", ["subject"])


class Outcome:
    """How something ended; `failed` until said otherwise."""

    def __init__(self) -> None:
        self.label = "failed"

    def set(self, label: str) -> None:
        """Say how it ended."""
        self.label = str(label)


@contextmanager
def consumed(consumer: str) -> Iterator[Outcome]:
    """Count and time one message of a consumer."""
    with _observed(MESSAGES, MESSAGE_SECONDS, consumer) as outcome:
        yield outcome


@contextmanager
def served(subject: str) -> Iterator[Outcome]:
    """Count and time one RPC."""
    with _observed(RPCS, RPC_SECONDS, subject) as outcome:
        yield outcome


@contextmanager
def _observed(counter: Counter, seconds: Histogram, label: str) -> Iterator[Outcome]:
    outcome, started = Outcome(), time.perf_counter()
    try:
        yield outcome
    finally:
        counter.labels(label, outcome.label).inc()
        seconds.labels(label).observe(time.perf_counter() - started)


async def endpoint(_: Request) -> Response:
    """`GET /metrics` in the Prometheus text format."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
