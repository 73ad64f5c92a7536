"""GitHub's signature of a delivery: HMAC-SHA256 over the body exactly as it came."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Final

HEADER: Final = "x-hub-signature-256"

_FORM = re.compile(r"sha256=([0-9a-f]{64})")


def sign(body: bytes, secret: bytes) -> str:
    """The value of the signature header for `body`."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


def is_well_formed(signature: str | None) -> bool:
    """Whether the header could be a signature at all."""
    return signature is not None and _FORM.fullmatch(signature) is not None


def is_valid(body: bytes, signature: str | None, secrets: Sequence[bytes]) -> bool:
    """Whether `signature` was made over `body` with one of `secrets`.

    The time it takes does not tell which secret matched or how close a wrong signature came.
    """
    if signature is None or not is_well_formed(signature):
        return False
    given = signature.encode("ascii")
    matches = [hmac.compare_digest(given, sign(body, secret).encode("ascii")) for secret in secrets]
    return any(matches)
