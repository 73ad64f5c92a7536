"""The context pack: what matters for a project at the start of a session, within a token budget. Pure functions.

Sections in the order in which they are filled: decisions, open threads, facts, recent work; with a delta, what stopped
being true. A memory is in the first section that it fits. Sections are found by plain cues in English and Arabic; a
cue that is missed costs a section's order, not the memory, which is then in `recent` if it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cortex_contracts.messages.memory import MemoryType, Network
from cortex_contracts.rpc.recall import ContextSection
from cortex_store.memories import Memory

DECISION: Final = re.compile(
    r"\b(decid(e|ed|ing)|decision|agreed|chose|chosen|settled on|rejected|approved|will use|adopted)\b"
    r"|قرر|قرار|اتفق|اخترنا|اعتمدنا|رفضنا",
    re.IGNORECASE,
)
OPEN: Final = re.compile(
    r"\b(todo|to do|open question|blocked|blocker|next steps?|follow[- ]up|pending|unresolved)\b"
    r"|[?؟]\s*$|معلق|الخطوة التالية|لم يحسم|مطلوب|متابعة",
    re.IGNORECASE,
)
SHARE: Final = {
    ContextSection.INVALIDATED: 0.2,
    ContextSection.DECISIONS: 0.35,
    ContextSection.OPEN: 0.5,
    ContextSection.FACTS: 0.75,
    ContextSection.RECENT: 1.0,
}
"""Up to which share of the budget a section may fill the pack: none starves the ones after it."""


def section(memory: Memory) -> ContextSection:
    """Where a memory belongs."""
    if memory.invalid_at is not None:
        return ContextSection.INVALIDATED
    if DECISION.search(memory.content[:2_000]):
        return ContextSection.DECISIONS
    if OPEN.search(memory.content[-2_000:]):
        return ContextSection.OPEN
    if memory.network is Network.FACT or memory.memory_type in (MemoryType.SEMANTIC, MemoryType.PROCEDURAL):
        return ContextSection.FACTS
    return ContextSection.RECENT


def arrange(memories: Iterable[Memory]) -> list[tuple[ContextSection, Memory]]:
    """Memories by section, in each the most important first, in `recent` the newest."""
    found: dict[ContextSection, list[Memory]] = {name: [] for name in SHARE}
    for memory in memories:
        found[section(memory)].append(memory)
    for name, group in found.items():
        if name in (ContextSection.RECENT, ContextSection.INVALIDATED):
            group.sort(key=lambda one: (one.valid_at, one.id), reverse=True)
        else:
            group.sort(key=lambda one: (-round(one.importance, 1), -one.valid_at.timestamp(), one.id))
    return [(name, memory) for name, group in found.items() for memory in group]
