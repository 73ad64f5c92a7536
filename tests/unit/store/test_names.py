from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cortex_store.names import NameKind, fold_name, names_of


def test_case_and_gaps_do_not_count() -> None:
    assert fold_name(" Mill Pond\tResearch ") == fold_name("mill-pond-research") == "mill-pond-research"


def test_a_path_counts_with_and_without_its_folders() -> None:
    names = dict(names_of("alice", "People/Alice Smith.md", "Alice", ("Ali", "alice")))
    assert names == {
        "alice": NameKind.SLUG,
        "people/alice-smith": NameKind.PATH,
        "alice-smith": NameKind.PATH,
        "ali": NameKind.ALIAS,
    }


@given(st.text())
def test_folding_a_name_twice_is_folding_it_once(text: str) -> None:
    assert fold_name(fold_name(text)) == fold_name(text)
