"""Intake: a draft as it may be stored. Nothing of what is cut out here reaches a table, an event, a log or an error."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Assertion
from cortex_contracts.messages.memory import MAX_MEMORY_CHARS, MemoryDraft, RedactionCounts, Visibility
from cortex_redaction import redact

MAX_NAME: Final = 200
MAX_TEXT: Final = 2_000
"""Of the other fields, as the contract limits them: a marker may be longer than what it replaces."""


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
        # Composed first: what is looked at must be what is stored. A lone surrogate is no text.
        composed = unicodedata.normalize("NFC", text.encode(errors="replace").decode()).replace("\x00", "")
        found = redact(composed)
        self.private += found.private
        self.credentials += sum(found.credentials.values())
        self.injected += found.injected
        return found.text[:limit]

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text, MAX_NAME) or None

    def assertion(self, claim: Assertion) -> Assertion | None:
        parts = [self.text(part, MAX_NAME) for part in (claim.subject, claim.attribute, claim.value)]
        return Assertion(subject=parts[0], attribute=parts[1], value=parts[2]) if all(parts) else None


def take_in(draft: MemoryDraft, *, owner: str | None) -> Intake:
    """Redact and normalise a draft.

    Raises:
        InvalidMessage: nothing is left to remember, or it is private and nobody owns it.
    """
    cleaner = _Cleaner()
    content = cleaner.text(draft.content, MAX_MEMORY_CHARS).strip()
    metadata = {cleaner.text(k, MAX_NAME): cleaner.text(v, MAX_TEXT) for k, v in draft.metadata.items()}
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
    if not any(unicodedata.category(char)[0] not in "CZ" for char in content):
        cut = cleaner.private or cleaner.credentials or cleaner.injected
        raise InvalidMessage(
            "nothing is left of the content after redaction" if cut else "content must hold text, got nothing that can be seen"
        )
    if draft.visibility is Visibility.PRIVATE and owner is None:
        raise InvalidMessage("a private memory needs an owner")
    counts = RedactionCounts(private=cleaner.private, credentials=cleaner.credentials, injected=cleaner.injected)
    return Intake(clean, counts)


def said_at(draft: MemoryDraft) -> datetime:
    """When a draft that was taken in became true."""
    assert draft.occurred_at is not None, "intake sets it"
    return draft.occurred_at
