"""What an adapter is to the rest: one external engine that can be opened, asked and closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from cortex_contracts.rpc.engine import Hit


class Engine(Protocol):
    """One external engine. It is only read from. Every method may be cancelled at any time, and ends then.

    What it raises says what is broken: `Unavailable` means that the engine cannot be reached or has lost its session
    (the guard stops asking it and tries to open it again), any other CortexError that this one question failed in a
    healthy engine. Messages name the engine, never an address or a credential, and are fit for a person.
    """

    async def open(self) -> None:
        """Connect afresh and prove that it lives; an earlier connection is dropped. Raises CortexError."""
        ...

    async def close(self) -> None:
        """Let go of everything, for good or until the next `open`. Never raises."""
        ...

    async def check(self) -> None:
        """The cheapest proof of life over the connection that is there. Raises CortexError."""
        ...

    async def search(self, query: str, k: int) -> Sequence[Hit]:
        """At most `k` hits, best first; `Hit.engine` may be empty: the guard sets it. Raises CortexError."""
        ...

    async def last_ingest(self) -> datetime | None:
        """When the engine last learned something; cheap; none when it cannot be told. Raises CortexError."""
        ...
