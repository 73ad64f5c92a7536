"""Facts: what a topic is told by, in the words of who said it, with the day of each. Pure functions.

A fact is a list of quotations, one a line: `Melanie (2023-05-08): “I signed up for a pottery class.”` Read alone it
still says who said what and when; relative times ("yesterday") count from that day. Nothing is put together from two
sentences, so nothing is stated that nobody said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from cortex_extraction.entities import Entity, Role
from cortex_extraction.folding import words
from cortex_providers.engine import EngineText, Extraction, read
from cortex_providers.extractive import summarise
from cortex_sleep.consolidation.claims import Claim, topical
from cortex_store import terms

MOST_CHARS: Final = 1_200
"""Of a fact: about 300 tokens, eight sentences."""
SUMMARY_CHARS: Final = 700
"""Of what is known about an entity."""


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that claims something: `speaker` as a fact names it, `at` when it was said."""

    memory: UUID
    speaker: str
    at: datetime
    claims: tuple[Claim, ...]
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class Quotation:
    """One sentence of a memory."""

    memory: UUID
    speaker: str
    at: datetime
    text: str

    @property
    def line(self) -> str:
        """As a fact has it."""
        return f"{self.speaker} ({self.at.astimezone(UTC).date().isoformat()}): “{self.text}”"


@dataclass(frozen=True, slots=True)
class Fact:
    """What a topic is told by: `sources` are the memories that it quotes, in order of their ids; `at`: the latest."""

    content: str
    sources: tuple[UUID, ...]
    at: datetime
    quotations: tuple[Quotation, ...]


def quotations(topic: Sequence[Told]) -> tuple[Quotation, ...]:
    """What the memories of a topic say about it, by time: of each its claims that share a word with another memory of
    the topic, or the longest if none does; the same sentence of one speaker once, as it was said first."""
    ordered = sorted(topic, key=lambda told: (told.at, told.memory))
    spoken = {told.memory: {word for claim in told.claims for word in _words(claim.text)} for told in ordered}
    found: dict[tuple[str, ...], Quotation] = {}
    for told in ordered:
        others = {word for memory, said in spoken.items() if memory != told.memory for word in said}
        fitting = [claim for claim in told.claims if _words(claim.text) & others]
        for claim in fitting or [max(told.claims, key=lambda claim: (len(claim.text), -claim.place))]:
            quotation = Quotation(told.memory, told.speaker, told.at, claim.text)
            found.setdefault((told.speaker, *words(claim.text)), quotation)
    return tuple(found.values())


def fact(said: Sequence[Quotation], *, limit: int = MOST_CHARS) -> Fact | None:
    """The fact of what was said, in at most `limit` characters: where they are too many, the most central sentences
    (`cortex_providers.extractive`), in order of time. None: fewer than two memories are left to quote."""
    chosen = list(said)
    while sum(len(one.line) + 1 for one in chosen) > limit + 1:
        # The lines around the sentences count as well: less room until all of it fits.
        room = sum(len(one.text) + 1 for one in chosen) - 60
        kept = summarise([one.text for one in chosen], limit=min(room, limit)).sources
        chosen = [chosen[at] for at in kept] if len(kept) < len(chosen) else chosen[1:]
    sources = tuple(sorted({one.memory for one in chosen}))
    if len(sources) < 2:
        return None
    return Fact("\n".join(one.line for one in chosen), sources, max(one.at for one in chosen), tuple(chosen))


def about(entity_key: str, told: Sequence[Told]) -> tuple[Quotation, ...]:
    """What is said about an entity, by time: sentences that name it, and what a speaker of that name says of
    themselves."""
    found: dict[tuple[str, ...], Quotation] = {}
    name = entity_key.split()
    for one in sorted(told, key=lambda told: (told.at, told.memory)):
        speaks = words(one.speaker) == name
        for claim in one.claims:
            said = words(claim.text)
            if (speaks and claim.own) or _holds([word.removesuffix("'s") for word in said], name):
                found.setdefault((one.speaker, *said), Quotation(one.memory, one.speaker, one.at, claim.text))
    return tuple(found.values())


def extraction(said: Sequence[Quotation]) -> Extraction:
    """What a fact names and how that is related: what its sentences name, read as said by their speakers."""
    entities: dict[str, Entity] = {}
    relations = {}
    for one in said:
        found = read(EngineText(one.text, one.speaker))
        for entity in found.entities:
            entities.setdefault(entity.key, Entity(entity.name, entity.key, entity.kind, Role.MENTION))
        relations.update(dict.fromkeys(found.relations))
    return Extraction(tuple(entities.values()), tuple(relations))


def _words(text: str) -> set[str]:
    return set(terms.content_terms(" ".join(topical(text))))


def _holds(said: Sequence[str], name: Sequence[str]) -> bool:
    """Whether the words of a name stand together."""
    return bool(name) and any(list(said[at : at + len(name)]) == list(name) for at in range(len(said)))
