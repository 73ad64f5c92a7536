"""The cold tier as an operator sees it: its status, and the verification of all that is in it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.cold import (
    MAX_DAMAGES,
    ColdDamage,
    ColdNamespace,
    ColdStatusReply,
    ColdStatusRequest,
    ColdTableStatus,
    ColdVerification,
    ColdVerifyRequest,
)
from cortex_providers.cold_store import BatchProof, ColdStore, Known, Verification
from cortex_runtime import logs
from cortex_sleep.ports import Transactions
from cortex_store import cold_batches, cold_verifications, thaws

BEAT_S: Final = 1.0
"""Between two times that a verification tells how far it is."""

_SHORT: Final = 200
"""Characters of a `ShortText`."""

log = logs.get(__name__)


class ColdTier:
    """Answers `cortex.v1.rpc.sleep.cold_status` and `.cold_verify`; `run` verifies what was asked for."""

    def __init__(self, database: Transactions, store: ColdStore) -> None:
        self._database = database
        self._store = store
        self._asked = asyncio.Queue[tuple[str, UUID]]()

    async def status(self, request: ColdStatusRequest) -> ColdStatusReply:
        """How much is cold, by the database and by the store itself; a store that is away costs its part only.

        Raises:
            Permanent: the principal may not read everything of its org.
        """
        org = _org(request.principal)
        async with self._database.transaction(org) as connection:
            counts = await cold_batches.counts(connection)
            latest = await cold_verifications.latest(connection)
        table = reason = None
        try:
            found = await self._store.status(org)
            table = ColdTableStatus(
                rows=found.rows,
                files=found.files,
                size_bytes=found.size_bytes,
                months=found.months,
                small_files=found.small_files,
                snapshots=found.snapshots,
                last_change_at=found.last_change_at,
            )
        except CortexError as error:
            reason = error.message[:_SHORT]
        namespaces = tuple(
            ColdNamespace(
                namespace=one.namespace,
                rows=one.rows,
                size_bytes=one.size_bytes,
                unfinished=one.unfinished,
                last_done_at=one.last_done_at,
            )
            for one in counts
        )
        return ColdStatusReply(namespaces=namespaces, table=table, reason=reason, verification=latest)

    async def verify(self, request: ColdVerifyRequest) -> ColdVerification:
        """Begin a verification, or tell the one that is under way, or the one that is asked for.

        Raises:
            Permanent: the principal may not read everything of its org, or there is no such verification.
        """
        org = _org(request.principal)
        async with self._database.transaction(org) as connection:
            if request.verification_id is not None:
                known = await cold_verifications.get(connection, request.verification_id)
                if known is None:
                    raise Permanent("there is no such verification", code=ErrorCode.NOT_FOUND)
                return known
            begun = await cold_verifications.begin(connection)
            latest = await cold_verifications.latest(connection)
        assert latest is not None, "one was begun or is under way"
        if begun is not None:
            self._asked.put_nowait((org, begun))
        return latest

    async def run(self) -> None:
        """Verify what was asked for, one after the other, until cancelled."""
        while True:
            org, verification = await self._asked.get()
            try:
                await self._verify(org, verification)
            except CortexError as error:
                log.warning("the cold tier cannot be verified", org=org, reason=error.message)
                await self._fail(org, verification, error.message[:_SHORT])

    async def _verify(self, org: str, verification: UUID) -> None:
        told_at = 0.0

        async def progress(done: int, files: int) -> None:
            nonlocal told_at
            if time.monotonic() - told_at >= BEAT_S:
                told_at = time.monotonic()
                async with self._database.transaction(org) as connection:
                    await cold_verifications.beat(connection, verification, done, files)

        async def known() -> Known:
            async with self._database.transaction(org) as connection:
                # What is done between the two is in both; a batch of which something comes back between the two has
                # another proof than before.
                unsettled = await cold_batches.not_done(connection)
                pairs = await thaws.pairs(connection)
                done = await cold_batches.done(connection)
            thawed = defaultdict[UUID, set[UUID]](set)
            for batch, memory in pairs:
                thawed[batch].add(memory)
            proofs = {
                one.id: BatchProof(one.rows, one.checksum, frozenset(thawed[one.id])) for one in done if one.org == org
            }
            return dict.fromkeys(unsettled) | proofs

        found = await self._store.verify(org, known, progress)
        async with self._database.transaction(org) as connection:
            await cold_verifications.finish(
                connection,
                verification,
                files=found.files,
                rows=found.rows,
                batches=found.batches,
                damaged=found.damaged,
                damages=_damages(found),
            )
        (log.error if found.damaged else log.info)(
            "the cold tier was verified", org=org, rows=found.rows, files=found.files, damaged=found.damaged
        )

    async def _fail(self, org: str, verification: UUID, reason: str) -> None:
        try:
            async with self._database.transaction(org) as connection:
                await cold_verifications.fail(connection, verification, reason)
        except CortexError:
            return  # the database is away: it is silent, so it counts as dead after a while


def _org(principal: Principal) -> str:
    if principal.readable is not None:
        raise Permanent("the cold tier is shown to who may read everything of its org", code=ErrorCode.FORBIDDEN)
    return principal.org


def _damages(found: Verification) -> tuple[ColdDamage, ...]:
    return tuple(
        ColdDamage(what=each.what, where=each.where[-_SHORT:], rows=each.rows, ids=each.ids)
        for each in found.damages[:MAX_DAMAGES]
    )
