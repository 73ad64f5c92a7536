"""Subjects: the words that say what a statement is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cortex_gateway.assertions import english
from cortex_gateway.assertions.words import Role, Word

STATUS: Final = "@status"
PLACE: Final = "@place"
CLAUSE: Final = "@clause"
DATED: Final = "@dated"
"""Marks a clause that says when something is, which others of its kind are not."""
GONE: Final = "@gone"
"""Marks what a change has ended, of which another text may say more."""
UNANCHORED: Final = (
    english.LOOSE | english.ATTRIBUTES | english.STATUS | frozenset(english.CONCEPTS.values())
) - english.SINGULAR
"""Words that name an attribute, or any of many things."""
UNKNOWN: Final = "~"
"""Marks a subject that has no name."""
CONTENT: Final = frozenset({Role.CONTENT, Role.LOOSE, Role.VERB})
STEPS: Final = frozenset({Role.PLACE, Role.PREPOSITION, Role.AND, Role.COMMA, Role.CAUSE, Role.END, Role.BREAK})
PRONOUNS: Final = frozenset("it they he she this that these those هو هي هذا هذه".split())


@dataclass(slots=True)
class Bag:
    """Words of a statement's subject and attribute, compared and as written."""

    topic: set[str] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    spelled: list[str] = field(default_factory=list)
    attribute: list[str] = field(default_factory=list)

    def add(self, word: Word, key: str | None = None, *, loose: bool = False) -> None:
        """Count a word in, as `key` where it has another form here; general ones are loose wherever they stand."""
        (self.loose if loose or word.role is Role.LOOSE else self.topic).add(word.key if key is None else key)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a clause stands under: the words of a title or heading, or the subject of the sentence before."""

    topic: frozenset[str] = frozenset()
    subject: str = ""


NOWHERE: Final = Setting()
