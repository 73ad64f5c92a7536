"""Text that an engine wrote, as it may travel on: of bounded length, with nothing unseen and none of our secrets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cortex_gateway.plain_text import clean
from cortex_redaction.redaction import redact

SENTENCE_LENGTH: Final = 200
"""Characters of an engine's own words in an error (`EngineState.error` is cut there, too)."""
HIDDEN: Final = "[hidden]"


def cut(text: str, length: int) -> str:
    """`text` in at most `length` characters, an ellipsis where it was cut; every character can be sent as UTF-8."""
    if len(text) > length:
        text = text[: length - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def without(text: str, secrets: Iterable[str]) -> str:
    """`text` in which what we sent as a credential is hidden: a server may repeat it."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def sentence(text: str, secrets: Iterable[str] = ()) -> str:
    """An engine's own words for an error: one line, redacted as whatever is stored, at most `SENTENCE_LENGTH` long."""
    line = " ".join(clean(without(text[:4_000], secrets)).split())
    return cut(redact(cut(line, 1_000)).text, SENTENCE_LENGTH)
