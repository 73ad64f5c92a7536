"""The context RPC: what matters for a project, or what changed since a moment, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.messages.base import preview
from cortex_contracts.rpc.recall import ContextItem, ContextReply, ContextRequest, ContextSection
from cortex_ranking.packing import tokens
from cortex_recall.context_pack import SHARE, arrange
from cortex_recall.ports import Transactions
from cortex_recall.views import view
from cortex_store import memories
from cortex_store.memories import Memory

CONSIDERED: Final = 400
"""Newest, and as many most important, memories that a pack is made from."""


class Context:
    """The use case."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def context(self, request: ContextRequest) -> ContextReply:
        """The pack of the principal's namespaces.

        Raises:
            Unavailable: the hot tier cannot be read.
        """
        until = datetime.now(UTC)
        async with self._database.transaction(request.principal) as connection:
            found = await memories.outline(connection, request.namespaces, request.since, CONSIDERED)
        items, spent = _fill(arrange(found), request.budget_tokens, brief=request.brief)
        return ContextReply(items=tuple(items), tokens=spent, dropped=len(found) - len(items), until=until)


def _fill(
    arranged: Sequence[tuple[ContextSection, Memory]], budget: int, *, brief: bool
) -> tuple[list[ContextItem], int]:
    items: list[ContextItem] = []
    spent = 0
    for section, memory in arranged:
        content = preview(memory.content) if brief else memory.content
        price = tokens(content)
        if spent + price <= budget * SHARE[section]:
            items.append(ContextItem(section=section, memory=view(memory, content)))
            spent += price
    return items, spent
