"""Carrying out a verdict: a memory with all that makes it findable, or one more occurrence; what it ends; the event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from cortex_contracts.messages.base import Principal, preview
from cortex_contracts.messages.memory import Retained, Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_decision import Verdict, importance
from cortex_ingest.intake import Intake, said_at
from cortex_providers.engine import Extraction
from cortex_store import endings, memory_index, occurrences
from cortex_store.connection import Connection
from cortex_store.ids import uuid7
from cortex_store.memories import NewMemory
from cortex_writing import journal
from cortex_writing.neighbourhood import Neighbourhood, Vector
from cortex_writing.remembering import remember

SKEW: Final = timedelta(minutes=5)
"""How far another clock may be ahead: what is further ahead is announced, and changes nothing before its time."""


async def carry_out(
    connection: Connection,
    principal: Principal,
    intake: Intake,
    document: memory_index.Document,
    vector: Vector,
    near: Neighbourhood,
    verdict: Verdict,
    extraction: Extraction,
) -> Retained:
    """Do what a verdict says with what was taken in, in the transaction that found `near`."""
    draft = intake.draft
    when = said_at(draft)
    now, ends = datetime.now(UTC), verdict.invalid_at
    announced = ends is not None and ends > now + SKEW
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
        )
    else:
        memory_id = uuid7()
        score = importance(
            near.novelty(),
            explicit=draft.explicit,
            source_kind=draft.source_kind,
            reference_age_days=max(0.0, (now - when).total_seconds() / 86_400),
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
            invalid_at=None if ends is None or announced else max(ends, when),
            superseded_by=None if ends is None or announced else verdict.superseded_by,
        )
        ahead = when > now + SKEW
        remembered = await remember(
            connection, principal, memory, document, vector, extraction, supersedes=() if ahead else verdict.targets
        )
        embedded, superseded = remembered.embedded, remembered.superseded
        if announced and ends is not None and verdict.superseded_by is not None:
            await endings.announce(connection, memory_id, verdict.superseded_by, ends)
        if ahead:
            for old in verdict.targets:
                await endings.announce(connection, old, memory_id, when)
    return Retained(
        memory_id=memory_id,
        decision=decision,
        reason=verdict.reason,
        superseded=superseded,
        importance=score,
        redactions=intake.redactions,
        embedded=embedded,
    )
