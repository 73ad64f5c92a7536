"""Asked at the end, of the product itself: what is hot is recalled, what is cold is found in the archive."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Final

from nats.aio.client import Client

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.archive import RECALL_ARCHIVE, ArchiveRequest
from cortex_contracts.rpc.contract import ReplyT, RequestT, Rpc
from cortex_contracts.rpc.documents import DOCUMENT, DocumentRequest
from cortex_contracts.rpc.recall import RECALL, RecallRequest
from cortex_runtime.rpc import call
from cortex_testkit.chaos.census import Census, Found
from cortex_testkit.chaos.ledger import Ledger
from cortex_testkit.chaos.sayings import OWNERS
from cortex_testkit.system import ORG

AMONG: Final = 10
PATIENCE_S: Final = 30.0


class Questions:
    """Asks, and keeps what was wrong in the ledger."""

    def __init__(self, ledger: Ledger, census: Census, client: Client, seed: int, sample: int) -> None:
        self._ledger = ledger
        self._census = census
        self._client = client
        self._rng = random.Random(f"{seed}:questions")
        self._sample = sample
        self.found: Counter[str] = Counter()

    async def ask(self) -> None:
        """All of them."""
        said = [row for row in (*self._census.hot, *self._census.cold) if row.source_ref in self._ledger.said]
        hot = [row for row in said if row.batch is None and row.invalid_at is None]
        cold = [row for row in said if row.batch is not None]
        live = {row.id for row in self._census.hot if row.invalid_at is None}
        for row in self._some(hot):
            request = RecallRequest(principal=_owner(row), query=row.content, k=AMONG)
            reply = await self._call(RECALL, request)
            if reply is None:
                continue
            ids = [one.memory_id for one in (*reply.memories, *reply.facts)]
            if row.id not in ids:
                self._ledger.blame("hot and not recalled", f"{row.id}: {row.content}")
            for one in set(ids) - live:
                self._ledger.blame("recalled and not live", str(one))
            self.found["recalled"] += row.id in ids
        for row in self._some(cold):
            await self._look_for(row, row.content, "words")
        for row in self._some([row for row in cold if self._asks(row)]):
            await self._look_for(row, self._asks(row), "meaning")
        for name, document in self._ledger.documents.items():
            if not document.text:
                continue  # nothing of it was ever acknowledged
            wanted = DocumentRequest(principal=_somebody(OWNERS[0]), namespace=document.namespace, document_id=name)
            shown = await self._call(DOCUMENT, wanted)
            text = "".join(one.text for one in shown.chunks) if shown is not None else ""
            if text.strip() not in (document.text, *document.perhaps):
                self._ledger.blame("documents changed", f"{name}: {text!r}")
            self.found["documents"] += 1

    def _asks(self, row: Found) -> str:
        return self._ledger.said[row.source_ref or ""].asks

    async def _look_for(self, row: Found, query: str, by: str) -> None:
        request = ArchiveRequest(principal=_owner(row), query=query, k=AMONG, min_score=0.0)
        reply = await self._call(RECALL_ARCHIVE, request)
        if reply is None:
            return
        if row.id in [one.memory.memory_id for one in reply.memories]:
            self.found[f"archived, by {by}"] += 1
        else:
            self._ledger.blame(f"archived and not found by {by}", f"{row.id}: {query} ({row.content})")

    async def _call(self, rpc: Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT | None:
        """Nothing is down any more: whatever is not answered is a fault."""
        try:
            return await call(self._client, rpc, request, timeout_s=PATIENCE_S)
        except CortexError as error:
            self._ledger.blame("not answered", f"{rpc.verb}: {error.message}")
            return None

    def _some(self, rows: Sequence[Found]) -> Sequence[Found]:
        return self._rng.sample(sorted(rows, key=lambda row: row.id), min(self._sample, len(rows)))


def _owner(row: Found) -> Principal:
    return _somebody(row.owner or OWNERS[0])


def _somebody(subject: str) -> Principal:
    return Principal(org=ORG, subject=subject)
