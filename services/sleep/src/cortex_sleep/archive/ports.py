"""What the archive needs of a cold store."""

from __future__ import annotations

from typing import Protocol

from cortex_providers.cold_search import ColdLook


class Looks(Protocol):
    """Opens looks at the cold tier."""

    async def look(self) -> ColdLook:
        """A look at what is there now. Raises Unavailable when it is away, Permanent when it refuses."""
        ...
