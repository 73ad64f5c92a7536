"""Announcements: what follows a commit that changed memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cortex_writing.ports import Invalidation


class Announcements:
    """Wakes who works on what was committed, and tells readers that what they cached is old. Nothing in it fails."""

    def __init__(self, committed: Callable[[], None], invalidation: Invalidation) -> None:
        self._committed = committed
        self._invalidation = invalidation

    async def changed(self, org: str, namespaces: Iterable[str]) -> None:
        """Memories of these namespaces changed. Call it after the commit and before anybody is told of it."""
        self._committed()
        for namespace in namespaces:
            await self._invalidation.bump(org, namespace)
