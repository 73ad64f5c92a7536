"""Events carry at most a preview of text."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cortex_contracts.messages.base import PREVIEW_LENGTH, preview
from cortex_contracts.messages.events import MemoryEvent, PageEvent, SleepEvent, SleepRunEvent, WakeEvent
from cortex_contracts.subjects import MemoryOp

MAX_TEXT = 200
"""What ids, commits and reasons may have at most."""


@given(st.text(max_size=400))
def test_a_preview_is_one_line_of_at_most_the_documented_length(text: str) -> None:
    shown = preview(text)
    assert len(shown) <= PREVIEW_LENGTH
    assert shown.splitlines() in ([], [shown])
    assert preview(shown) == shown


@given(st.text("ab ", max_size=PREVIEW_LENGTH))
def test_a_short_text_is_shown_whole(text: str) -> None:
    assert preview(text) == " ".join(text.split())


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert preview("x" * (PREVIEW_LENGTH + 1)) == "x" * (PREVIEW_LENGTH - 1) + "…"


@pytest.mark.parametrize(("length", "fits"), [(PREVIEW_LENGTH, True), (PREVIEW_LENGTH + 1, False)])
def test_an_event_refuses_more_text_than_a_preview(length: int, fits: bool) -> None:
    fields = {"event_id": uuid4(), "op": MemoryOp.RETAIN, "org": "acme", "namespace": "personal"}
    event = {**fields, "preview": "x" * length, "occurred_at": datetime.now(UTC)}
    if fits:
        assert MemoryEvent.model_validate(event).preview == "x" * length
    else:
        with pytest.raises(ValidationError, match="at most 120 characters"):
            MemoryEvent.model_validate(event)


@pytest.mark.parametrize("event", [MemoryEvent, PageEvent, SleepEvent, SleepRunEvent, WakeEvent])
def test_every_text_in_an_event_is_bounded(event: type[MemoryEvent]) -> None:
    schema = event.model_json_schema()
    for name, field in schema["properties"].items():
        if name == "slug":  # the id of a page is as long as its path
            continue
        for one in field.get("anyOf", [field]):
            bounded = {"maxLength", "format", "pattern", "enum"} & one.keys() or "$ref" in one
            assert one.get("type") != "string" or bounded, f"{event.__name__}.{name}"
            assert one.get("maxLength", 0) <= MAX_TEXT
