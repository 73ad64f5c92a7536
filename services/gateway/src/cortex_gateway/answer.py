"""The deterministic answer: what the top hits say, in whole sentences, each ending in its receipts.

A sentence is the one of its hit that answers best: it has the words of the question, and what is asked for (a name, a
date, a number). The best of them comes first, the others in the order of their hits. What two hits say alike is said
once, with both receipts. The text of hits is data: one plain line, cut at whole words, and it cannot forge a receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway import question_fit
from cortex_gateway.citations import Answer, Citations
from cortex_gateway.directives import addresses_a_model
from cortex_gateway.plain_text import SENTENCE_LENGTH, plain, short
from cortex_gateway.question_fit import Asked, Question, content, fit, hinted, negations, stems
from cortex_gateway.reconcile import Disagreement
from cortex_gateway.scoring import ScoredHit, order
from cortex_gateway.sentences import Form, Unit, units

__all__ = [
    "NOTHING_KNOWN",
    "SENTENCES",
    "SENTENCE_LENGTH",
    "Answer",
    "concerns",
    "merge",
    "nothing_known",
    "usable",
    "worth",
]

SENTENCES: Final = 5
CONFLICTS: Final = 3
CONSIDERED: Final = 8
"""Hits whose sentences are looked at, best first: half as many again as are said."""
PROMISING: Final = 3
"""Sentences of one hit that are looked at closely."""
FILES: Final = frozenset({SourceClass.RECENT_FILE, SourceClass.OLDER_NOTE})
SHARE_OF_BEST: Final = 0.7
"""A hit worth less than this share of the best one is about something else; it stays among the hits."""
NOTHING_KNOWN: Final = "Nothing is known about this."
ALIKE: Final = 0.5
"""Share of the longer sentence's words that a shorter one has, in their order, when both say the same."""
ANSWERS: Final = 0.5
"""Fit from which a sentence answers: half of the question's words, or fewer with what is asked for."""
SHARE_OF_FIT: Final = 0.6
"""Where a sentence answers, the others need this share of its fit."""
LACKED: Final = 0.3
"""Least fit of a sentence that is said for a word of the question that the others lack."""

