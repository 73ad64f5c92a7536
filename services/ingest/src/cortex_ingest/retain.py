"""Retain: the write pipeline. Redact, embed, compare with what is known, decide, and insert with everything that makes
the memory findable, in one transaction."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from cortex_contracts.errors import CortexError, Permanent
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft, Retained
from cortex_ingest.errors import WentCold
from cortex_ingest.intake import Intake, said_at, take_in
from cortex_ingest.judgement import NO_OPINION, Judgement, noted
from cortex_ingest.verdicts import carry_out
from cortex_ingest.write_access import require_write
from cortex_providers.classifier import BuiltinClassifier, Classifier
from cortex_providers.embedder import TextKind
from cortex_providers.engine import BuiltinEngine, Engine
from cortex_runtime import inbox
from cortex_store import indexed_text, memories, memory_index
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding
from cortex_writing import neighbourhood
from cortex_writing.announcements import Announcements
from cortex_writing.neighbourhood import Vector
from cortex_writing.ports import PassageEmbedder, Transactions
from cortex_writing.reading import Reader, Reading
from cortex_writing.turns import previous_turn

BATCH_ASK_S: Final = 100.0
"""For which an engine, and then a classifier, is asked about a batch; `retain_batch` has 300 s."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message that carries a draft: whatever it causes happens once."""

    consumer: str
    message_id: str


