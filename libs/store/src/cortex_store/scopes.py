"""Scopes: the namespaces that a principal searches outside of the hot tier, where PostgreSQL cannot apply its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cortex_store.connection import Connection


@dataclass(frozen=True, slots=True)
class Scope:
    """A namespace; one that is not `readable` has memories that the whole org may read."""

    namespace: str
    readable: bool


SEARCHED: Final = """
SELECT namespace, bound_to('readable', namespace) AS readable FROM namespaces
WHERE current_setting('cortex.subject', true) <> '' AND org = current_setting('cortex.org', true)
    AND ($1::text[] IS NULL OR namespace = ANY ($1)) AND (has_global OR bound_to('readable', namespace))
ORDER BY namespace
"""


async def searched(connection: Connection, namespaces: Sequence[str] | None) -> tuple[Scope, ...]:
    """What the bound principal searches when it names `namespaces` (none: all), grants included: the rule of
    `searched_scopes` of migration 0002, in alphabetical order."""
    rows = await connection.fetch(SEARCHED, None if namespaces is None else list(namespaces))
    return tuple(Scope(row["namespace"], row["readable"]) for row in rows)
