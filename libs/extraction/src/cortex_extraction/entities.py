"""Entities: what a text names, found by its form alone. Deterministic; no model and no list of names.

Latin names are known by their capitals: a lone capitalised word that begins a sentence is no evidence, unless it comes
again inside one, is possessive ("Melanie's"), is spelt with inner capitals (GitHub) or stands before words that relate
two names ("Omar works at Helio"). Arabic has no capitals: names come from quotation marks, wikilinks, identifiers,
speakers, and what follows a title or kind (الدكتور، مدينة).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cortex_extraction.folding import fold, key, words
from cortex_extraction.identifiers import identifiers
from cortex_extraction.predicates import ENGLISH_ADVERBS, ENGLISH_ROLES, ENGLISH_TURNED, ENGLISH_VERBS, NOT_NAMES
from cortex_extraction.stop_words import OPENERS, STOP_WORDS
from cortex_extraction.times import mentioned_dates

MAX_WORDS: Final = 6
"""A longer run of capitals is a heading, not a name."""
MAX_NAME: Final = 80
MAX_CANDIDATES: Final = 120
_QUOTED = re.compile(r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|«([^»\n]{2,80})»|„([^“\n]{2,80})“")
WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:#[^\[\]|\n]{0,120})?(?:\|[^\[\]\n]{0,120})?\]\]")
_WORD = re.compile(r"[^\W\d_][\w'’.&-]{0,60}")
_PARTICLES = frozenset("of de del della da di du van von der den bin ibn al el la le the for and & y".split())
_SENTENCE_END = re.compile(r"[.!?:;؟…\n\"“«(\[•*>|-]\s*$")
_ABBREVIATION = frozenset("dr mr mrs ms prof st jr sr vs".split())
_TITLES = frozenset("mr mrs ms dr prof sir".split())
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]")
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december".split()
)
ARABIC_KINDS: Final = (
    "سيد|سيده|دكتور|دكتوره|مهندس|مهندسه|استاذ|استاذه|شيخ|امير|اميره|ملك|ملكه|رئيس|رئيسه|"
    "مدينه|شركه|جامعه|مؤسسه|منظمه|دوله|قريه|نهر|شارع|مطار|بنك|جزيره|مشروع|محافظه"
)
"""Titles and kinds that stand before an Arabic name, folded."""
_ARABIC_KIND = re.compile(
    rf"(?<!\w)[وف]?(?:لل|[بكل]?ال|[بلك])?(?:{ARABIC_KINDS})\s+([\u0621-\u064a]{{2,20}})"
    r"(?:\s+([\u0621-\u064a]{2,20}))?(?:\s+([\u0621-\u064a]{2,20}))?"
)
_ROLE = "|".join(ENGLISH_ROLES.values())
_RELATING = re.compile(
    rf"(?:,? who)?(?: (?:{'|'.join(ENGLISH_ADVERBS)}))*"
    rf"(?: (?:{'|'.join([*ENGLISH_VERBS.values(), *ENGLISH_TURNED.values()])})|(?:,| is)(?: the| an?)? (?:{_ROLE}) of)"
    rf" (?:the |an? |our )?(?=[^\W\d_a-z]|[\"“`\[]|[\w.-]{{0,40}}\d)"
    rf"|(?:,| is) [^\W\d_a-z]\w{{1,40}}['’]s (?:{_ROLE})\b".replace(" N)", r" \w{1,40})")
)
"""From a name that opens a sentence to another name."""
_ARTICLE = re.compile(r"^(?:the|a|an) (?=\S)")
_PRONOUN = re.compile(r"i(?:['’](?:m|ve|d|ll))?|[qh][1-4]", re.IGNORECASE)
"""Always capitals, never names: the first person, and quarters."""
_ARABIC_LINKS = frozenset("بن ابن ابو عبد ام ال".split())
_ARABIC_LETTER = re.compile("[\u0621-\u064a]")
_ARABIC_COMMON = frozenset("كبيره صغيره جديده قديمه كبير صغير جديد قديم اخري اخر واحده ما كل".split())


class EntityKind(StrEnum):
    """What kind of thing a name names, as far as its form tells."""

    PERSON_OR_THING = "person_or_thing"
    IDENTIFIER = "identifier"
    DATE = "date"
    QUOTED = "quoted"
    WIKILINK = "wikilink"


class Role(StrEnum):
    """How the text relates to the entity."""

    SPEAKER = "speaker"
    MENTION = "mention"


@dataclass(frozen=True, slots=True)
class Entity:
    """A name as the text spells it, and `key`, the folded form by which two spellings are one (of a date: ISO 8601)."""

    name: str
    key: str
    kind: EntityKind
    role: Role = Role.MENTION


def extract(text: str, *, speaker: str | None = None, limit: int = 32) -> tuple[Entity, ...]:
    """The entities of `text`, each key once: the speaker, then by first mention; at most `limit`."""
    found: dict[str, Entity] = {}
    if speaker and key(speaker):
        found[key(speaker)] = Entity(speaker.strip(), key(speaker), EntityKind.PERSON_OR_THING, Role.SPEAKER)
    # Sorted by place; at one place the kind that was written on purpose comes before the one that is guessed.
    marked = [
        *((start, 0, name, EntityKind.WIKILINK) for start, name in _wikilinks(text)),
        *((start, 1, name, EntityKind.QUOTED) for start, name in _quotations(text)),
        *((start, 2, name, EntityKind.IDENTIFIER) for start, name in identifiers(text)),
        *((start, 3, name, EntityKind.PERSON_OR_THING) for start, name in _capitalised(_blank(text))),
        *((start, 4, name, EntityKind.PERSON_OR_THING) for start, name in _titled_in_arabic(text)),
    ]
    for _, _, name, kind in sorted(marked):
        folded = key(name)
        if kind in (EntityKind.QUOTED, EntityKind.WIKILINK):
            folded = _ARTICLE.sub("", folded)
        if folded and len(name) <= MAX_NAME and folded not in STOP_WORDS:
            found.setdefault(folded, Entity(name, folded, kind))
    for spelling, iso in mentioned_dates(text):
        found.setdefault(iso, Entity(spelling, iso, EntityKind.DATE))
    return tuple(found.values())[:limit]


def candidates(question: str, max_words: int = 4) -> tuple[str, ...]:
    """The keys under which a question may name an entity, most specific kind first, at most `MAX_CANDIDATES`.

    First what is marked (wikilinks, quotations, identifiers, dates), then every run of one to `max_words` words that
    neither begins nor ends with a stop word, single words first. A possessive also comes without its ending; an
    Arabic word also without the particles written together with it (و ف ب ل ك) and without its article.
    """
    keys = dict.fromkeys(entity.key for entity in extract(question) if entity.kind is not EntityKind.PERSON_OR_THING)
    spoken = words(question)
    for length in range(1, max_words + 1):
        for start in range(len(spoken) - length + 1):
            if len(keys) >= MAX_CANDIDATES:
                return tuple(keys)
            run = spoken[start : start + length]
            for first in _forms(run[0]) if length > 1 else dict.fromkeys([*_forms(run[0]), *_owner(run[0])]):
                for last in _owner(run[-1]) if length > 1 else [first]:
                    if not {first, last} & STOP_WORDS and any(char.isalnum() for char in first):
                        keys.setdefault(" ".join([first, *run[1:-1], last] if length > 1 else [last]))
    return tuple(keys)[:MAX_CANDIDATES]


def _owner(word: str) -> list[str]:
    """The word, and what it is without a possessive ending."""
    if word.endswith("'s") and len(word) > 3:
        return [word, word[:-2]]
    return [word]


def _forms(word: str) -> list[str]:
    """An Arabic word, and what it is without particles and article; at least three letters stay."""
    forms = [word]
    if "\u0621" <= word[0] <= "\u064a":
        bare = word[1:] if word[0] in "وف" else word
        options = [bare, "ال" + bare[2:] if bare.startswith("لل") else bare, bare[1:] if bare[:1] in "بلك" else bare]
        options += [option[2:] for option in [word, *options] if option.startswith("ال")]
        forms += [option for option in options if len(option) >= 3]
    return list(dict.fromkeys(forms))


def _wikilinks(text: str) -> Iterator[tuple[int, str]]:
    for found in WIKILINK.finditer(text):
        yield found.start(), found[1].strip()


def _quotations(text: str) -> Iterator[tuple[int, str]]:
    for found in _QUOTED.finditer(text):
        quoted = next(group for group in found.groups() if group).strip(" .,;:!?؟،")
        if 0 < len(quoted.split()) <= MAX_WORDS and any(char.isalpha() for char in quoted):
            yield found.start(), quoted


def _blank(text: str) -> str:
    """`text` without its wikilinks, whose words are no second name; the length stays."""
    return WIKILINK.sub(lambda found: "\n" * len(found.group()), text)


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    tokens = [(found.start(), found.group().rstrip(".'’&-")) for found in _WORD.finditer(text)]
    if not tokens or 2 * sum(word.isupper() and len(word) > 1 for _, word in tokens) > len(tokens):
        return  # a text in capitals says nothing by them
    opening = [_opens(text, start) for start, _ in tokens]
    inside = Counter(
        _singular(word) for (_, word), opens in zip(tokens, opening, strict=True) if word[0].isupper() and not opens
    )
    index = 0
    while index < len(tokens):
        run = _run(text, tokens, opening, index)
        index += max(len(run), 1)
        # Drop what only opens the sentence: "Thanks Melanie", "The Eiffel Tower", "Visiting Paris".
        first_opens = bool(run) and opening[index - len(run)]
        begin, end = 0, len(run)
        while begin < end and (
            fold(run[begin][1]) in OPENERS or (first_opens and end - begin > 1 and _inflected(run[begin][1]))
        ):
            begin, first_opens = begin + 1, False
        while begin < end and fold(run[end - 1][1]) in _PARTICLES:
            end -= 1
        run = run[begin:end]
        if not run or len(run) > MAX_WORDS:
            continue
        start, last = run[0][0], run[-1]
        name = _singular(text[start : last[0] + len(last[1])])
        folded = key(name)
        possessive = name != text[start : last[0] + len(last[1])]
        certain = len(run) > 1 or not first_opens or possessive or inside[name] or _INNER_CAPITAL.search(name)
        if not certain and folded not in NOT_NAMES:
            certain = _RELATING.match(text, last[0] + len(last[1])) is not None
        if certain and len(name) > 1 and folded not in _CALENDAR and folded not in STOP_WORDS:
            yield start, " ".join(name.split())


def _run(text: str, tokens: list[tuple[int, str]], opening: list[bool], index: int) -> list[tuple[int, str]]:
    """The capitalised words from `index` on that stand together, with particles between them; empty if it has none."""
    run: list[tuple[int, str]] = []
    for place in range(index, len(tokens)):
        start, word = tokens[place]
        if run:
            gap = text[run[-1][0] + len(run[-1][1]) : start]
            abbreviated = fold(run[-1][1]) in _TITLES and gap == ". "
            if not (gap == " " or abbreviated) or (opening[place] and not abbreviated):
                break
            if run[-1][1].endswith(("'s", "’s")):
                break
        if _PRONOUN.fullmatch(word):
            break
        if not word[0].isupper() and not (run and word in _PARTICLES and _continues(tokens, place)):
            break
        run.append((start, word))
    return run


def _continues(tokens: list[tuple[int, str]], place: int) -> bool:
    """Whether a capital follows the particle at `place`, perhaps after one more ("of the"); "and" joins two names."""
    if tokens[place][1] in ("and", "for", "y"):
        return False
    following = [word for _, word in tokens[place + 1 : place + 3]]
    return bool(following) and (
        following[0][0].isupper() or (following[0] in _PARTICLES and len(following) > 1 and following[1][0].isupper())
    )


def _opens(text: str, start: int) -> bool:
    """Whether the word at `start` begins a sentence, a line, a quotation or an item."""
    before = text[max(0, start - 8) : start]
    if not before.strip():
        return start == len(before) or "\n" in before
    if (end := _SENTENCE_END.search(before)) is None:
        return False
    if end.group().startswith("-") and not end.group().endswith(" "):
        return False
    return not (
        end.group() == ". "
        and fold(before[: end.start()].split()[-1] if before[: end.start()].split() else "") in _ABBREVIATION
    )


def _inflected(word: str) -> bool:
    """Whether a capital at the start of a sentence is more likely a verb or adverb than part of a name."""
    return word.endswith(("ing", "ed", "ly"))


def _singular(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _titled_in_arabic(text: str) -> Iterator[tuple[int, str]]:
    """What follows a title or kind: one word, and those that grammar ties to it (بن، عبد، or article after article)."""
    if not _ARABIC_LETTER.search(text):
        return
    tokens = list(re.finditer(r"\S{1,60}", text))
    folded = [fold(token.group()) for token in tokens]
    for index, word in enumerate(folded[:-1]):
        if not _ARABIC_KIND.match(f"{word} {folded[index + 1].strip('.,،؛:؟!')}"):
            continue
        length = 1
        while length < 3 and index + length + 1 < len(folded) and folded[index + length][-1:] not in tuple(".,،؛:؟!"):
            previous, following = folded[index + length], folded[index + length + 1]
            joined = previous in _ARABIC_LINKS or following in _ARABIC_LINKS
            if not joined and not (following.startswith("ال") and fold(following) not in STOP_WORDS):
                break
            length += 1
        first = folded[index + 1].strip(".,،؛:؟!")
        if first in _ARABIC_COMMON or first in STOP_WORDS:
            continue
        named = text[tokens[index + 1].start() : tokens[index + length].end()].strip(' .,،؛:؟!"«»()')
        yield tokens[index + 1].start(), named
