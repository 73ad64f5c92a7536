"""Intake: a draft as it may be stored. Nothing of what is cut out here reaches a table, an event, a log or an error."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.memory import MAX_MEMORY_CHARS, MemoryDraft, RedactionCounts, Visibility
from cortex_ingest.errors import NothingLeft
from cortex_redaction import Redaction, redact

MAX_NAME: Final = 200
MAX_TEXT: Final = 2_000
"""Of the other fields, as the contract limits them: a marker may be longer than what it replaces."""

_MARKER: Final = re.compile(r"\[(?:private|redacted:[a-z-]+)\]")


@dataclass(frozen=True, slots=True)
class Intake:
    """A draft without anything that must not be stored, and how much that was; it has the time it became true."""

    draft: MemoryDraft
    redactions: RedactionCounts


class _Cleaner:
    """Redacts one field after the other and counts."""

    def __init__(self) -> None:
        self.private = self.credentials = self.injected = 0

    def text(self, text: str, limit: int) -> str:
        found = redacted(text)
        self.private += found.private
        self.credentials += sum(found.credentials.values())
        self.injected += found.injected
        return found.text[:limit]

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text, MAX_NAME) or None

    def pair(self, name: str, value: str, limit: int) -> tuple[str, str]:
        """A name and its value, which may be a credential only for its name."""
        name, value = self.text(name, MAX_NAME), self.text(value, limit)
        if marker := secret_by_name(name, value):
            self.credentials += 1
            return name, marker
        return name, value

    def assertion(self, claim: Assertion) -> Assertion | None:
        subject = self.text(claim.subject, MAX_NAME)
        attribute, value = self.pair(claim.attribute, claim.value, MAX_NAME)
        complete = subject and attribute and value
        return Assertion(subject=subject, attribute=attribute, value=value) if complete else None


def redacted(text: str) -> Redaction:
    """`text` as it may be stored. Composed first: what is looked at must be what is stored. A lone surrogate is no
    text."""
    first = redact(unicodedata.normalize("NFC", text.encode(errors="replace").decode()))
    if "\x00" not in first.text:
        return first
    # A NUL can stand in a tag as well as between a name and its secret: so it is looked at, and then its blank.
    second = redact(first.text.replace("\x00", " "))
    return Redaction(
        second.text,
        first.private + second.private,
        Counter(first.credentials) + Counter(second.credentials),
        first.injected + second.injected,
    )


def secret_by_name(name: str, value: str) -> str | None:
    """The marker for a value that only its name tells to be a credential (`{"password": "…"}`); both are redacted."""
    kind = next(iter(redact(f'{name}: "{value}"').credentials), None)
    return None if kind is None else f"[redacted:{kind}]"


def take_in(draft: MemoryDraft, *, owner: str | None) -> Intake:
    """Redact and normalise a draft.

    Raises:
        NothingLeft: all of the content was cut out.
        InvalidMessage: there was nothing to remember, or it is private and nobody owns it.
    """
    cleaner = _Cleaner()
    content = cleaner.text(draft.content, MAX_MEMORY_CHARS).strip()
    metadata = dict(cleaner.pair(name, value, MAX_TEXT) for name, value in draft.metadata.items())
    clean = draft.model_copy(
        update={
            "content": content,
            "source_ref": cleaner.optional(draft.source_ref),
            "session": cleaner.optional(draft.session),
            "speaker": cleaner.optional(draft.speaker),
            "assertions": tuple(claim for each in draft.assertions if (claim := cleaner.assertion(each))),
            "metadata": metadata,
            "occurred_at": draft.occurred_at or datetime.now(UTC),
        }
    )
    if cleaner.private or cleaner.credentials or cleaner.injected:
        # Markers and the punctuation around them are nothing to remember.
        if not _holds_text(_MARKER.sub("", content), but="CZP"):
            raise NothingLeft("nothing is left of the content after redaction")
    elif not _holds_text(content, but="CZ"):
        raise InvalidMessage("content must hold text, got nothing that can be seen")
    if draft.visibility is Visibility.PRIVATE and owner is None:
        raise InvalidMessage("a private memory needs an owner")
    counts = RedactionCounts(private=cleaner.private, credentials=cleaner.credentials, injected=cleaner.injected)
    return Intake(clean, counts)


def said_at(draft: MemoryDraft) -> datetime:
    """When a draft that was taken in became true."""
    assert draft.occurred_at is not None, "intake sets it"
    return draft.occurred_at


def _holds_text(text: str, *, but: str) -> bool:
    return any(unicodedata.category(char)[0] not in but for char in text)
