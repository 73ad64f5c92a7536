"""Who writes and reads while everything dies: each insists on an answer, and keeps in the ledger what it knows."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from nats.aio.client import Client

from cortex_contracts import subjects
from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.documents import DocumentDraft
from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_contracts.rpc.archive import GET_ARCHIVED, RECALL_ARCHIVE, ArchiveRequest
from cortex_contracts.rpc.contract import ReplyT, RequestT, Rpc
from cortex_contracts.rpc.documents import RETAIN_DOCUMENT, RetainDocumentRequest
from cortex_contracts.rpc.ingest import (
    FORGET,
    RESTORE,
    RETAIN,
    RETAIN_BATCH,
    MemoryRequest,
    RetainBatchRequest,
    RetainRequest,
)
from cortex_contracts.rpc.recall import GET, RECALL, GetRequest, RecallRequest
from cortex_contracts.rpc.sleep import SLEEP_RUN, SleepRunRequest
from cortex_runtime.publishing import publish
from cortex_runtime.rpc import call
from cortex_testkit.chaos.ledger import Document, Ledger, Wish
from cortex_testkit.chaos.sayings import DISTINCT, OWNERS, STRANGER, Saying, Speech
from cortex_testkit.system import ORG

CHAIN: Final = 5
"""Values of one thing, each correcting the one before."""
BATCH: Final = 6
PARAGRAPHS: Final = 6
PATIENCE_S: Final = 8.0
AGAIN_S: Final = 0.2


class Life:
    """Tasks that go on until `over`. `publisher` sends captures, `caller` calls; `seed` decides what is said."""

    def __init__(
        self, ledger: Ledger, publisher: Client, caller: Client, namespaces: Sequence[str], seed: int, pause_s: float
    ) -> None:
        """`pause_s`: between two things that one task does, on average."""
        self.ledger = ledger
        self.over = asyncio.Event()
        self._publisher = publisher
        self._caller = caller
        self._namespaces = namespaces
        self._seed = seed
        self._pause_s = pause_s
        self._distinct = 0

    async def live(self) -> None:
        """Everybody at once."""
        everybody: Sequence[Callable[[random.Random, Speech], Awaitable[None]]] = (
            *[self._capture] * 3,
            *[self._retain] * 2,
            self._batch,
            self._correct,
            self._change,
            self._document,
            self._recall,
            self._get,
            self._archive,
        )
        async with asyncio.TaskGroup() as tasks:
            for number, what in enumerate(everybody):
                tasks.create_task(self._go_on(f"{number}", what))
            tasks.create_task(self._sleep())

    @staticmethod
    def principal(subject: str) -> Principal:
        """Somebody of the org."""
        return Principal(org=ORG, subject=subject)

    async def _go_on(self, number: str, what: Callable[[random.Random, Speech], Awaitable[None]]) -> None:
        rng = random.Random(f"{self._seed}:{number}")
        speech = Speech(f"s{number}", rng, self._namespaces)
        while not self.over.is_set():
            await what(rng, speech)
            await asyncio.sleep(rng.uniform(0.5, 1.5) * self._pause_s)

    async def _call(
        self, rpc: Rpc[RequestT, ReplyT], request: RequestT, *, timeout_s: float = PATIENCE_S
    ) -> ReplyT | CortexError:
        """Call once. A failure that is nobody's outage is a fault."""
        try:
            reply = await call(self._caller, rpc, request, timeout_s=timeout_s)
        except CortexError as error:
            why = "" if error.retryable or error.code is ErrorCode.NOT_FOUND else f" ({error.message})"
            self.ledger.failed[f"{rpc.verb}: {error.code}{why}"] += 1
            if error.code is ErrorCode.INTERNAL:
                self.ledger.blame("unexpected errors", f"{rpc.verb}: {error.message}")
            return error
        self.ledger.done[rpc.verb] += 1
        return reply

    # Writing -----------------------------------------------------------------------------------------------------

    def _next(self, rng: random.Random, speech: Speech) -> Saying:
        """Mostly something new, sometimes what somebody has said before."""
        if self._distinct < len(DISTINCT):
            self._distinct += 1
            return speech.distinct(self._distinct - 1)
        known = self.ledger.acknowledged
        if known and rng.random() < 0.12:
            return speech.again(self.ledger.said[rng.choice(sorted(known)[-200:])])
        return speech.new()

    async def _capture(self, rng: random.Random, speech: Speech) -> None:
        saying = self.ledger.say(self._next(rng, speech))
        capture = Capture(
            namespace=saying.namespace,
            content=saying.content,
            source_ref=saying.ref,
            session=saying.session,
            turn=saying.turn,
            speaker=saying.speaker,
            occurred_at=saying.at,
            owner=saying.subject,
            explicit=saying.explicit,
            visibility=saying.visibility,
        )
        body = capture.model_dump_json().encode()
        for _ in range(1 + (rng.random() < 0.1)):
            while True:
                try:
                    subject = subjects.capture(ORG, saying.source_kind)
                    await publish(self._publisher, subject, body, message_id=saying.ref, more={})
                    break
                except CortexError as error:
                    self.ledger.failed[f"capture: {error.code}"] += 1
                    await asyncio.sleep(AGAIN_S)
        self.ledger.done["capture"] += 1
        self.ledger.acknowledge(saying)

    async def _retain(self, rng: random.Random, speech: Speech) -> None:
        await self._insist(self._next(rng, speech))

    async def _insist(self, saying: Saying) -> None:
        """Retain until it is answered. Each try is a saying of its own: one whose answer was lost may be there."""
        tries = 0
        while True:
            attempt = self.ledger.say(saying if not tries else replace(saying, ref=f"{saying.ref}.{tries}"))
            request = RetainRequest(principal=self.principal(saying.subject), memory=attempt.draft())
            reply = await self._call(RETAIN, request)
            if not isinstance(reply, CortexError):
                self.ledger.acknowledge(attempt, reply)
                return
            self._refused(reply, attempt.ref)
            if self.over.is_set():
                return
            tries += 1
            await asyncio.sleep(AGAIN_S)

    async def _batch(self, rng: random.Random, speech: Speech) -> None:
        sayings = [self.ledger.say(self._next(rng, speech)) for _ in range(BATCH)]
        by_owner = [one for one in sayings if one.subject == sayings[0].subject]
        request = RetainBatchRequest(
            principal=self.principal(sayings[0].subject),
            memories=tuple(one.draft() for one in by_owner),
            embed=rng.random() < 0.5,
        )
        reply = await self._call(RETAIN_BATCH, request, timeout_s=2 * PATIENCE_S)
        if isinstance(reply, CortexError):
            self._refused(reply, sayings[0].ref)
            return
        for saying, item in zip(by_owner, reply.items, strict=True):
            if item.retained is not None:
                self.ledger.acknowledge(saying, item.retained)
            elif item.error is not None and not item.error.retryable:
                self.ledger.blame("refused", f"{saying.ref}: {item.error.message}")

    async def _correct(self, rng: random.Random, speech: Speech) -> None:
        for saying in speech.values(CHAIN):
            await self._insist(saying)
            if self.over.is_set():
                return
            await asyncio.sleep(rng.uniform(0.1, 1.0) * self._pause_s)

    async def _change(self, rng: random.Random, _: Speech) -> None:
        """Forget something, and perhaps restore it."""
        ledger = self.ledger
        known = [
            (one.memory_id, ref)
            for ref, one in ledger.retained.items()
            if one.decision is WriteDecision.ADD and not ledger.said[ref].content.startswith("The retry limit")
        ]
        if not known:
            return
        memory, ref = rng.choice(known[-400:])
        for wish in (Wish.FORGET, Wish.RESTORE)[: 1 + (rng.random() < 0.5)]:
            request = MemoryRequest(principal=self.principal(ledger.said[ref].subject), memory_id=memory)
            reply = await self._call(FORGET if wish is Wish.FORGET else RESTORE, request)
            if not isinstance(reply, Permanent):
                ledger.wish(memory, wish, acknowledged=not isinstance(reply, CortexError))

    async def _document(self, rng: random.Random, speech: Speech) -> None:
        name = f"notes-{rng.randrange(3)}"
        namespace = self._namespaces[0]
        document = self.ledger.documents.setdefault(name, Document(namespace))
        paragraphs = document.text.split("\n\n") if document.text else []
        paragraphs = [*paragraphs, speech.new().content][-PARAGRAPHS:]
        text = "\n\n".join(paragraphs)
        document.perhaps.append(text)
        draft = DocumentDraft(document_id=name, namespace=namespace, content=text)
        request = RetainDocumentRequest(principal=self.principal(OWNERS[0]), document=draft)
        reply = await self._call(RETAIN_DOCUMENT, request, timeout_s=2 * PATIENCE_S)
        if isinstance(reply, CortexError):
            self._refused(reply, name)
        else:
            document.text, document.perhaps = text, []

    def _refused(self, error: CortexError, what: str) -> None:
        if isinstance(error, Permanent) and error.code is not ErrorCode.INTERNAL:
            self.ledger.blame("refused", f"{what}: {error.message}")

    # Reading -----------------------------------------------------------------------------------------------------

    def _some(self, rng: random.Random) -> Saying | None:
        known = sorted(self.ledger.acknowledged)
        return self.ledger.said[rng.choice(known)] if known else None

    async def _recall(self, rng: random.Random, _: Speech) -> None:
        if (saying := self._some(rng)) is None:
            return
        stranger = rng.random() < 0.5
        principal = self.principal(STRANGER if stranger else saying.subject)
        reply = await self._call(RECALL, RecallRequest(principal=principal, query=saying.content, k=20))
        if isinstance(reply, CortexError):
            return
        for one in (*reply.memories, *reply.facts):
            if one.visibility is Visibility.PRIVATE and one.owner != principal.subject:
                self.ledger.blame("private memories shown", f"recall: {one.memory_id}")
            if one.invalid_at is not None:
                self.ledger.blame("ended memories recalled", str(one.memory_id))

    async def _archive(self, rng: random.Random, _: Speech) -> None:
        if (saying := self._some(rng)) is None:
            return
        principal = self.principal(rng.choice((STRANGER, saying.subject)))
        request = ArchiveRequest(principal=principal, query=saying.content, k=20, limit_s=PATIENCE_S / 2)
        reply = await self._call(RECALL_ARCHIVE, request)
        if isinstance(reply, CortexError):
            return
        ids = [one.memory.memory_id for one in reply.memories]
        if len(set(ids)) < len(ids):
            self.ledger.blame("archived memories shown twice", str(ids))
        for found in reply.memories:
            if found.memory.visibility is Visibility.PRIVATE and found.memory.owner != principal.subject:
                self.ledger.blame("private memories shown", f"archive: {found.memory.memory_id}")

    async def _get(self, rng: random.Random, _: Speech) -> None:
        """What was acknowledged is there at any moment: in the hot tier, or else in the cold one, or it just came back
        from there."""
        retained = list(self.ledger.retained.items())
        if not retained:
            return
        ref, known = rng.choice(retained)
        request = GetRequest(principal=self.principal(self.ledger.said[ref].subject), memory_id=known.memory_id)
        for rpc in (GET, GET_ARCHIVED, GET):
            reply = await self._call(rpc, request)
            if not isinstance(reply, CortexError):
                self._is_whole(ref, known.memory_id, reply.memory.content)
                return
            if reply.code is not ErrorCode.NOT_FOUND:
                return
        self.ledger.blame("absent for a moment", f"{ref}: {known.memory_id}")

    def _is_whole(self, ref: str, memory: UUID, content: str) -> None:
        known = self.ledger.retained[ref]
        if known.decision is not WriteDecision.NOOP and content != self.ledger.said[ref].content:
            self.ledger.blame("read changed", f"{ref}: {memory}")

    # Sleeping ----------------------------------------------------------------------------------------------------

    async def _sleep(self) -> None:
        """Ask for a run of everything on every namespace, again and again."""
        while not self.over.is_set():
            for namespace in self._namespaces:
                request = SleepRunRequest(principal=self.principal(OWNERS[0]), namespace=namespace)
                await self._call(SLEEP_RUN, request, timeout_s=2.0)
            await asyncio.sleep(0.5)
