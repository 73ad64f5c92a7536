"""Findings: what an engine found, read out of its own form, and how they become hits. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters.nothing import says_nothing
from cortex_gateway.adapters.passage import passage
from cortex_gateway.adapters.relevance import Measure, relevances
from cortex_gateway.plain_text import clean

MOST: Final = 200
"""Findings of one answer that are looked at, in the engine's order: twice as many as anybody may ask for."""
TITLE_LENGTH: Final = 120
PATH_LENGTH: Final = 500
JUDGED_CHARS: Final = 4_000
"""Of each text that are judged for relevance, the hit's own among them: more do not tell what it is about."""

ECHO_WORDS: Final = 4
"""Words of a question that stand together in a text because it was asked; fewer may be what the text says."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result. `text` is all of it that is known, `score` the engine's own, `confidence` what it says of itself."""

    text: str
    title: str = ""
    path: str = ""
    score: float | None = None
    date: datetime | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """What hits of an engine are worth before they are looked at."""

    source_class: SourceClass
    confidence: float = 1.0
    root: str = ""
    """Taken off the front of paths."""


def hits(question: str, found: Sequence[Finding], k: int, measure: Measure, standing: Standing) -> list[Hit]:
    """At most `k` hits, the most relevant first, equal ones in the engine's order; what says nothing is left out."""
    told = [one for one in found[:MOST] if one.text.strip() or one.title.strip()]
    a_page = len(told) == 1 and not (told[0].title or told[0].path)
    if a_page and says_nothing(told[0].text, question):
        return []
    snippets = [passage(question, one.text) for one in told]
    paths = [relative(one.path, standing.root)[:PATH_LENGTH] for one in told]
    titles = [_title(one, path) for one, path in zip(told, paths, strict=True)]
    judged = [
        f"{title}\n{path}\n{snippet}"[:JUDGED_CHARS]
        for title, path, snippet in zip(titles, paths, snippets, strict=True)
    ]
    if a_page and len(question.split()) >= ECHO_WORDS:
        # A page that repeats the question at its head ("Results for: …") has answered nothing by that.
        judged = [text.replace(question.strip(), " ") for text in judged]
    values = relevances(question, judged, [one.score for one in told], measure)
    made = [
        Hit(
            engine="",
            title=title,
            path=path,
            snippet=snippet or title,
            native_score=one.score if one.score is not None and math.isfinite(one.score) else value,
            relevance=value,
            last_seen=one.date,
            confidence=standing.confidence * (1.0 if one.confidence is None else min(1.0, max(0.0, one.confidence))),
            source_class=standing.source_class,
        )
        for one, title, path, snippet, value in zip(told, titles, paths, snippets, values, strict=True)
    ]
    return sorted(made, key=lambda hit: -hit.relevance)[:k]


def relative(path: str, root: str = "") -> str:
    """`path` with slashes, without its scheme `file:` and without `root`: one file, one name."""
    flat = " ".join(path.split())
    if flat.startswith("file:"):
        flat = unquote(flat.removeprefix("file:"))
        flat = f"/{flat.lstrip('/')}" if flat.startswith("/") else flat
    if "://" not in flat:
        flat = flat.replace("\\", "/")
        front = root.replace("\\", "/").rstrip("/")
        if front and (flat == front or flat.startswith(f"{front}/")):
            flat = flat[len(front) :].lstrip("/")
        while flat.startswith("./"):
            flat = flat[2:]
    return flat


def _title(found: Finding, path: str) -> str:
    """Its own title, else the name of its file, else its first line."""
    first = next((line for line in found.text.splitlines() if line.strip()), "")
    for text in (found.title, path.rstrip("/").rsplit("/", 1)[-1], first.lstrip("#>*- ").rstrip("* ")):
        if flat := " ".join(clean(text).split()):
            return flat if len(flat) <= TITLE_LENGTH else flat[: TITLE_LENGTH - 1] + "…"
    return ""
