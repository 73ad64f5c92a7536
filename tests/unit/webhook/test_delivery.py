"""What deliveries ask for."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_runtime.settings_vaults import VaultSource
from cortex_webhook import delivery
from cortex_webhook.delivery import FORM, JSON, Ignored, Pong, Wanted
from cortex_webhook.errors import Malformed

BEFORE, AFTER = "a" * 40, "b" * 40
VAULTS = (
    VaultSource(name="notes", repository="https://github.com/Rasif/Notes.git"),
    VaultSource(name="drafts", repository="/srv/notes", branch="drafts", github="rasif/notes"),
    VaultSource(name="twin", repository="git@github.com:rasif/notes.git"),
    VaultSource(name="local", repository="/srv/other"),
    VaultSource(name="long", repository="/srv/long", branch="b" * 250, github="rasif/long"),
)


def push(**changes: Any) -> bytes:
    event = {
        "ref": "refs/heads/main",
        "before": BEFORE,
        "after": AFTER,
        "deleted": False,
        "forced": False,
        "commits": [{"id": AFTER, "added": ["ملاحظة.md"], "removed": [], "modified": []}],
        "repository": {"full_name": "Rasif/notes", "pushed_at": 1_764_000_000},
    }
    # As GitHub does it: everything outside of ASCII stands for itself.
    return json.dumps(event | changes, ensure_ascii=False).encode()


def read(body: bytes, event: str = "push", content_type: str = JSON) -> object:
    return delivery.read(event, "d-1", content_type, body, VAULTS)


def test_a_push_to_the_branch_of_a_vault_asks_for_its_sync() -> None:
    command = SyncVault(reason=SyncReason.PUSH, branch="main", before=BEFORE, after=AFTER, delivery_id="d-1")
    assert read(push()) == Wanted(("notes", "twin"), command)


def test_the_repository_is_matched_whatever_its_case() -> None:
    asked = read(push(ref="refs/heads/drafts", repository={"full_name": "RASIF/NOTES"}))
    assert isinstance(asked, Wanted)
    assert asked.vaults == ("drafts",)


@pytest.mark.parametrize("content_type", [FORM, f"{FORM}; charset=utf-8", FORM.upper()])
def test_a_form_says_the_same_as_json(content_type: str) -> None:
    form = urlencode({"payload": push().decode()}).encode()
    assert read(form, content_type=content_type) == read(push())


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_a_form_carries_any_text(text: str, spaces_as_plus: bool) -> None:
    event = push(ref="refs/heads/" + text)
    encoded = urlencode({"payload": event.decode()}, quote_via=quote_plus if spaces_as_plus else quote).encode()
    assert delivery.decoded(FORM, encoded) == event


def test_a_form_may_have_more_fields_but_not_many() -> None:
    form = urlencode({"payload": push().decode(), "other": "a+b"}).encode()
    assert read(form, content_type=FORM) == read(push())
    with pytest.raises(Malformed):
        read(form + b"&x=" * 100, content_type=FORM)


@pytest.mark.parametrize(
    ("repository", "name"),
    [
        ("https://github.com/rasif/notes", "rasif/notes"),
        ("https://github.com/rasif/notes.git/", "rasif/notes"),
        ("https://x-access-token@github.com/rasif/no.tes.git", "rasif/no.tes"),
        ("git@github.com:rasif/notes.git", "rasif/notes"),
        ("git@github.com:1234/notes.git", "1234/notes"),
        ("ssh://git@github.com/rasif/notes.git", "rasif/notes"),
        ("ssh://git@ssh.github.com:443/rasif/notes.git", "rasif/notes"),
        ("https://example.org/rasif/notes.git", None),
        ("/srv/notes", None),
    ],
)
def test_an_address_at_github_tells_the_name_in_its_deliveries(repository: str, name: str | None) -> None:
    assert delivery.github_name(VaultSource(name="notes", repository=repository)) == name


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ref": "refs/heads/feature/main"}, "no vault has this branch"),
        ({"ref": "refs/tags/main"}, "not a branch"),
        ({"deleted": True, "after": "0" * 40}, "the branch was deleted"),
        ({"repository": {"full_name": "someone/notes"}}, "no vault has this repository"),
    ],
)
def test_a_push_that_concerns_no_vault_is_ignored(changes: dict[str, Any], reason: str) -> None:
    assert read(push(**changes)) == Ignored(reason)


def test_a_new_branch_asks_for_a_sync() -> None:
    assert isinstance(read(push(before="0" * 40, created=True)), Wanted)


def test_a_branch_of_any_length_can_be_followed() -> None:
    asked = read(push(ref="refs/heads/" + "b" * 250, repository={"full_name": "rasif/long"}))
    assert isinstance(asked, Wanted)
    assert asked.command.branch == "b" * 200


def test_the_last_of_two_equal_keys_counts() -> None:
    doubled = b'{"ref": "refs/heads/other",' + push()[1:]
    assert read(doubled) == read(push())


@pytest.mark.parametrize(
    "more",
    [
        b'"deep": ' + b"[" * 100_000 + b"]" * 100_000,
        b'"open": ' + b"[" * 100_000,
        b'"half": "\\ud800"',
        b'"raw": "\xff"',
        b'"control": "\x00"',
    ],
)
def test_what_is_no_json_anywhere_is_malformed(more: bytes) -> None:
    for event in ("push", "ping", "issues"):
        with pytest.raises(Malformed) as refused:
            read(b"{" + more + b"," + push()[1:], event)
        assert len(str(refused.value)) < 300


def test_numbers_of_any_size_are_no_concern() -> None:
    body = b'{"id": ' + b"9" * 4000 + b', "size": 1e999, ' + push()[1:]
    assert read(body) == read(push())


def test_a_ping_is_answered_and_other_events_are_ignored() -> None:
    assert read(b'{"zen": "Keep it logically awesome."}', "ping") == Pong()
    assert read(b'{"action": "opened"}', "issues") == Ignored("event issues is not used")


@pytest.mark.parametrize(
    ("body", "event", "content_type"),
    [
        (b"", "push", JSON),
        (b"{", "push", JSON),
        (b"[]", "push", JSON),
        (b"\xff", "ping", JSON),
        (b"{}", "push", JSON),
        (push(after="not a commit"), "push", JSON),
        (push(repository=None), "push", JSON),
        (push(), "push", "text/plain"),
        (push(), "push", ""),
        (push(), "push", FORM),
        (b"payload=%7B", "push", FORM),
        (b"other=1", "push", FORM),
        (b"payload=%7B%7D&payload=%7B%7D", "ping", FORM),
    ],
)
def test_what_is_no_delivery_is_malformed(body: bytes, event: str, content_type: str) -> None:
    with pytest.raises(Malformed):
        read(body, event, content_type)


@given(st.binary(), st.sampled_from(["push", "ping", "issues"]), st.sampled_from([JSON, FORM]))
def test_any_bytes_are_a_delivery_or_malformed(body: bytes, event: str, content_type: str) -> None:
    with suppress(Malformed):
        assert isinstance(read(body, event, content_type), Pong | Ignored | Wanted)


@pytest.mark.parametrize("identifier", [None, "", "a b", "a.b", "a\nb", "*", "x" * 101, "مرحبا"])
def test_a_delivery_id_is_safe_in_a_message_id(identifier: str | None) -> None:
    assert not delivery.is_delivery_id(identifier)
    assert delivery.is_delivery_id("72d3162e-cc78-11e3-81ab-4c9367dc0958")
