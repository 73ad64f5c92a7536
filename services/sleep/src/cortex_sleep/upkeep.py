"""What of the hot tier is worn: tables whose indexes are worth building again. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from cortex_store.upkeep import TableState

LEAST_REMOVED: Final = 10_000
"""Rows: what fewer of them leave behind is a few megabytes and fills up again."""
WORN: Final = 0.2
"""The share of a table's rows that must have gone since its indexes were built: VACUUM gives room back inside an index,
but an index never gets smaller by itself, and a graph of vectors loses its short ways with its nodes."""
EMPTY_FOR: Final = timedelta(days=62)
"""How long ago the month of a partition must have ended before an empty one goes: two months, in which a late clock or
a restored backup may still write into it."""


def worn(tables: Sequence[TableState], least: int = LEAST_REMOVED) -> tuple[TableState, ...]:
    """The tables of which many rows were removed since their indexes were built, most worn first."""
    found = [(table, table.removed - table.removed_before) for table in tables]
    due = [(gone, table) for table, gone in found if gone >= least and gone >= WORN * (table.rows + gone)]
    return tuple(table for gone, table in sorted(due, key=lambda each: (-each[0], each[1].name)))


def empty_before(now: datetime) -> datetime:
    """The moment before which an empty month must have ended to be dropped."""
    return now - EMPTY_FOR