class Retain:
    """The use case."""

    def __init__(
        self,
        database: Transactions,
        embedder: PassageEmbedder,
        announcements: Announcements,
        *,
        engine: Engine | None = None,
        classifier: Classifier | None = None,
    ) -> None:
        """Without an engine or a classifier the built-in ones work."""
        self._database = database
        self._embedder = embedder
        self._announcements = announcements
        self._reader = Reader(engine or BuiltinEngine())
        self._judgement = Judgement(database, classifier or BuiltinClassifier())

    async def retain(
        self, principal: Principal, draft: MemoryDraft, *, embed: bool = True, delivered: Delivered | None = None
    ) -> Retained | None:
        """Remember one statement; none when the delivery had its effect before.

        Raises:
            InvalidMessage: nothing is left of it.
            Permanent: the principal may not write the namespace.
            Unavailable: the embedder or the database is away; nothing was written.
        """
        intake = take_in(draft, owner=principal.subject)
        async with self._database.transaction(principal) as connection:
            # Before its text goes to a model.
            await require_write(connection, intake.draft.namespace)
            before = await previous_turn(connection, intake.draft) if embed else None
        vector = Vector()
        if embed:
            text = indexed_text.meaning(intake.draft, before)
            vector = Vector((await self._embedder.embed([text], TextKind.PASSAGE))[0], self._embedder.model)
        [reading] = await self._reader.read([intake.draft])
        return await self._write(principal, intake, vector, reading, delivered=delivered)

    async def retain_batch(
        self,
        principal: Principal,
        drafts: Sequence[MemoryDraft | Intake],
        *,
        embed: bool,
        decide: bool,
        vectors: Sequence[Embedding] | None = None,
        model: str | None = None,
        recorded: Callable[[int, Connection, Retained], Awaitable[None]] | None = None,
    ) -> tuple[Retained | CortexError, ...]:
        """Remember many statements in their order; each succeeds or fails on its own. Given `vectors` are used as they
        are, when they come from the recorded `model`. `recorded` gets the place of each and what became of it, in the
        transaction that does it; then what could not be written for now is raised as well, and so is what it raises.

        Raises:
            Unavailable: the embedder is away; nothing was written.
        """
        attempts = [draft if isinstance(draft, Intake) else _attempt(draft, principal) for draft in drafts]
        intakes = await self._permitted(principal, attempts)
        if vectors is not None:
            prepared = [Vector(vector, model) for vector in vectors]
        elif embed:
            prepared = await self._embed(principal, intakes)
        else:
            prepared = [Vector()] * len(drafts)
        good = [intake.draft for intake in intakes if isinstance(intake, Intake)]
        readings = iter(await self._reader.read(good, limit_s=BATCH_ASK_S))
        until = asyncio.get_running_loop().time() + BATCH_ASK_S
        outcomes: list[Retained | CortexError] = []
        try:
            for place, (intake, vector) in enumerate(zip(intakes, prepared, strict=True)):
                if isinstance(intake, CortexError):
                    outcomes.append(intake)
                    continue
                try:
                    retained = await self._write(
                        principal,
                        intake,
                        vector,
                        next(readings),
                        decided=decide,
                        announce=False,
                        until=until,
                        recorded=None if recorded is None else partial(recorded, place),
                    )
                    assert retained is not None, "only a delivery can have had its effect before"
                    outcomes.append(retained)
                except CortexError as error:
                    if recorded is not None and error.retryable:
                        raise
                    outcomes.append(error)
        finally:
            await self._announcements.changed(principal.org, {draft.namespace for draft in good})
        return tuple(outcomes)

    async def _permitted(
        self, principal: Principal, intakes: Sequence[Intake | CortexError]
    ) -> list[Intake | CortexError]:
        """The intakes, an error for each that the principal may not write: before its text goes to a model."""
        refused: dict[str, CortexError] = {}
        async with self._database.transaction(principal) as connection:
            for namespace in {intake.draft.namespace for intake in intakes if isinstance(intake, Intake)}:
                try:
                    await require_write(connection, namespace)
                except Permanent as error:
                    refused[namespace] = error
        return [refused.get(one.draft.namespace, one) if isinstance(one, Intake) else one for one in intakes]

    async def _embed(self, principal: Principal, intakes: Sequence[Intake | CortexError]) -> list[Vector]:
        """The vectors of a batch in one go; a turn is read with the one before it, which may be in the batch."""
        drafts = [intake.draft if isinstance(intake, Intake) else None for intake in intakes]
        own: dict[tuple[str, str | None, int | None], MemoryDraft] = {
            (d.namespace, d.session, d.turn): d for d in drafts if d is not None and d.turn is not None
        }
        texts = {
            i: indexed_text.meaning(draft, await self._previous(principal, draft, own))
            for i, draft in enumerate(drafts)
            if draft is not None
        }
        vectors = await self._embedder.embed(list(texts.values()), TextKind.PASSAGE)
        found = dict(zip(texts, vectors, strict=True))
        return [Vector(found.get(i), self._embedder.model) for i in range(len(intakes))]

    async def _previous(
        self,
        principal: Principal,
        draft: MemoryDraft,
        batch: Mapping[tuple[str, str | None, int | None], MemoryDraft],
    ) -> indexed_text.Said | None:
        """The turn before a draft in its session: the context that its meaning is read in."""
        if draft.session is None or not draft.turn:
            return None
        known = batch.get((draft.namespace, draft.session, draft.turn - 1))
        if known is not None:
            return known if known.visibility is draft.visibility else None
        async with self._database.transaction(principal) as connection:
            return await previous_turn(connection, draft)

    async def _write(
        self,
        principal: Principal,
        intake: Intake,
        vector: Vector,
        reading: Reading,
        *,
        decided: bool = True,
        announce: bool = True,
        delivered: Delivered | None = None,
        until: float = math.inf,
        recorded: Callable[[Connection, Retained], Awaitable[None]] | None = None,
    ) -> Retained | None:
        draft = intake.draft
        document = indexed_text.document(draft, said_at(draft))
        opinion = NO_OPINION
        if decided:
            opinion = await self._judgement.ask(principal, draft, document, vector, until=until)

        async def write() -> Retained | None:
            async with self._database.transaction(principal) as connection:
                if delivered is not None and not await inbox.claim(
                    connection, delivered.consumer, delivered.message_id
                ):
                    return None
                await require_write(connection, draft.namespace)
                await memory_index.lock_content(connection, draft.namespace, document.content)
                near = await neighbourhood.find(
                    connection, draft, document, vector, owner=principal.subject, repeats_only=not decided
                )
                verdict = noted(await self._judgement.verdict(principal.subject, draft, near, opinion), reading.note)
                if len(await memories.lock(connection, verdict.targets)) < len(set(verdict.targets)):
                    raise WentCold("what this was compared with has just gone to the cold tier")
                retained = await carry_out(
                    connection, principal, intake, document, vector, near, verdict, reading.extraction
                )
                if recorded is not None:
                    await recorded(connection, retained)
                return retained

        try:
            retained = await write()
        except WentCold:
            retained = await write()
        if announce and retained is not None:
            await self._announcements.changed(principal.org, (draft.namespace,))
        return retained


def _attempt(draft: MemoryDraft, principal: Principal) -> Intake | CortexError:
    try:
        return take_in(draft, owner=principal.subject)
    except CortexError as error:
        return error
