"""Both ends of an RPC over the NATS services API.

The server validates the request, runs handlers side by side up to a limit, and always replies: a result or an error
envelope, never internal text. The service is found with `$SRV.PING|INFO|STATS`.

Who calls a cancellable RPC and stops waiting, because it was cancelled or its time is over, says so on the RPC's cancel
subject. The server then cancels the handler and replies nothing. A cancel that gets lost costs work that nobody waits
for; one that comes after the reply, or is about a call that another replica has, does nothing.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import nats.errors
import nats.micro
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.micro.request import Request
from nats.micro.service import EndpointConfig, EndpointStats, Service
from pydantic import ValidationError

from cortex_contracts import headers
from cortex_contracts.errors import CortexError, ErrorBody, ErrorCode, InvalidMessage, Permanent, Unavailable, from_body
from cortex_contracts.rpc.contract import Cancel, Envelope, ReplyT, RequestT, Rpc
from cortex_runtime import logs, metrics, tracing
from cortex_runtime.calls import Calls
from cortex_runtime.publishing import room
from cortex_runtime.settle import describe

CONCURRENCY: Final = 64
"""Requests one replica works on at once; more wait in its subscription, and other replicas of the group take theirs."""

CANCELLED: Final = "cancelled"
"""The outcome, in the metrics, of a call that its caller cancelled."""

log = logs.get(__name__)


@dataclass(slots=True)
class _Tally:
    """What the services API cannot count for handlers that run side by side."""

    errors: int = 0
    processing_ns: int = 0
    in_flight: int = 0


@dataclass(slots=True)
class _Endpoint:
    rpc: Rpc[Any, Any]
    run: Callable[[Request], Coroutine[Any, Any, None]]
    tally: _Tally = field(default_factory=_Tally)


class RpcServer:
    """The RPCs one service answers."""

    def __init__(self, name: str, version: str) -> None:
        self._name = name
        self._version = version
        self._endpoints: list[_Endpoint] = []
        self._limit = asyncio.Semaphore(CONCURRENCY)
        self._running: set[asyncio.Task[None]] = set()
        self._calls = Calls()
        self._service: Service | None = None
        self._client: Client | None = None

    def add(self, rpc: Rpc[RequestT, ReplyT], handler: Callable[[RequestT], Awaitable[ReplyT]]) -> None:
        """Answer `rpc` with `handler`."""
        tally = _Tally()

        async def answer(request: Request) -> None:
            sent = dict(request.headers or {})
            call = sent.get(headers.CALL) if rpc.cancellable else None
            if not self._calls.begin(rpc.subject, call):
                return
            started = time.perf_counter_ns()
            tally.in_flight += 1
            with tracing.span(f"serve {rpc.subject}", sent), metrics.served(rpc.subject) as outcome:
                try:
                    reply = await handler(rpc.request.model_validate_json(request.data))
                    envelope: Envelope[Any] = Envelope(result=reply)
                    body = _body(envelope)
                    if self._client is not None and len(body) > (limit := room(self._client, None)):
                        raise Permanent(
                            f"the reply of {rpc.subject} has {len(body)} bytes, a message holds {limit}: ask for less",
                            code=ErrorCode.TOO_LARGE,
                        )
                except asyncio.CancelledError:
                    outcome.set(CANCELLED)
                    raise
                except Exception as error:  # edge: every failure becomes a reply
                    envelope = Envelope(error=error_body(error, rpc.subject))
                    body = _body(envelope)
                    tally.errors += 1
                finally:
                    self._calls.end(rpc.subject, call)
                    tally.processing_ns += time.perf_counter_ns() - started
                    tally.in_flight -= 1
                outcome.set(envelope.error.code if envelope.error else "ok")
                try:
                    await request.respond(body)
                except nats.errors.Error as error:
                    log.warning("reply not sent", subject=rpc.subject, error=type(error).__name__)

        self._endpoints.append(_Endpoint(rpc, answer, tally))

    async def start(self, client: Client) -> None:
        """Register for discovery and answer requests."""
        self._client = client
        tallies = {endpoint.rpc.subject: endpoint.tally for endpoint in self._endpoints}

        def statistics(stats: EndpointStats) -> dict[str, int]:
            tally = tallies[stats.subject]
            return {
                "errors": tally.errors,
                "in_flight": tally.in_flight,
                "processing_ms": tally.processing_ns // 1_000_000,
            }

        self._service = await nats.micro.add_service(
            client,
            name=f"cortex-{self._name}",
            version=self._version,
            description=f"Cortex {self._name}",
            stats_handler=statistics,
        )
        for endpoint in self._endpoints:
            await self._service.add_endpoint(
                EndpointConfig(
                    name=endpoint.rpc.subject.rsplit(".", 2)[-2] + "-" + endpoint.rpc.verb,
                    subject=endpoint.rpc.subject,
                    queue_group=endpoint.rpc.queue,
                    handler=self._spawner(endpoint),
                    metadata={"summary": endpoint.rpc.summary},
                )
            )
            if endpoint.rpc.cancellable:
                # Without a queue group: the caller does not know which replica has its call.
                await client.subscribe(endpoint.rpc.cancel_subject, cb=self._canceller(endpoint.rpc.subject))

    async def stop(self) -> None:
        """Take no new requests and finish those that run."""
        if self._service is not None:
            await self._service.stop()
        if self._running:
            await asyncio.gather(*self._running, return_exceptions=True)

    def _spawner(self, endpoint: _Endpoint) -> Callable[[Request], Awaitable[None]]:
        async def spawn(request: Request) -> None:
            # nats-py awaits one callback at a time per subscription: without a task one slow call delays all others.
            await self._limit.acquire()
            task = asyncio.create_task(endpoint.run(request))
            self._running.add(task)
            task.add_done_callback(self._finished)

        return spawn

    def _canceller(self, subject: str) -> Callable[[Msg], Awaitable[None]]:
        async def cancel(message: Msg) -> None:
            with suppress(ValidationError):  # whoever says something else cancels nothing
                self._calls.cancel(subject, Cancel.model_validate_json(message.data).call)

        return cancel

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._limit.release()


def error_body(error: Exception, place: str) -> ErrorBody:
    """What a caller may know of a failure; the unexpected is logged with its trace id and told without its text."""
    if isinstance(error, ValidationError):
        return InvalidMessage(describe(error)).body()
    if isinstance(error, CortexError):
        return error.body()
    log.error("unexpected failure", place=place, exc_info=error)
    trace = tracing.trace_id()
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message="an unexpected error happened" + (f"; trace {trace}" if trace else ""),
        retryable=False,
    )


def _body(envelope: Envelope[Any]) -> bytes:
    unused = {"result"} if envelope.error else {"error"}
    return envelope.model_dump_json(exclude=unused, serialize_as_any=True).encode()


async def call(client: Client, rpc: Rpc[RequestT, ReplyT], request: RequestT, *, timeout_s: float) -> ReplyT:
    """Call an RPC and return its result (see `Bus.request`). Who cancels this cancels what the server does for it, if
    the RPC is cancellable."""
    if not client.is_connected:
        raise Unavailable("NATS is not connected")
    body = request.model_dump_json().encode()
    with tracing.span(f"call {rpc.subject}"):
        sent = tracing.headers()
        if rpc.cancellable:
            sent[headers.CALL] = secrets.token_hex(16)
        if len(body) > (limit := room(client, sent)):
            raise InvalidMessage(
                f"expected at most {limit} bytes at once, got {len(body)}: send it in smaller batches",
                code=ErrorCode.TOO_LARGE,
            )
        try:
            reply: Msg = await client.request(rpc.subject, body, timeout=timeout_s, headers=sent)
        except nats.errors.NoRespondersError:
            raise Unavailable(f"no {rpc.service} service answers {rpc.subject}") from None
        except asyncio.CancelledError:
            await _abandon(client, rpc, sent)
            raise
        except (nats.errors.TimeoutError, TimeoutError):
            await _abandon(client, rpc, sent)
            raise Unavailable(
                f"{rpc.subject} did not answer within {timeout_s:g} s", code=ErrorCode.DEADLINE_EXCEEDED
            ) from None
        except nats.errors.Error as error:
            raise Unavailable(f"{rpc.subject} cannot be called ({type(error).__name__})") from error
    try:
        envelope = _envelope(rpc.reply).model_validate_json(reply.data)
    except ValidationError as error:
        raise InvalidMessage(f"the reply of {rpc.subject} is not what its contract says: {describe(error)}") from None
    if envelope.error is not None:
        raise from_body(envelope.error)
    if envelope.result is None:
        raise InvalidMessage(f"the reply of {rpc.subject} holds neither a result nor an error")
    result: ReplyT = envelope.result
    return result


@cache
def _envelope(reply: type[ReplyT]) -> type[Envelope[ReplyT]]:
    """The envelope of one kind of reply; naming it anew for every reply took a third of a call's time."""
    return Envelope[reply]  # type: ignore[valid-type]


async def _abandon(client: Client, rpc: Rpc[Any, Any], sent: Mapping[str, str]) -> None:
    """Say that nobody waits for a call any longer, if it is one that ends then."""
    if rpc.cancellable:
        with suppress(nats.errors.Error):  # it is a hint
            cancel = Cancel(call=sent[headers.CALL])
            await client.publish(rpc.cancel_subject, cancel.model_dump_json().encode(), headers=tracing.headers())
