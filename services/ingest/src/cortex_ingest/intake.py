"""Intake: a draft as it may be stored. Nothing of what is cut out here reaches a table, an event, a log or an error."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.documents import MAX_DOCUMENT_CHARS, DocumentDraft
from cortex_contracts.messages.memory import MAX_MEMORY_CHARS, MemoryDraft, RedactionCounts, Visibility
from cortex_ingest.errors import NothingLeft
from cortex_redaction import redact, redacted

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

    def pairs(self, metadata: Mapping[str, str]) -> dict[str, str]:
        """Names and their values."""
        return dict(self.pair(name, value, MAX_TEXT) for name, value in metadata.items())

    def counts(self) -> RedactionCounts:
        """What was cut out so far."""
        return RedactionCounts(private=self.private, credentials=self.credentials, injected=self.injected)

    def assertion(self, claim: Assertion) -> Assertion | None:
        subject = self.text(claim.subject, MAX_NAME)
        attribute, value = self.pair(claim.attribute, claim.value, MAX_NAME)
        complete = subject and attribute and value
        return Assertion(subject=subject, attribute=attribute, value=value) if complete else None


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
    metadata = cleaner.pairs(draft.metadata)
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
    _require_text(content, cleaner)
    if draft.visibility is Visibility.PRIVATE and owner is None:
        raise InvalidMessage("a private memory needs an owner")
    return Intake(clean, cleaner.counts())


def take_in_document(draft: DocumentDraft) -> tuple[DocumentDraft, RedactionCounts]:
    """Redact and normalise a document as one text, before it is cut: a private span may be longer than a chunk. It
    takes up to a second for a megabyte.

    Raises:
        NothingLeft: all of the content was cut out.
        InvalidMessage: there was nothing to remember, or its id holds what must not be stored.
    """
    cleaner = _Cleaner()
    content = cleaner.text(draft.content, MAX_DOCUMENT_CHARS).strip()
    clean = draft.model_copy(update={"content": content, "metadata": cleaner.pairs(draft.metadata)})
    _require_text(content, cleaner)
    # It would not be found again by what is left of its id.
    if redacted(draft.document_id).text != draft.document_id:
        raise InvalidMessage("document_id: it holds what must not be stored, such as a credential")
    return clean, cleaner.counts()


def said_at(draft: MemoryDraft) -> datetime:
    """When a draft that was taken in became true."""
    assert draft.occurred_at is not None, "intake sets it"
    return draft.occurred_at


def _require_text(content: str, cleaner: _Cleaner) -> None:
    if cleaner.counts() != RedactionCounts():
        # Markers and the punctuation around them are nothing to remember.
        if not _holds_text(_MARKER.sub("", content), but="CZP"):
            raise NothingLeft("nothing is left of the content after redaction")
    elif not _holds_text(content, but="CZ"):
        raise InvalidMessage("content must hold text, got nothing that can be seen")


def _holds_text(text: str, *, but: str) -> bool:
    return any(unicodedata.category(char)[0] not in but for char in text)
