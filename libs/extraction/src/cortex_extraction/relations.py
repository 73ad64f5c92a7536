"""Relations: what a text says of how two of its names stand to each other. Deterministic; no model, no grammar.

A relation is read where words of a closed list (`predicates`) stand between two names of the text and nothing else
does. Precision first: questions, conditions, guesses and denials state nothing, "the manager of Omar works at Helio"
says nothing of Omar, and what the lists do not know stays unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cortex_extraction import predicates
from cortex_extraction.entities import ARABIC_KINDS, WIKILINK, Entity, EntityKind, Role
from cortex_extraction.folding import APOSTROPHES, fold
from cortex_extraction.predicates import Predicate

READ_LIMIT: Final = 20_000
"""Characters that are read; a longer text is chunked before it comes here."""

SENTENCE_LIMIT: Final = 1_000
"""A longer one is no sentence."""

_NAME = "[\ue000-\uf7ff]"
"""One character for each name: the private use area, in the order of the entities."""
_FIRST: Final = 0xE000
_LIST = rf"{_NAME}(?: ?(?:,|،|, and|and|&| و) ?(?:the )?{_NAME}){{0,7}}"
"""At most eight: longer lists would be tried from each of their names to each other."""
_SENTENCE = re.compile(r"(?<=[.!?؟…])\s+|[;؛\n]+")
_APART = re.compile(r"(?<!\w)[-–—]+(?!\w)|:(?=\s)|[()،]")
_MARKS = re.compile(r"[\"“”„«»*`\[\]~]+")
_ARABIC_KIND = re.compile(rf"(?<!\w)([وف]?)(?:ال|(ل)ل|([بل])ال|([بل]))?(?:{ARABIC_KINDS})\s+(?={_NAME})")
_ADVERBS = rf"(?: ,? ?(?:who|that|which))?(?: (?:{'|'.join(predicates.ENGLISH_ADVERBS)}))*"

_I: Final = ("i", "انا")
_NOT_AFTER: Final = {
    Predicate.LEFT: r"(?! with\b)",  # "left Omar with a bill"
    Predicate.JOINED: r"(?! (?:for|at|on)\b)",  # "joined Omar for lunch"
    Predicate.REPLACED_BY: r"(?! (?:with|by)\b)",  # "Omar replaced Redis with …" is no successor of Redis
}


@dataclass(frozen=True, slots=True)
class Relation:
    """`subject` and `object` are keys of entities, `predicate` is one of `Predicate`."""

    subject: str
    predicate: str
    object: str


def extract(text: str, entities: Sequence[Entity], *, limit: int = 32) -> tuple[Relation, ...]:
    """What `text` says of how its `entities` (`entities.extract`) stand to each other: each relation once, in the order
    of the sentences; at most `limit`. "I" is the speaker. What a sentence that begins with a name says of a wikilink is
    at least that it mentions it."""
    names = [one for one in entities if one.kind is not EntityKind.DATE][: 0xF7FF - _FIRST]
    if len(names) < 2:
        return ()
    me = next((chr(_FIRST + at) for at, one in enumerate(names) if one.role is Role.SPEAKER), None)
    found: dict[Relation, None] = {}
    for sentence in _sentences(text[:READ_LIMIT], names):
        stated = [*_stated(sentence, me)]
        for subject, predicate, object_ in stated or _mentioned(sentence, names):
            one, other = (names[ord(end) - _FIRST].key for end in (subject, object_))
            if one != other:
                found.setdefault(Relation(one, predicate, other))
    return tuple(found)[:limit]


def _sentences(text: str, names: Sequence[Entity]) -> Iterator[str]:
    """The sentences that may state something, folded, with a character for each name."""
    plain = _marked(WIKILINK.sub(lambda link: f" {link[1]} ", text), names)
    for sentence in _SENTENCE.split(plain):
        if (
            len(sentence) <= SENTENCE_LIMIT
            and re.search(_NAME, sentence)
            and not sentence.rstrip(" \"'»”)").endswith(("?", "؟"))
        ):
            apart = _MARKS.sub(" ", _APART.sub(" , ", sentence)).replace("'m ", " am ").replace("'ve ", " have ")
            apart = _ARABIC_KIND.sub(lambda kind: f"{kind[1]}{kind[2] or kind[3] or kind[4] or ''} ", apart)
            yield " ".join(apart.replace(",", " , ").split()).strip(" .!…,#>")


def _marked(text: str, names: Sequence[Entity]) -> str:
    """`text` folded, each name in it (and "I", when the speaker is known) as its character."""
    spoken: dict[str, str] = {}
    for at, one in enumerate(names):
        for form in (one.key, _folded(one.name), *(_I if one.role is Role.SPEAKER else ())):
            spoken.setdefault(form, chr(_FIRST + at))
    longest = sorted((name for name in spoken if name), key=lambda name: (-len(name), name))
    any_name = "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest)
    folded = re.sub("[\ue000-\uf8ff]", " ", fold(text)).translate(APOSTROPHES)
    pattern = re.compile(rf"(?<![\w@/-])(?:{any_name})(?![\w@/-])")
    return pattern.sub(lambda found: spoken[" ".join(found.group().split())], folded)


def _folded(name: str) -> str:
    return " ".join(fold(name).translate(APOSTROPHES).split())


def _stated(sentence: str, me: str | None) -> Iterator[tuple[str, Predicate, str]]:
    patterns = [*_ENGLISH] if _ENGLISH_WORDS.search(sentence) else []
    if _ARABIC_LETTER.search(sentence):
        patterns += _ARABIC
    for predicate, pattern in patterns:
        for found in pattern.finditer(sentence):
            before = sentence[: found.start()].replace("n't", " not").replace("'s ", " 's ").split()
            if predicates.DOUBTFUL & {*before} or (before and before[-1] in predicates.BEFORE_NO_SUBJECT):
                continue
            ends = {end: re.findall(_NAME, found[end]) for end in pattern.groupindex}
            front, back = ([*sorted(ends, key=found.start), "B"])[:2]
            if before and before[-1] != ",":
                ends[front] = ends[front][-1:]  # "Lina met Omar and Sami joined …" says nothing of Omar
            if found.end(back) == found.end():
                ends[back] = _objects(ends[back], sentence[found.end() :].split())
            for subject in ends.get("A", [me] if me else []):
                for object_ in ends["B"]:
                    yield subject, predicate, object_


def _objects(names: list[str], after: Sequence[str]) -> list[str]:
    """`names` without the last one if what comes `after` is of one piece with it, or says something of it."""
    goes_on = not after or after[0] in predicates.GOES_ON or after[0].endswith("ly")
    return names if goes_on or (len(names) == 1 and not after[0].isascii()) else names[:-1]


def _mentioned(sentence: str, names: Sequence[Entity]) -> Iterator[tuple[str, Predicate, str]]:
    if re.match(_NAME, sentence):
        for other in re.findall(_NAME, sentence[1:]):
            if names[ord(other) - _FIRST].kind is EntityKind.WIKILINK:
                yield sentence[0], Predicate.MENTIONS, other


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words; "A" and "B" stand for one name or several, "N" for any name."""
    ends = {"A": f"(?P<A>{_LIST})", "B": f"(?P<B>{_LIST})", "N": _NAME}
    named = re.sub(r"\b[ABN]\b", lambda letter: ends[letter.group()], pattern)
    return re.compile(rf"(?<![\w'-])(?:{named})(?![\w'-])")


