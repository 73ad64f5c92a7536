"""The turns of a session: what is said means something after what was said before it."""

from __future__ import annotations

from cortex_contracts.messages.memory import MemoryDraft
from cortex_store import memories, memory_index
from cortex_store.connection import Connection
from cortex_store.memories import Memory, NewMemory


async def previous_turn(connection: Connection, said: MemoryDraft | NewMemory | Memory) -> Memory | None:
    """The stored turn before one of a session, the latest if there are more, among those with the same readers: what
    others read must not be made of what is private. A chunk of a document has headings instead, and changes without
    the one before it. A reindexing reads the same (`cortex_infra.reindex`)."""
    if said.session is None or not said.turn or (isinstance(said, Memory | NewMemory) and said.document is not None):
        return None
    before = await memory_index.turns(connection, said.namespace, said.session, said.turn - 1, said.turn - 1)
    found = await memories.by_ids(connection, before)
    alike = [found[one] for one in before if one in found and found[one].visibility is said.visibility]
    return alike[-1] if alike else None
