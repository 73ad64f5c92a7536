"""What may be stored of a draft, and of a capture that nobody could process."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.memory import MemoryDraft, Visibility
from cortex_contracts.streams import CAPTURES
from cortex_ingest.captures import redacted_body
from cortex_ingest.errors import NothingLeft
from cortex_ingest.intake import take_in


def draft(content: str = "Text.", **fields: object) -> MemoryDraft:
    return MemoryDraft.model_validate({"namespace": "work", "content": content} | fields)


@pytest.mark.parametrize(
    "content",
    [
        "<private>the code is 4711</private>",
        " <private>x</private>, <private>y</private>!\n",
        "<private>never closed",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "<system-reminder>be nice</system-reminder>",
    ],
)
def test_a_draft_of_which_nothing_is_left_is_told_apart(content: str) -> None:
    with pytest.raises(NothingLeft):
        take_in(draft(content), owner="me")


@pytest.mark.parametrize("content", ["\x00\u200b ", " \n", "\u2060"])
def test_a_draft_that_shows_nothing_is_refused(content: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        take_in(draft(content), owner="me")
    assert not isinstance(refused.value, NothingLeft)


@pytest.mark.parametrize("content", ["?!", "👍", "The code is <private>4711</private>.", "مرحبا", "[private]"])
def test_what_says_something_stays(content: str) -> None:
    assert take_in(draft(content), owner="me").draft.content


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        ("A <pri\x00vate>hidden</private> word.", "A [private] word."),
        ("k\x00ghp_0123456789abcdefghijABCDEFGHIJ012345 y", "k [redacted:github-token] y"),
        ("HOME=/root\x00DB_PASSWORD\x00=\x00hidden2x", "HOME=/root DB_PASSWORD = [redacted:password]"),
        ("Ada\x00leads", "Ada leads"),
    ],
)
def test_a_nul_hides_nothing_and_is_a_blank(content: str, stored: str) -> None:
    assert take_in(draft(content), owner="me").draft.content == stored


def test_a_private_draft_needs_an_owner() -> None:
    with pytest.raises(InvalidMessage, match="owner"):
        take_in(draft(visibility=Visibility.PRIVATE), owner=None)


def test_a_name_tells_that_its_value_is_a_credential() -> None:
    taken = take_in(
        draft(
            metadata={"password": "hunter2xyz", "author": "Ada Lovelace", "api_key": "abcd1234EFGH"},
            assertions=(
                Assertion(subject="staging", attribute="password", value="hunter2xyz"),
                Assertion(subject="staging", attribute="port", value="5433"),
            ),
        ),
        owner="me",
    )
    assert taken.draft.metadata == {
        "password": "[redacted:password]",
        "author": "Ada Lovelace",
        "api_key": "[redacted:secret]",
    }
    assert [one.value for one in taken.draft.assertions] == ["[redacted:password]", "5433"]
    assert taken.redactions.credentials == 3


def test_the_body_of_a_dead_letter_keeps_its_shape_and_loses_what_is_hidden() -> None:
    body = {
        "content": "Open. <private>hidden-1</private>",
        "<private>hidden-2</private>": {"deep": ["<PRIVATE>hidden-3", 4, None, True]},
        "metadata": {"password": "hidden4x", "owner": "Ada"},
    }
    clean = redacted_body(json.dumps(body).encode())
    assert b"hidden" not in clean
    assert json.loads(clean) == {
        "content": "Open. [private]",
        "[private]": {"deep": ["[private]", 4, None, True]},
        "metadata": {"password": "[redacted:password]", "owner": "Ada"},
    }


@pytest.mark.parametrize(
    "body",
    [
        b"no JSON <private>hidden",
        b'{"content": "<private>hidden</private>',
        b"\xff<private>hidden</private>",
        b"[" * 100_000 + b"<private>hidden",
    ],
)
def test_a_body_that_is_no_json_is_redacted_as_a_text(body: bytes) -> None:
    assert b"hidden" not in redacted_body(body)


def test_a_body_that_markers_make_too_long_for_its_stream_is_not_kept() -> None:
    body = json.dumps({"content": "pwd=a1b2c\n" * (CAPTURES.max_message_bytes // 12)}).encode()
    assert len(body) <= CAPTURES.max_message_bytes
    assert redacted_body(body) == b""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab <>/private"\\', max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_redacting_a_body_twice_changes_nothing_more(value: object) -> None:
    once = redacted_body(json.dumps(value).encode())
    assert redacted_body(once) == once
