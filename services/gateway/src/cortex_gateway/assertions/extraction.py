"""Extraction: what a text states."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from cortex_decision.folding import fold
from cortex_gateway.assertions import lines, pairs, periods
from cortex_gateway.assertions.lines import READ_LIMIT, Part
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.subjects import NOWHERE
from cortex_gateway.assertions.surroundings import label, setting
from cortex_gateway.assertions.values import Kind, Value, Words
from cortex_gateway.assertions.words import words

MAX_STATED: Final = 128


def extract(text: str, title: str = "") -> tuple[Stated, ...]:
    """What `text` states, in its order; `title` is what lines without a subject of their own are about.

    Questions, conditions, plans, hearsay, examples, quotations and code state nothing; what is over is not told. Only
    the first `READ_LIMIT` characters are read, and answers are remembered by text.
    """
    return _extract(text[:READ_LIMIT], title[:200])


@lru_cache(maxsize=4_096)
def assigned(subject: str, attribute: str, value: str) -> Stated:
    """An assertion that came as one, as a statement."""
    part = Part(value, (0, len(value)), attribute, under=subject, row=True)
    said, _ = pairs.read(part, NOWHERE, NOWHERE, NOWHERE)
    if said:
        return replace(said[0], subject=subject, attribute=attribute)
    topic = frozenset({fold(subject), fold(attribute)})
    content = Words(frozenset(fold(value).split()))
    return Stated(
        subject, attribute, Value(Kind.TEXT, value, content), Tense.NOW, frozenset(), (0, 0), topic, frozenset()
    )


@lru_cache(maxsize=4_096)
def _extract(text: str, title: str) -> tuple[Stated, ...]:
    found: list[Stated] = []
    page = setting(title)
    before = NOWHERE
    for part in lines.parts(text):
        under = setting(part.under) if part.under else page
        around = under if under.topic else page
        if part.key is not None:
            said, before = pairs.read(part, around, page, before)
        else:
            heard = label(part.label)
            said, before = periods.read(words(part.text), part.span, heard if heard.topic else around, before)
        if part.key is not None and before.topic and not part.row and not around.topic:
            said = [
                replace(each, loose=each.loose | (before.topic - each.topic)) if each.value.kind is Kind.NAME else each
                for each in said
            ]
        if part.note:
            note = frozenset() if words(part.note)[0].state else setting(part.note).topic
            aliased = note and part.note.isascii() and not part.text.isascii()
            marks = [frozenset(word for word in each.topic if word[0] == "@") for each in said] if aliased else []
            aliases = [
                replace(each, topic=note | mark, loose=frozenset()) for each, mark in zip(said, marks, strict=False)
            ]
            said = [*(replace(each, loose=each.loose | (note - each.topic)) for each in said), *aliases]
        found += said
        if len(found) >= MAX_STATED:
            break
    return tuple(dict.fromkeys(each for each in found[:MAX_STATED] if each.topic))
