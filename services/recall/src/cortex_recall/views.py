"""Memories as they travel on the bus."""

from __future__ import annotations

from cortex_contracts.messages.memory import MemoryView
from cortex_store.memories import Memory


def view(memory: Memory, content: str | None = None) -> MemoryView:
    """A stored memory as a reply shows it, with its own content or a shorter one."""
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
        visibility=memory.visibility,
        network=memory.network,
        memory_type=memory.memory_type,
        assertions=memory.assertions,
        metadata=dict(memory.metadata),
        valid_at=memory.valid_at,
        invalid_at=memory.invalid_at,
        superseded_by=memory.superseded_by,
        created_at=memory.created_at,
        decision=memory.decision,
        decision_reason=memory.decision_reason,
    )