_LEAST: Final = 1e-9
"""Above nothing, for a floor that is configured as 0."""
_WEIGHTS: Final = {
    Form.SENTENCE: 1.0,
    Form.PAIR: 1.0,
    Form.FRAGMENT: 0.5,
    Form.CODE: 0.4,
    Form.HEADING: 0.3,
    Form.QUESTION: 0.15,
}
"""Whole sentences before pieces, and before questions, which have the words of the question by nature."""
_POINTING: Final = re.compile(
    r"(?:it|its|this|that|they|their|these|those|he|his|she|her|yes|no|not|never|because|هو|هي|هم|هذا|هذه|ذلك|نعم|لا|لأن)\b",
    re.IGNORECASE,
)
"""A sentence that begins so is about something that was named before."""
_TURNED: Final = re.compile(r"\bby\b|: |بواسطة|من قبل")
"""What puts the words of a sentence in another order: the passive, and `key: value`."""
_NAME_OF_A_FILE: Final = re.compile(r"[\w./~-]+\.\w{1,5}|[\w.~-]*/[\w./~-]*|[\d\W]+|[0-9a-f-]{16,}", re.IGNORECASE)
_NAMES_NOTHING: Final = frozenset(
    "readme index notes note untitled todo home log journal inbox memo document page".split()
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence that may be said."""

    hit: ScoredHit
    unit: Unit
    fit: float
    value: float
    """`fit` with what kind of text it is; for the choice within one hit."""


@dataclass(slots=True)
class _Line:
    """A sentence that is said, and the hits that say it."""

    text: str
    fit: float
    hits: list[ScoredHit] = field(default_factory=list)
    form: Form = Form.SENTENCE


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
    told, floor = usable(hits, disagreements, floor, CONSIDERED)
    lines = _lines(query, told)
    lines += [_Line(text, 0.0, sides) for text, sides in conflicts_told(disagreements, floor)]
    if not lines:
        return Answer(nothing_known(silent), ())
    citations = Citations()
    return Answer("\n".join(citations.line(line.text, line.hits) for line in lines), citations.receipts())


def usable(
    hits: Iterable[ScoredHit], disagreements: Iterable[Disagreement], floor: float, number: int
) -> tuple[list[ScoredHit], float]:
    """The first `number` hits that may be told, best first: those that lost no disagreement and are worth the floor,
    which is at least `SHARE_OF_BEST` of the best; and that floor."""
    losers = {id(loss.hit) for disagreement in disagreements for loss in disagreement.losses}
    left = [(worth(hit), hit) for hit in hits if id(hit) not in losers]
    floor = max(floor, SHARE_OF_BEST * max((one for one, _ in left), default=0.0), _LEAST)
    found = [hit for one, hit in left if one >= floor]
    if len(found) > number:  # the whole order of a hit is dear, its score is not
        least = sorted((hit.score for hit in found), reverse=True)[number - 1]
        found = [hit for hit in found if hit.score >= least]
    return sorted(found, key=lambda hit: (order(hit), hit.hit.title))[:number], floor


def conflicts_told(disagreements: Sequence[Disagreement], floor: float) -> list[tuple[str, list[ScoredHit]]]:
    """The sentences for the disagreements that concern the question, each with the hits that it stands on."""
    asked = [disagreement for disagreement in disagreements if concerns(disagreement, floor)]
    return [(text, _sides(one)) for one in asked[:CONFLICTS] if (text := conflict_sentence(one))]


def nothing_known(silent: Sequence[str]) -> str:
    """The answer when no hit is good enough; says which engines could not be asked."""
    return f"{NOTHING_KNOWN[:-1]}; no answer from {', '.join(silent)}." if silent else NOTHING_KNOWN


def conflict_sentence(disagreement: Disagreement) -> str:
    """A disagreement in one sentence: what is true, who says so, and why the others lost; or both sides."""
    said = f"Sources disagree on {disagreement.claim}: {_who(disagreement.winner)} says {disagreement.value}"
    other = disagreement.unsettled
    if other:
        return short(plain(f"{said}, but {_who(other.hit)} says {other.value}"))
    values = list(dict.fromkeys(loss.value for loss in disagreement.losses))
    reasons = list(dict.fromkeys(loss.reason for loss in disagreement.losses))
    said += f", {'others say' if any(map(negations, values)) else 'not'} {', '.join(values)}"
    for shown in (len(reasons), 1):  # the first reason is that of the strongest loser
        more = "" if shown == len(reasons) else f"; {len(reasons) - shown} more"
        text = plain(f"{said} ({'; '.join(reasons[:shown])}{more})")
        if len(text) <= SENTENCE_LENGTH:
            return text
    return short(plain(said))


def worth(hit: ScoredHit) -> float:
    """What a hit is worth for the question, however old it is and whoever says it."""
    return hit.hit.relevance * hit.hit.confidence


def concerns(disagreement: Disagreement, floor: float) -> bool:
    """Whether a disagreement is about what was asked: one of its sides is worth `floor` or more."""
    return any(worth(hit) >= floor for hit in (disagreement.winner, *(loss.hit for loss in disagreement.losses)))


def _sides(disagreement: Disagreement) -> list[ScoredHit]:
    other = disagreement.unsettled
    return [disagreement.winner, *([other.hit] if other else [])]


def _who(hit: ScoredHit) -> str:
    return hit.source_class.replace("-", " ")


def _lines(query: str, hits: Sequence[ScoredHit]) -> list[_Line]:
    """What the hits say: one sentence of each, the one that answers best first, then what the question still lacks."""
    question = question_fit.read(query, [unit.text for hit in hits for unit in units(hit.hit.snippet)])
    said = [_candidates(question, hit) for hit in hits]
    chosen = _chosen(said)
    best = max((one.fit for one in chosen), default=0.0)
    lines: list[_Line] = []
    for one in chosen:
        # Where one sentence answers, another that has much less of the question is about something else.
        if (
            best < ANSWERS
            or one.fit >= SHARE_OF_FIT * best
            or (not one.fit and _script(one.unit.text) != _script(query))
        ):
            _say(lines, question, one)
    # The best one to the front; of equal ones the one whose hit ranks first.
    if lines:
        first = max(range(len(lines)), key=lambda at: (round(lines[at].fit, 1), -at))
        lines.insert(0, lines.pop(first))
    lacking = question.words.difference(*(content(line.text) for line in lines))
    for one in (one for of_hit in said for one in of_hit if lacking):
        if one.fit >= LACKED and lacking & content(one.unit.text) and not addresses_a_model(one.unit.text):
            _say(lines, question, one)
            lacking -= content(one.unit.text)
    if question.asked is Asked.WHY and lines and not any(question_fit.has(question, line.text) for line in lines):
        _say_why(lines, question, chosen)
    return lines[:SENTENCES]


def _say_why(lines: list[_Line], question: Question, chosen: Sequence[_Candidate]) -> None:
    """Add the reason that stands right behind what the first line says: it need not have a word of the question."""
    hit = lines[0].hits[0]
    said = {one.unit for one in chosen if one.hit is hit}
    found = units(hit.hit.snippet)
    for before, unit in pairwise(found):
        if before in said and question_fit.has(question, unit.text) and not addresses_a_model(unit.text):
            lines.insert(1, _Line(short(unit.text), 0.0, [hit], unit.form))
            return


def _chosen(said: Sequence[Sequence[_Candidate]]) -> list[_Candidate]:
    """The sentence of most value of each hit; of those that address a model none, unless there is nothing else."""
    ranked = [sorted(of_hit, key=lambda one: -one.value) for of_hit in said if of_hit]
    told = (next((one for one in of_hit if not addresses_a_model(one.unit.text)), None) for of_hit in ranked)
    return [one for one in told if one] or [of_hit[0] for of_hit in ranked]


def _say(lines: list[_Line], question: Question, one: _Candidate) -> None:
    """Add a sentence; one that says what another says adds its receipt to that one, and of both a whole sentence stays
    before a pair or a piece, then the longer."""
    text = _worded(question, one.hit, one.unit)
    if not text:
        return
    for line in lines:
        if line.text == text or alike(line.text, text):
            if _reads(one.unit.form, text) > _reads(line.form, line.text):
                line.text, line.form = text, one.unit.form
            line.fit = max(line.fit, one.fit)
            if one.hit not in line.hits:
                line.hits.append(one.hit)
            return
    if len(lines) < SENTENCES:
        lines.append(_Line(text, one.fit, [one.hit], one.unit.form))


def _reads(form: Form, text: str) -> tuple[bool, float, int]:
    """How well a text reads among those that say the same."""
    return form is Form.SENTENCE, _WEIGHTS[form], len(text)


def alike(one: str, other: str) -> bool:
    """Whether two sentences say the same: the words of one are those of the other, in their order, with little more; or
    in another order where one of them is in the passive or `key: value`."""
    few, many = sorted((stems(one), stems(other)), key=len)
    if len(few) < 2 or len(few) < ALIKE * len(many) or not set(few) <= set(many) or negations(one) != negations(other):
        return False
    rest = iter(many)
    return all(word in rest for word in few) or bool(_TURNED.search(one)) != bool(_TURNED.search(other))


def _candidates(question: Question, hit: ScoredHit) -> list[_Candidate]:
    """What a hit could say, each with its value: the sentences that hint at most of the question; its title when its
    text has no sentence."""
    title = plain(hit.hit.title)
    found = units(hit.hit.snippet) or ((Unit(title, Form.HEADING),) if title else ())
    hints = [
        (sum(map(question.weights.__getitem__, hinted(question.words, unit.text))) + 0.5) * _weight(unit)
        for unit in found
    ]
    # The earlier one of two that are worth the same.
    promising = sorted(range(len(found)), key=lambda place: (-hints[place], place))[:PROMISING]
    candidates = []
    for place in promising:
        unit, weight = found[place], _weight(found[place])
        fits = fit(question, unit.text, f"{unit.under} {title}")
        candidates.append(_Candidate(hit, unit, fits * weight, (fits + 0.1) * weight - place * 1e-6))
    return candidates


def _weight(unit: Unit) -> float:
    weight = _WEIGHTS[unit.form]
    if len(unit.text) > SENTENCE_LENGTH:
        weight *= 0.8
    # One or two words are rarely a sentence, unless they answer a question that stands above them.
    return weight * 0.3 if unit.form is Form.SENTENCE and len(unit.text.split()) < 3 and not unit.under else weight


def _worded(question: Question, hit: ScoredHit, unit: Unit) -> str:
    """The sentence under what it needs to be understood: the question or heading above it, or the title."""
    text, title = unit.text if unit.form is not Form.FRAGMENT else f"{unit.text} …", plain(hit.hit.title)
    if text == title:
        return short(text)
    for above in _aboves(question, hit, unit, title):
        joined = f"{above} {text}" if above.endswith(("?", "؟")) else f"{above}: {text}"
        if len(joined) <= SENTENCE_LENGTH:
            return joined
    return short(text)


def _aboves(question: Question, hit: ScoredHit, unit: Unit, title: str) -> Iterable[str]:
    own = content(unit.text)
    under = unit.under if unit.under.endswith(("?", "؟")) else plain(unit.under)
    pointing = unit.form is Form.PAIR or _POINTING.match(unit.text) is not None or len(unit.text.split()) < 3
    if under.endswith(("?", "؟")):
        return [under] if pointing else []
    tells = bool(title) and not _NAME_OF_A_FILE.fullmatch(title) and title.casefold() not in _NAMES_NOTHING
    # What a page says is about its title; the title of a memory is where it came from.
    of_title = content(title) if tells else frozenset()
    lacking = question.words - own
    found = []
    if of_title & lacking or (hit.source_class in FILES and of_title and not of_title & own):
        found.append(title)
    if under and not content(under) <= own and (content(under) & lacking or pointing):
        found.append(under)
    return found


def _script(text: str) -> bool:
    return any("\u0600" <= char <= "\u06ff" for char in text)
