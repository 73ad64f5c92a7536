from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.upkeep import LEAST_REMOVED, worn
from cortex_store.upkeep import TableState


def table(name: str, rows: int, removed: int, before: int = 0) -> TableState:
    return TableState(name, rows, removed, before, 0)


def test_indexes_are_built_again_when_a_fifth_of_a_large_table_has_gone_the_most_worn_first() -> None:
    few = table("few", 100, LEAST_REMOVED - 1)
    share = table("share", 1_000_000, 200_000)
    fifth = table("fifth", 800_000, 200_000)
    half = table("half", 500_000, 700_000, before=200_000)
    since = table("since", 500_000, 700_000, before=699_000)
    assert worn([few, share, fifth, half, since]) == (half, fifth)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_what_was_just_built_is_not_worn_and_more_removed_rows_never_make_it_less(
    rows: int, removed: int, more: int
) -> None:
    assert worn([table("t", rows, removed, before=removed)]) == ()
    if worn([table("t", rows, removed)]):
        assert worn([table("t", rows, removed + more)])
