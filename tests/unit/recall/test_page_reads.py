"""A page that is too long for a message comes cut, and a shorter one as it is."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.pages import PageType, PageView
from cortex_recall.page_reads import fitting

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def page(body: str, **metadata: str) -> PageView:
    return PageView(
        vault="v",
        slug="s",
        type=PageType.NOTE,
        title="t",
        created=NOW,
        updated=NOW,
        body_markdown=body,
        metadata=dict(metadata),
    )


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60).flatmap(lambda piece: st.integers(0, 400).map(lambda times: piece * times)))
def test_what_is_kept_fits_and_is_the_beginning(body: str) -> None:
    whole = page(body)
    kept = fitting(whole, 4_000)
    size = len(whole.model_dump_json().encode())
    assert len(kept.model_dump_json().encode()) <= 4_000
    assert body.startswith(kept.body_markdown)
    if size <= 4_000:
        assert kept is whole
    else:
        # Not much less than what fits: a character takes six bytes at most, and their share is an estimate.
        assert len(kept.model_dump_json().encode()) > 3_000


def test_metadata_that_are_too_long_are_left_out() -> None:
    kept = fitting(page("body", note="x" * 5_000), 4_000)
    assert (kept.body_markdown, kept.metadata) == ("body", {})
