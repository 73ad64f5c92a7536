"""GitHub's signatures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cortex_webhook.signature import is_valid, sign

SECRET = b"It's a Secret to Everybody"


def test_the_example_of_the_github_documentation_is_valid() -> None:
    documented = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign(b"Hello, World!", SECRET) == documented
    assert is_valid(b"Hello, World!", documented, [SECRET])


@given(st.binary(), st.binary(min_size=1))
def test_what_was_signed_with_any_of_the_secrets_is_valid(body: bytes, secret: bytes) -> None:
    assert is_valid(body, sign(body, secret), [b"the new one", secret])


@given(st.binary(min_size=1), st.integers(min_value=0))
def test_a_changed_body_is_not_valid(body: bytes, place: int) -> None:
    changed = bytearray(body)
    changed[place % len(body)] ^= 1 << (place % 8)
    assert not is_valid(bytes(changed), sign(body, SECRET), [SECRET])


@given(st.none() | st.text())
def test_no_header_but_a_signature_is_ever_valid(header: str | None) -> None:
    assert not is_valid(b"", header, [SECRET])


def test_the_older_sha1_signature_is_not_accepted() -> None:
    assert not is_valid(b"Hello, World!", "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59", [SECRET])


def test_a_signature_of_another_secret_is_not_valid() -> None:
    assert not is_valid(b"body", sign(b"body", b"retired"), [SECRET, b"new"])
