"""What of a memory is indexed: the words that it is found by, and the text that its vector stands for.

A draft, a stored memory and the reindexing of an old one must read alike, so they share this module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from cortex_contracts.messages.base import Assertion
from cortex_extraction.folding import fold
from cortex_store import lexical, terms
from cortex_store.memory_index import Document

EMBEDDED_CHARS: Final = 60_000
"""What one vector can stand for; the words of a longer text are all found, its meaning by its beginning."""
CONTEXT_CHARS: Final = 1_000
"""Of the turn before: context, not the subject."""
HEADINGS: Final = "headings"
"""The metadata that hold the headings which a chunk of a document stands under: they say what it is about."""

MONTHS: Final = "January February March April May June July August September October November December".split()


class Utterance(Protocol):
    """What somebody said."""

    @property
    def content(self) -> str:
        """What was said."""
        ...

    @property
    def speaker(self) -> str | None:
        """Who said it."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """What else is known of it."""
        ...


class Said(Utterance, Protocol):
    """A draft or a memory."""

    @property
    def namespace(self) -> str:
        """Where it belongs."""
        ...

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What it claims."""
        ...


def document(said: Said, valid_at: datetime) -> Document:
    """The words of a memory: who said it, the day on which it became true, the headings that it stands under, what was
    said and what it claims."""
    day = f"{valid_at.day} {MONTHS[valid_at.month - 1]} {valid_at.year}"
    claims = " ".join(f"{claim.subject} {claim.attribute} {claim.value}" for claim in said.assertions)
    headings = said.metadata.get(HEADINGS, "")
    words = terms.analyse(f"{said.speaker or ''} {day} {headings} {said.content} {claims}")
    return Document(content_key(said), terms.script(said.content), lexical.impacts(words))


def meaning(said: Utterance, previous: Utterance | None) -> str:
    """What the vector of a memory is made of: the turn before it in its session, then itself. A short turn ("Yes, last
    Friday!") means nothing alone."""
    own = _line(said, EMBEDDED_CHARS)
    return own if previous is None else f"{_line(previous, CONTEXT_CHARS)}\n{own}"


def passage(title: str, heading_path: Sequence[str], text: str) -> str:
    """What the vector of a page's chunk is made of: title and headings, which say what it is about, and the text; at
    most `EMBEDDED_CHARS`."""
    headings = heading_path[1:] if list(heading_path[:1]) == [title] else heading_path
    return "\n".join((" › ".join((title, *headings)), text))[:EMBEDDED_CHARS]


def _line(said: Utterance, limit: int) -> str:
    if headings := said.metadata.get(HEADINGS):
        return f"{headings}\n{said.content[:limit]}"
    return f"{said.speaker}: {said.content[:limit]}" if said.speaker else said.content[:limit]


def content_key(said: Said) -> int:
    """A signed 64-bit hash of what is said and by whom; case, marks and gaps do not count."""
    folded = " ".join(fold(f"{said.speaker or ''}\n{said.content}").split())
    return int.from_bytes(hashlib.sha256(folded.encode()).digest()[:8], "big", signed=True)
