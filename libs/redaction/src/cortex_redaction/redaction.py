"""Redaction: a text without what must never be stored."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from cortex_redaction.assignments import assigned_secrets
from cortex_redaction.credentials import Credential, credentials_in
from cortex_redaction.folding import View
from cortex_redaction.spans import (
    Span,
    closed_blocks,
    merged,
    open_block_start,
    private_spans,
    unbalanced_openings,
)

PRIVATE_MARKER: Final = "[private]"
ROUNDS: Final = 4
"""A cut can change what is code around it, so cutting is repeated until nothing changes; two rounds are usual. The last
takes no code for a mention any more, which ends it."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without what was cut, and how much that was: private spans, credentials by kind, injected blocks."""

    text: str
    private: int = 0
    credentials: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    injected: int = 0


def redact(text: str) -> Redaction:
    """Cut injected blocks, private spans (`[private]`) and credentials (`[redacted:<kind>]`) out of one field.

    Total over all strings, idempotent, linear in time. Nothing may be left: refusing that is the caller's part.
    """
    private = injected = 0
    credentials: Counter[str] = Counter()
    for number in range(1, ROUNDS + 1):
        before = text
        text, blocks, spans = _without_tagged(text, mentions=number < ROUNDS)
        text, kinds = _without_credentials(text)
        private, injected = private + spans, injected + blocks
        credentials.update(kinds)
        if text == before:
            break
    return Redaction(text, private, MappingProxyType(dict(credentials)), injected)


def _without_tagged(text: str, *, mentions: bool) -> tuple[str, int, int]:
    """The text without blocks and private spans, and how many of each there were."""
    view = View.of(text)
    blocks = closed_blocks(text, view)
    hidden: list[int] = []
    if blocks:
        unbalanced = set(unbalanced_openings(view, blocks))
        text, places = _stripped(text, blocks)
        hidden = [place for index, place in enumerate(places) if index in unbalanced]
        view = View.of(text)
    spans = private_spans(text, view, hidden=hidden, mentions=mentions)
    if spans:
        text = _replaced(text, ((span, PRIVATE_MARKER) for span in spans))
        view = View.of(text)
    start = open_block_start(text, view)
    if start is None:
        return text, len(blocks), len(spans)
    return text[:start], len(blocks) + 1, len(spans)


def _without_credentials(text: str) -> tuple[str, list[str]]:
    found = [*credentials_in(text), *assigned_secrets(text)]
    if not found:
        return text, []
    spans = merged(Span(one.start, one.end) for one in found)
    kinds = _kinds(spans, found)
    return _replaced(text, zip(spans, (f"[redacted:{kind}]" for kind in kinds), strict=True)), kinds


def _kinds(spans: Sequence[Span], found: Sequence[Credential]) -> list[str]:
    """The kind of each span: that of the first credential, as they were found, that lies in it."""
    starts = [span.start for span in spans]
    kinds: dict[int, str] = {}
    for one in found:
        index = bisect_left(starts, one.start + 1) - 1
        kinds.setdefault(index, one.kind)
    return [kinds[index] for index in range(len(spans))]


def _stripped(text: str, blocks: Sequence[Span]) -> tuple[str, list[int]]:
    """The text without `blocks`, and where each of them stood. Words do not grow together."""
    parts: list[str] = []
    places: list[int] = []
    length = position = 0
    for block in blocks:
        kept = text[position : block.start]
        if kept[-1:].strip() and text[block.end : block.end + 1].strip():
            kept += " "
        parts.append(kept)
        length += len(kept)
        places.append(length)
        position = block.end
    parts.append(text[position:])
    return "".join(parts), places


def _replaced(text: str, cuts: Iterable[tuple[Span, str]]) -> str:
    parts: list[str] = []
    position = 0
    for span, marker in cuts:
        parts += [text[position : span.start], marker]
        position = span.end
    parts.append(text[position:])
    return "".join(parts)
