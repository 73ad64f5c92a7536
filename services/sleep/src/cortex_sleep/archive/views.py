"""Memories of the cold tier as they travel on the bus."""

from __future__ import annotations

import json

from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.memory import MemoryType, MemoryView, Network, Visibility, WriteDecision
from cortex_contracts.rpc.recall import EntityRelation, Occurrence
from cortex_providers.cold_memory import ColdMemory


def view(memory: ColdMemory, content: str | None = None) -> MemoryView:
    """A memory as a reply shows it, with its own content or a shorter one."""
    return MemoryView(
        memory_id=memory.id,
        namespace=memory.namespace,
        content=memory.content if content is None else content,
        importance=memory.importance,
        source_kind=memory.source_kind,
        source_ref=memory.source_ref,
        session=memory.session,
        turn=memory.turn,
        speaker=memory.speaker,
        owner=memory.owner,
        visibility=Visibility(memory.visibility),
        network=Network(memory.network),
        memory_type=MemoryType(memory.memory_type),
        assertions=tuple(Assertion.model_validate(each) for each in json.loads(memory.assertions)),
        metadata=json.loads(memory.metadata),
        valid_at=memory.valid_at,
        invalid_at=memory.invalid_at,
        superseded_by=memory.superseded_by,
        created_at=memory.created_at,
        decision=WriteDecision(memory.decision),
        decision_reason=memory.decision_reason,
    )


def occurrences(memory: ColdMemory) -> tuple[Occurrence, ...]:
    """The further times that it was said, newest first, as `get` has them."""
    return tuple(
        Occurrence(
            source_kind=one.source_kind,
            source_ref=one.source_ref,
            session=one.session,
            turn=one.turn,
            speaker=one.speaker,
            occurred_at=one.occurred_at,
            reason=one.reason,
        )
        for one in sorted(memory.occurrences, key=lambda one: (one.occurred_at, one.id), reverse=True)
    )


def entities(memory: ColdMemory) -> tuple[str, ...]:
    """The names it is linked to, each once, in alphabetical order."""
    return tuple(sorted({one.name for one in memory.entities}))


def relations(memory: ColdMemory) -> tuple[EntityRelation, ...]:
    """What it says of how its entities stand to each other, by their names."""
    names = {one.key: one.name for one in memory.entities}
    return tuple(
        EntityRelation(
            subject=names.get(one.subject, one.subject),
            predicate=one.predicate,
            object=names.get(one.object, one.object),
        )
        for one in memory.relations
    )
