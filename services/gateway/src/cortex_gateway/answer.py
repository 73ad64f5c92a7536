"""The deterministic answer: the top hits as short sentences, each ending in its receipt.

The text of hits is data. It is reduced to one plain line, cut at whole words, and cannot forge a receipt.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cortex_contracts.rpc.ask import Receipt
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.reconcile import Disagreement
from cortex_gateway.scoring import ScoredHit

SENTENCES: Final = 5
CONFLICTS: Final = 3
SENTENCE_LENGTH: Final = 240
FILES: Final = frozenset({SourceClass.RECENT_FILE, SourceClass.OLDER_NOTE})
SHARE_OF_BEST: Final = 0.7
"""A hit worth less than this share of the best one is about something else; it stays among the hits."""
NOTHING_KNOWN: Final = "Nothing is known about this."

_LEAST: Final = 1e-9
"""Above nothing, for a floor that is configured as 0."""
_WIKILINK: Final = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)")
_UNSEEN: Final = r"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]*"
_RECEIPT: Final = re.compile(rf"[\[［]({_UNSEEN}[rｒ]{_UNSEEN}\d[\d\s\u200b-\u200f\u00ad\ufeff]*)[\]］]", re.IGNORECASE)
_LINE_MARKS: Final = re.compile(r"^(?:[\s#>*+|-]|\d+[.)]\s)+")
_TABLE_RULE: Final = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+")
_TABLE_CELL: Final = re.compile(r"\s*\|[\s|]*")
_EMPHASIS: Final = re.compile(r"\*\*|__|`")
_BOUNDARY: Final = re.compile(r"(?<=[.!?؟])\s+|\n+")
_WORD: Final = re.compile(r"\w{3,}")
_BIDI_OVERRIDES: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Answer:
    """Prose, one sentence a line, and the receipts it cites."""

    text: str
    receipts: tuple[Receipt, ...]


@dataclass(slots=True)
class _Citations:
    """Receipts in the order in which they are first cited."""

    cited: list[ScoredHit] = field(default_factory=list)

    def cite(self, hit: ScoredHit) -> str:
        if hit not in self.cited:
            self.cited.append(hit)
        return f"[r{self.cited.index(hit) + 1}]"

    def receipts(self) -> tuple[Receipt, ...]:
        return tuple(
            Receipt(
                id=f"r{number}",
                source=hit.hit.engine,
                title=hit.hit.title,
                path=hit.hit.path,
                last_seen=hit.hit.last_seen,
                confidence=hit.hit.confidence,
                snippet=hit.hit.snippet,
            )
            for number, hit in enumerate(self.cited, 1)
        )


def merge(
    query: str,
    hits: Sequence[ScoredHit],
    disagreements: Sequence[Disagreement],
    floor: float,
    silent: Sequence[str] = (),
) -> Answer:
    """Answer `query` from ranked `hits` that are not worth less than `floor` (relevance × confidence).

    The floor is on what a hit is worth for the question, not on its score: an old page that nobody contradicts is
    still the answer, and a fresh one about something else is not. Hits that lost a disagreement are left out; the
    disagreement is told with its winner. `silent` names the engines that did not answer.
    """
    losers = {id(loss.hit) for disagreement in disagreements for loss in disagreement.losses}
    usable = [hit for hit in hits if id(hit) not in losers]
    floor = max(floor, SHARE_OF_BEST * max(map(_worth, usable), default=0.0), _LEAST)
    citations = _Citations()
    sentences: dict[str, list[str]] = {}
    for hit in usable:
        sentence = sentence_of(query, hit) if _worth(hit) >= floor else ""
        # The same sentence from another place is corroboration: one sentence, both receipts.
        if sentence and (sentence in sentences or len(sentences) < SENTENCES):
            sentences.setdefault(sentence, []).append(citations.cite(hit))
    asked = [disagreement for disagreement in disagreements if concerns(disagreement, floor)]
    for disagreement in asked[:CONFLICTS]:
        if sentence := conflict_sentence(disagreement):
            other = disagreement.unsettled
            cited = [disagreement.winner, *([other.hit] if other else [])]
            sentences.setdefault(sentence, []).extend(citations.cite(hit) for hit in cited)
    if not sentences:
        return Answer(nothing_known(silent), ())
    return Answer("\n".join(f"{text} {''.join(cited)}" for text, cited in sentences.items()), citations.receipts())


def nothing_known(silent: Sequence[str]) -> str:
    """The answer when no hit is good enough; says which engines could not be asked."""
    return f"{NOTHING_KNOWN[:-1]}; no answer from {', '.join(silent)}." if silent else NOTHING_KNOWN


def sentence_of(query: str, hit: ScoredHit) -> str:
    """The sentence of a hit that shares most words with the query, under the hit's title; empty if there is none."""
    wanted = set(_WORD.findall(query.casefold()))
    candidates = [text for part in _BOUNDARY.split(hit.hit.snippet) if (text := plain(part))]
    if not candidates:
        return _short(plain(hit.hit.title))
    # A heading or a fragment is no sentence, unless there is nothing else.
    whole = [text for text in candidates if len(text.split()) > 2] or candidates
    best = max(whole, key=lambda text: len(wanted & set(_WORD.findall(text.casefold()))))
    title = plain(hit.hit.title)
    # What a page says is about its title; the title of a memory is where it came from.
    needs_title = hit.source_class in FILES and title.casefold() not in best.casefold()
    return _short(f"{title}: {best}" if title and needs_title else best)


def conflict_sentence(disagreement: Disagreement) -> str:
    """A disagreement in one sentence: what is true, who says so, and why the others lost; or both sides."""
    said = f"Sources disagree on {disagreement.claim}: {_who(disagreement.winner)} says {disagreement.value}"
    other = disagreement.unsettled
    if other:
        return _short(plain(f"{said}, but {_who(other.hit)} says {other.value}"))
    rest = ", ".join(dict.fromkeys(loss.value for loss in disagreement.losses))
    return _short(plain(f"{said}, not {rest} ({disagreement.reason})"))


def _who(hit: ScoredHit) -> str:
    return hit.source_class.replace("-", " ")


def plain(text: str) -> str:
    """One line of plain text: no markdown, no control characters, and nothing that looks like a receipt."""
    kept = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text if sign not in _BIDI_OVERRIDES)
    kept = _EMPHASIS.sub("", _LINK.sub(r"\1", _WIKILINK.sub(r"\1", kept)))
    # A row of a table reads as a list.
    kept = _TABLE_CELL.sub(", ", _TABLE_RULE.sub(" ", kept)).strip(", ") if "|" in kept else kept
    # A snippet may end inside a link.
    kept = kept.replace("[[", "").replace("]]", "")
    kept = " ".join(_LINE_MARKS.sub("", kept).split())
    return _RECEIPT.sub(r"(\1)", kept).rstrip(" .!?؟:;,")


def _worth(hit: ScoredHit) -> float:
    """What a hit is worth for the question, however old it is and whoever says it."""
    return hit.hit.relevance * hit.hit.confidence


def concerns(disagreement: Disagreement, floor: float) -> bool:
    """Whether a disagreement is about what was asked: one of its sides is worth `floor` or more."""
    return any(_worth(hit) >= floor for hit in (disagreement.winner, *(loss.hit for loss in disagreement.losses)))


def _short(text: str) -> str:
    """`text` cut at whole words; empty when its first word alone is too long."""
    cut = textwrap.shorten(text, SENTENCE_LENGTH, placeholder=" …", break_long_words=False, break_on_hyphens=False)
    return cut if len(cut) <= SENTENCE_LENGTH and cut != "…" else ""
