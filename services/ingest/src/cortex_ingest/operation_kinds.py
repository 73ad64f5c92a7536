"""What operations do: the kinds of work that can be left to the background, each with how it starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError, ErrorBody, ErrorCode, InvalidMessage, Permanent
from cortex_contracts.messages.base import Message, Token
from cortex_contracts.messages.memory import MemoryDraft, RedactionCounts, Retained
from cortex_contracts.rpc.ingest import ImproveRequest, RetainBatchRequest
from cortex_contracts.rpc.operations import OperationItem
from cortex_ingest.changes import Changes
from cortex_ingest.intake import Intake, take_in
from cortex_ingest.operation_worker import Stopped, Work
from cortex_ingest.operations import Operations
from cortex_ingest.retain import Retain
from cortex_ingest.write_access import require_write
from cortex_runtime.rpc import error_body
from cortex_store import operation_leases
from cortex_store.connection import Connection
from cortex_store.operation_leases import Item, LeaseLost
from cortex_writing.ports import Transactions

SLICE: Final = 16
"""Items that are embedded together: a few seconds of work on two cores (ADR 0013), which a crash repeats."""
PAGE: Final = 500
"""Memories of a namespace that become items at a time."""


class BatchOptions(Message):
    """What holds for all statements of a batch."""

    embed: bool
    decide: bool


class TakenIn(Message):
    """One statement as it may be stored, or why it may not be remembered."""

    draft: MemoryDraft | None = None
    redactions: RedactionCounts = RedactionCounts()
    error: ErrorBody | None = None


class RetainBatchKind:
    """`retain_batch`: one item per statement."""

    name: Final = "retain_batch"

    def __init__(self, operations: Operations, retain: Retain) -> None:
        self._operations = operations
        self._retain = retain

    async def start(self, request: RetainBatchRequest) -> UUID:
        """Redact the statements and queue them.

        Raises:
            InvalidMessage: there are vectors.
            Retryable, Unavailable: as `Operations.start`.
        """
        if request.vectors is not None:
            raise InvalidMessage("background: expected no vectors; what is embedded already needs no background")
        taken_in = [_taken_in(draft, request.principal.subject) for draft in request.memories]
        options = BatchOptions(embed=request.embed, decide=request.decide)
        return await self._operations.start(request.principal, self.name, options, taken_in, len(taken_in))

    async def step(self, work: Work) -> bool:
        """Remember the next statements."""
        return await _in_slices(work, self._remember)

    async def _remember(self, work: Work, items: Sequence[Item]) -> None:
        options = BatchOptions.model_validate_json(work.leased.request)
        known: list[tuple[int, Intake]] = []
        for one in items:
            given = TakenIn.model_validate_json(one.input)
            if given.draft is None:
                assert given.error is not None, "a statement was taken in, or was not"
                await work.failed(one.item, given.error)
            else:
                known.append((one.item, Intake(given.draft, given.redactions)))

        async def recorded(place: int, connection: Connection, retained: Retained) -> None:
            item = known[place][0]
            await work.finished(connection, OperationItem(item=item, retained=retained))

        outcomes = await self._retain.retain_batch(
            work.principal,
            [intake for _, intake in known],
            embed=options.embed,
            decide=options.decide,
            recorded=recorded,
        )
        for (item, _), outcome in zip(known, outcomes, strict=True):
            if isinstance(outcome, CortexError):
                await work.failed(item, outcome.body())


class ImproveOptions(Message):
    """Which namespace, if no memories were named."""

    namespace: Token | None = None


class Named(Message):
    """One memory to improve."""

    memory_id: UUID


class ImproveKind:
    """`improve`: one item per memory. Those of a namespace become items page by page, in the order of their ids."""

    name: Final = "improve"

    def __init__(self, database: Transactions, operations: Operations, changes: Changes) -> None:
        self._database = database
        self._operations = operations
        self._changes = changes

    async def start(self, request: ImproveRequest) -> UUID:
        """Queue the memories.

        Raises:
            Permanent: the principal may not write the namespace.
            Retryable, Unavailable: as `Operations.start`.
        """
        named = [Named(memory_id=one) for one in request.memory_ids]
        total = len(named)
        if request.namespace is not None:
            async with self._database.transaction(request.principal) as connection:
                await require_write(connection, request.namespace)
                total = await operation_leases.count_live(connection, request.namespace)
        options = ImproveOptions(namespace=request.namespace)
        return await self._operations.start(request.principal, self.name, options, named, total)

    async def step(self, work: Work) -> bool:
        """Improve the next memories."""
        if await _in_slices(work, self._improve):
            return True
        namespace = ImproveOptions.model_validate_json(work.leased.request).namespace
        if namespace is None:
            return False
        async with self._database.transaction(work.principal) as connection:
            return await operation_leases.add_live(connection, work.leased, namespace, PAGE) > 0

    async def _improve(self, work: Work, items: Sequence[Item]) -> None:
        for one in items:
            memory_id = Named.model_validate_json(one.input).memory_id

            async def recorded(connection: Connection, memory_id: UUID, item: int = one.item) -> None:
                await work.finished(connection, OperationItem(item=item, memory_id=memory_id))

            improved = await self._changes.improve(work.principal, [memory_id], recorded=recorded)
            if improved.unknown:
                await work.failed(one.item, Permanent("there is no such memory", code=ErrorCode.NOT_FOUND).body())


async def _in_slices(work: Work, do: Callable[[Work, Sequence[Item]], Awaitable[None]]) -> bool:
    """Do the next slice of items; false when there is none. If it fails, they are done one by one: that tells which."""
    items = await work.waiting(SLICE)
    if not items:
        return False
    try:
        await _told(do(work, items))
    except _Failed:
        for one in await work.waiting(SLICE):
            try:
                await _told(do(work, [one]))
            except _Failed as failure:
                await work.failed(one.item, failure.body)
    return True


class _Failed(Exception):
    """What was done cannot succeed."""

    def __init__(self, body: ErrorBody) -> None:
        super().__init__(body.message)
        self.body = body


async def _told(effect: Awaitable[None]) -> None:
    try:
        await effect
    except (LeaseLost, Stopped):
        raise
    except Exception as error:  # edge: one item must not keep the others from being done
        if isinstance(error, CortexError) and error.retryable:
            raise
        raise _Failed(error_body(error, "operation")) from error


def _taken_in(draft: MemoryDraft, owner: str) -> TakenIn:
    try:
        intake = take_in(draft, owner=owner)
    except CortexError as error:
        return TakenIn(error=error.body())
    return TakenIn(draft=intake.draft, redactions=intake.redactions)
