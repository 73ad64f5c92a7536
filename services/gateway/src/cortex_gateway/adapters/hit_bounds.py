"""Hits of an engine as they may travel on: bounded, without what is unseen, under the key that was asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters.untrusted_text import cut, without
from cortex_gateway.plain_text import clean

TITLE_LENGTH: Final = 300
PATH_LENGTH: Final = 500
SNIPPET_LENGTH: Final = 2_000
"""Characters of one hit that travel on; a snippet is a piece, not a document."""
ASSERTIONS: Final = 20
"""Of one hit."""
REPLY_BYTES: Final = 400_000
"""Of the texts of one reply: with the names of their fields they fit into one message of 1 MiB."""


def bounded(key: str, hits: Sequence[Hit], k: int, secrets: Iterable[str] = ()) -> tuple[Hit, ...]:
    """The first `k` hits, each cut and cleaned; the last ones are left out when all of them are too long together."""
    kept: list[Hit] = []
    size = 0
    for hit in hits[:k]:
        texts = {
            "title": _line(hit.title, TITLE_LENGTH, secrets),
            "path": _line(hit.path, PATH_LENGTH, secrets),
            "snippet": cut(clean(without(hit.snippet[: 4 * SNIPPET_LENGTH], secrets)).strip(), SNIPPET_LENGTH),
        }
        size += sum(len(text.encode()) for text in texts.values())
        if size > REPLY_BYTES:
            break
        native = hit.native_score if math.isfinite(hit.native_score) else 0.0
        assertions = hit.assertions[:ASSERTIONS]
        kept.append(hit.model_copy(update={**texts, "engine": key, "native_score": native, "assertions": assertions}))
    return tuple(kept)


def _line(text: str, length: int, secrets: Iterable[str]) -> str:
    return cut(" ".join(clean(without(text[: 4 * length], secrets)).split()), length)
