"""Snippets end at words and titles say where a memory comes from."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ranking.passage import snippet, title
from cortex_recall.page_engine import last_seen

SYNCED = datetime(2026, 11, 30, 12, tzinfo=UTC)


@given(st.text(max_size=600), st.integers(2, 300))
def test_a_snippet_is_one_line_within_its_length(text: str, length: int):
    cut = snippet(text, length)
    assert len(cut) <= length
    assert cut == " ".join(cut.split())


@given(st.lists(st.from_regex(r"[a-zA-Zء-ي]{1,8}", fullmatch=True), min_size=1, max_size=60))
def test_a_snippet_holds_whole_words_only(words: list[str]):
    cut = snippet(" ".join(words), 40)
    assert set(cut.rstrip("…").split()) <= set(words)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (("slack", "C042", "Mina"), "Mina in C042"),
        (("live_infra", None, None), "live infra"),
        (("live_infra", "live_infra:watch/api", "watch"), "live_infra:watch/api"),
    ],
)
def test_a_memory_is_called_by_its_origin(source: tuple[str, str | None, str | None], expected: str):
    assert title(*source) == expected


@pytest.mark.parametrize(
    ("frontmatter", "day"),
    [
        ({"updated": "2026-09-14", "date": "2026-01-01"}, 14),
        ({"date": "2026-09-13T08:00:00"}, 13),
        ({"updated": "soon", "created": "2026-09-12"}, 12),
    ],
)
def test_a_page_is_as_old_as_its_frontmatter_says(frontmatter: dict[str, str], day: int):
    assert last_seen(frontmatter, SYNCED) == datetime(2026, 9, day, tzinfo=UTC)


@pytest.mark.parametrize("frontmatter", [{}, {"date": 2026}, {"date": "2031-01-01"}])
def test_a_page_without_a_usable_date_or_with_one_to_come_is_as_old_as_its_sync(frontmatter: dict[str, object]):
    assert last_seen(frontmatter, SYNCED) == SYNCED  # type: ignore[arg-type]
