"""Where a text says what a question asks: the places of the question's words, as they are written. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cortex_store import lexical, terms

MAX_HIGHLIGHTS: Final = 8
LONGEST: Final = 100
"""Characters of a highlight; more is no word or phrase."""


@dataclass(frozen=True, slots=True)
class Place:
    """A word of the question in a text: `text[start:end]`, which of its stems, and what they are worth together."""

    start: int
    end: int
    stems: frozenset[str]
    worth: float


def asked(question: str, idfs: Mapping[int, float]) -> dict[str, float]:
    """The stems of a question with what each is worth (`idfs`: by hash of the stem); none of its stop words."""
    if all(term in terms.STOP_WORDS for term in terms.terms(question)):
        return {}
    return {stem: idfs.get(lexical.term_hash(stem), 0.0) for stem in terms.content_terms(question)}


def places(text: str, wanted: Mapping[str, float]) -> list[Place]:
    """Where words of the question stand in `text`, in its order; places that overlap or touch are one."""
    found: list[Place] = []
    for start, end, hit in terms.located(text, wanted):
        if found and start <= found[-1].end:
            before = found.pop()
            start, end, hit = before.start, max(before.end, end), before.stems | hit
        found.append(Place(start, end, hit, sum(wanted[stem] for stem in hit)))
    return found


def highlights(text: str, wanted: Mapping[str, float], limit: int = MAX_HIGHLIGHTS) -> tuple[str, ...]:
    """The words and phrases of `text` that the question asks for, as they are written, the one that tells most first.

    Words with nothing but a space between them are a phrase. A word that is part of a phrase before it is left out.
    """
    phrases: list[Place] = []
    for place in places(text, wanted):
        before = phrases[-1] if phrases else None
        if before and text[before.end : place.start] == " " and place.end - before.start <= LONGEST:
            stems = before.stems | place.stems
            phrases[-1] = Place(before.start, place.end, stems, sum(wanted[stem] for stem in stems))
        else:
            phrases.append(place)
    chosen: list[str] = []
    for phrase in sorted(phrases, key=lambda place: (-place.worth, place.start)):
        words = text[phrase.start : phrase.end]
        if len(words) <= LONGEST and not any(words.casefold() in other.casefold() for other in chosen):
            chosen.append(words)
    return tuple(chosen[:limit])