def _english() -> Iterator[tuple[Predicate, str]]:
    the = "(?: (?:the|a|an|our))?(?: (?:company|city|team|project))?"
    for predicate, verb in predicates.ENGLISH_VERBS.items():
        yield predicate, rf"A{_ADVERBS} (?:{verb}){the} B{_NOT_AFTER.get(predicate, '')}"
    for predicate, verb in predicates.ENGLISH_TURNED.items():
        yield predicate, rf"B{_ADVERBS} (?:{verb}){the} A{_NOT_AFTER.get(predicate, '')}"
    yield Predicate.REPLACED_BY, rf"(?:replaced|replacing){the} A (?:with|by){the} B"
    for predicate, role in predicates.ENGLISH_ROLES.items():
        what = rf"(?:(?:new|current) )?(?:{role})"
        yield predicate, rf"A(?:{_ADVERBS} (?:is|am)| ,){_ADVERBS}(?: (?:the|a))? {what} (?:of|at){the} B"
        yield predicate, rf"B's {what} is A"
        yield predicate, rf"A(?:{_ADVERBS} is| ,) B's {what}"


_ENGLISH: Final = tuple((predicate, _compiled(pattern)) for predicate, pattern in _english())
_ENGLISH_WORDS = _compiled(
    "|".join(
        words
        for known in (predicates.ENGLISH_VERBS, predicates.ENGLISH_TURNED, predicates.ENGLISH_ROLES)
        for words in known.values()
    )
)
_ARABIC: Final = tuple(
    (predicate, _compiled(pattern)) for predicate, pattern in (*predicates.ARABIC, *predicates.ARABIC_FIRST_PERSON)
)
_ARABIC_LETTER = re.compile("[\u0621-\u064a]")
