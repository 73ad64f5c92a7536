"""Retain: the write pipeline. Redact, embed, compare with what is known, decide, and insert with everything that makes
the memory findable, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.memory import MemoryDraft, Retained, Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_decision import Verdict, decide, importance
from cortex_extraction import entities as extraction
from cortex_ingest import journal, neighbourhood
from cortex_ingest.announcements import Announcements
from cortex_ingest.intake import Intake, said_at, take_in
from cortex_ingest.neighbourhood import Neighbourhood, Vector
from cortex_ingest.ports import PassageEmbedder, Transactions
from cortex_providers.embedder import TextKind
from cortex_runtime import inbox
from cortex_store import entities, indexed_text, memories, memory_index, occurrences
from cortex_store.connection import Connection
from cortex_store.embedding import Embedding
from cortex_store.ids import uuid7
from cortex_store.memories import Memory, NewMemory


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message that carries a draft: whatever it causes happens once."""

    consumer: str
    message_id: str


class Retain:
    """The use case."""

    def __init__(self, database: Transactions, embedder: PassageEmbedder, announcements: Announcements) -> None:
        self._database = database
        self._embedder = embedder
        self._announcements = announcements

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
        vector = Vector()
        if embed:
            text = indexed_text.meaning(intake.draft, await self._previous(principal, intake.draft, {}))
            vector = Vector((await self._embedder.embed([text], TextKind.PASSAGE))[0], self._embedder.model)
        return await self._write(principal, intake, vector, delivered=delivered)

    async def retain_batch(
        self,
        principal: Principal,
        drafts: Sequence[MemoryDraft],
        *,
        embed: bool,
        decide: bool,
        vectors: Sequence[Embedding] | None = None,
        model: str | None = None,
    ) -> tuple[Retained | CortexError, ...]:
        """Remember many statements in their order; each succeeds or fails on its own. Given `vectors` are used as they
        are, when they come from the recorded `model`.

        Raises:
            Unavailable: the embedder is away; nothing was written.
        """
        intakes = [_attempt(draft, principal) for draft in drafts]
        if vectors is not None:
            prepared = [Vector(vector, model) for vector in vectors]
        elif embed:
            prepared = await self._embed(principal, intakes)
        else:
            prepared = [Vector()] * len(drafts)
        outcomes: list[Retained | CortexError] = []
        for intake, vector in zip(intakes, prepared, strict=True):
            if isinstance(intake, CortexError):
                outcomes.append(intake)
                continue
            try:
                retained = await self._write(principal, intake, vector, decided=decide, announce=False)
                assert retained is not None, "only a delivery can have had its effect before"
                outcomes.append(retained)
            except CortexError as error:
                outcomes.append(error)
        await self._announcements.changed(principal.org, {draft.namespace for draft in drafts})
        return tuple(outcomes)

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
        *,
        decided: bool = True,
        announce: bool = True,
        delivered: Delivered | None = None,
    ) -> Retained | None:
        draft = intake.draft
        document = indexed_text.document(draft, said_at(draft))
        async with self._database.transaction(principal) as connection:
            if delivered is not None and not await inbox.claim(connection, delivered.consumer, delivered.message_id):
                return None
            await _may_write(connection, draft.namespace)
            await memory_index.lock_content(connection, draft.namespace, document.content)
            near = await neighbourhood.find(connection, principal, draft, document, vector, repeats_only=not decided)
            verdict = decide(neighbourhood.statement(draft), near.neighbours)
            retained = await self._apply(connection, principal, intake, document, vector, near, verdict)
        if announce:
            await self._announcements.changed(principal.org, (draft.namespace,))
        return retained

    async def _apply(
        self,
        connection: Connection,
        principal: Principal,
        intake: Intake,
        document: memory_index.Document,
        vector: Vector,
        near: Neighbourhood,
        verdict: Verdict,
    ) -> Retained:
        draft = intake.draft
        when = said_at(draft)
        decision = WriteDecision(verdict.decision)
        superseded: tuple[UUID, ...] = ()
        if decision is WriteDecision.NOOP:
            repeated = near.rows[verdict.targets[0]]
            await occurrences.record(
                connection,
                occurrences.Occurrence(
                    uuid7(),
                    repeated.id,
                    draft.source_kind,
                    draft.source_ref,
                    draft.session,
                    draft.turn,
                    draft.speaker,
                    when,
                    verdict.reason,
                ),
            )
            memory_id, score, embedded = repeated.id, repeated.importance, True
        else:
            memory_id = uuid7()
            score = importance(
                near.novelty(),
                explicit=draft.explicit,
                source_kind=draft.source_kind,
                reference_age_days=max(0.0, (datetime.now(UTC) - when).total_seconds() / 86_400),
            )
            memory = NewMemory(
                id=memory_id,
                namespace=draft.namespace,
                content=draft.content,
                source_kind=draft.source_kind,
                importance=score,
                valid_at=when,
                owner=principal.subject,
                visibility=draft.visibility,
                network=draft.network,
                memory_type=draft.memory_type,
                source_ref=draft.source_ref,
                session=draft.session,
                turn=draft.turn,
                speaker=draft.speaker,
                assertions=draft.assertions,
                metadata=draft.metadata,
                decision=decision,
                decision_reason=verdict.reason,
                # It came late: something newer has taken its place already.
                invalid_at=None if verdict.invalid_at is None else max(verdict.invalid_at, when),
                superseded_by=verdict.superseded_by,
            )
            await memories.insert(connection, memory)
            embedded = await memory_index.index(connection, memory_id, document, vector.embedding, vector.model)
            await link(connection, memory_id, draft)
            superseded = tuple(
                [old for old in verdict.targets if await memories.invalidate(connection, old, when, memory_id)]
            )
        await journal.record(
            connection,
            principal,
            MemoryOp.RETAIN,
            draft.namespace,
            memory_id,
            decision=decision,
            importance=score,
            source_kind=draft.source_kind,
            preview=preview(draft.content) if draft.visibility is not Visibility.PRIVATE else "",
            superseded=superseded,
        )
        return Retained(
            memory_id=memory_id,
            decision=decision,
            reason=verdict.reason,
            superseded=superseded,
            importance=score,
            redactions=intake.redactions,
            embedded=embedded,
        )


async def previous_turn(connection: Connection, said: MemoryDraft | NewMemory | Memory) -> Memory | None:
    """The stored turn before one of a session, the latest if there are more, among those with the same readers: what
    others read must not be made of what is private. A reindexing reads the same (`cortex_infra.reindex`)."""
    if said.session is None or not said.turn:
        return None
    before = await memory_index.turns(connection, said.namespace, said.session, said.turn - 1, said.turn - 1)
    found = await memories.by_ids(connection, before)
    alike = [found[one] for one in before if one in found and found[one].visibility is said.visibility]
    return alike[-1] if alike else None


async def link(connection: Connection, memory_id: UUID, said: indexed_text.Said) -> None:
    """Link a memory to what it names and to who says it."""
    named = [
        entities.Named(one.key, one.name, one.kind, one.role)
        for one in extraction.extract(said.content, speaker=said.speaker)
    ]
    await entities.link(connection, memory_id, said.namespace, named)


def _attempt(draft: MemoryDraft, principal: Principal) -> Intake | CortexError:
    try:
        return take_in(draft, owner=principal.subject)
    except CortexError as error:
        return error


async def _may_write(connection: Connection, namespace: str) -> None:
    if not await memory_index.may_write(connection, namespace):
        raise Permanent(f"no access to write the namespace {namespace!r}", code=ErrorCode.FORBIDDEN)
