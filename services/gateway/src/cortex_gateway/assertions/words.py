"""Words: what each token of a text is to the reader, looked up in closed lists and remembered by its spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Final

from cortex_decision import arabic as arabic_decision
from cortex_decision import english as english_decision
from cortex_decision.clauses import lemma
from cortex_decision.folding import fold
from cortex_gateway.assertions import arabic, english
from cortex_gateway.assertions.forms import ADVERBS, ORDINALS, stem, verb_of
from cortex_gateway.assertions.states import STATES, State
from cortex_gateway.assertions.units import UNITS


class Role(IntEnum):
    """What a word does in a sentence."""

    CONTENT = 0
    LOOSE = 1
    DROPPED = 2
    BE = 3
    VERB = 4
    PLACE = 5
    PREPOSITION = 6
    CAUSE = 7
    NEGATION = 8
    HEDGE = 9
    OVER = 10
    TIME = 11
    FIGURE = 12
    AND = 13
    COMMA = 14
    BREAK = 15
    QUESTION = 16
    END = 17


@dataclass(frozen=True, slots=True)
class Word:
    """One token: as written, folded, and as it is compared."""

    raw: str
    norm: str
    key: str
    role: Role
    state: State | None = None
    arabic: bool = False
    definite: bool = False
    was: bool = False
    name: bool = False
    """Written like a name: a capital, a digit or a mark of its own."""


TOKEN: Final = re.compile(
    r"https?://\S+"
    r"|(?<![\w/])/[\w-]+(?:[./][\w-]+)+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:(?<![\w.])[-−])?\d+(?:[.,:/٫٬-]\d+)*(?:[ \u00a0]?%|-?[^\W\d_][\w]*(?:[./-]\w+)*)?"
    r"|[#@]?\w+(?:[.'_/+:-]\w+)*\+*"
    r"|[<>]=|[:=%٪؟?,،;؛()|<>~≈≥≤→&$€£¥°…✓✔☑✅✗✘☒❌]|[–—]|(?<=\s)-(?=\s)"
)
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u064b-\u065f\u0670\u0640\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]"
)
_APOSTROPHES: Final = str.maketrans("’‘ʼ\u00a0", "''' ")
_SIGNS: Final = {
    ":": Role.BREAK, "=": Role.BREAK, "→": Role.BREAK, "–": Role.BREAK, "—": Role.BREAK, "-": Role.BREAK,
    "|": Role.BREAK, ",": Role.COMMA, "،": Role.COMMA, "(": Role.COMMA, ")": Role.COMMA, ";": Role.END, "؛": Role.END,
    "…": Role.COMMA, "?": Role.QUESTION, "؟": Role.QUESTION, "&": Role.AND, "%": Role.CONTENT, "٪": Role.CONTENT,
    "°": Role.DROPPED,
}  # fmt: skip
_ANDS: Final = frozenset({"and", "plus", "nor", "well_as"})


def words(text: str) -> list[Word]:
    """The words of `text` in order, phrases joined."""
    if not text.isascii():
        text = _MARKS.sub("", text.translate(_APOSTROPHES))
    return _joined([each for raw in TOKEN.findall(text) for each in word(raw)])


@lru_cache(maxsize=32_768)
def word(raw: str) -> tuple[Word, ...]:
    """What one token is; contractions and glued words are several."""
    if (sign := _SIGNS.get(raw)) is not None:
        return (Word(raw, raw, raw, sign),)
    norm = fold(raw)
    if raw[0].isdigit() or (raw[0] in "-−" and len(raw) > 1):
        return (Word(raw, norm, ORDINALS.get(norm, norm), Role.FIGURE, name=True),)
    if "'" in norm:
        return _contracted(raw, norm)
    if "\u0621" <= norm[0] <= "\u064a":
        return _arabic(raw, norm)
    return _english(raw, norm)


def plain(raw: str, norm: str) -> Word:
    """One English word."""
    norm = norm.removesuffix(".service").lstrip("@#") or norm
    joined = norm.replace("-", "_")
    norm = joined if joined in _ENGLISH else norm
    role = _ENGLISH.get(norm) if raw not in {"US", "IT", "WHO"} else None
    base = lemma(norm) if norm.isalpha() else norm
    if raw[-1:] == "s" and raw[:-1].isupper() and len(raw) > 2:
        base = norm[:-1]
    state = STATES.get(norm) or (STATES.get(ADVERBS[norm]) if norm in ADVERBS else None)
    if role is None and state is None:
        role = _ENGLISH.get(base)
        role = None if role in {Role.DROPPED, Role.HEDGE, Role.OVER} else role
    verb = verb_of(norm)
    if role is None and verb is not None and state is None:
        role = Role.VERB
    if role is None and (norm in _FIGURES or base in english_decision.NUMBERS or ("-" in norm and _teens(norm))):
        role = Role.FIGURE
    key = (
        english.CONCEPTS.get(norm)
        or english.CONCEPTS.get(base)
        or (verb if verb and (role is Role.VERB or state) else base)
    )
    if (
        role is Role.CONTENT
        and verb is not None
        and norm != verb
        and norm not in english.ROLES
        and norm not in english.HOUSED
        and (norm in english.CONCEPTS or base in english.CONCEPTS)
    ):
        role = Role.VERB
    if key == base and len(base) > 6 and base.endswith("ing") and role is None and state is None:
        key = base[:-4] if base[-4] == base[-5] else base[:-3]
    if key == norm == base and role is None and state is None and norm not in english.VOCABULARY:
        key = stem(base)
    if role is None and state is None and norm.endswith("ly") and len(norm) > 4 and norm not in english.ADVERBS_NOT:
        role = Role.DROPPED
    named = raw[0] in "@#" or any(char.isupper() or char.isdigit() for char in raw)
    return Word(raw, norm, key, Role.CONTENT if role is None else role, state, was=norm in english.WAS, name=named)


def _english(raw: str, norm: str) -> tuple[Word, ...]:
    if "_" in norm[1:-1] and norm not in _ENGLISH and norm not in STATES:
        return tuple(plain(part, fold(part)) for part in raw.split("_") if part)
    if "/" in norm and norm not in UNITS and (rated := _RATED.fullmatch(norm)) is not None:
        return plain(rated[1], rated[1]), plain("per", "per"), plain(rated[2], rated[2])
    if ("/" in norm or ":" in norm) and (released := _RELEASED.fullmatch(norm)) is not None:
        return plain(raw[: len(released[1])], released[1]), *word(released[2])
    if "-" in norm[1:-1] and norm.replace("-", "_") not in _ENGLISH:
        head, _, tail = norm.rpartition("-")
        if head.isalnum() and tail in english.LOOSE:
            at = len(raw) - len(tail)
            return plain(raw[: at - 1], head), plain(raw[at:], tail)
    if norm.endswith("-free") and norm[:-5].isalpha() and norm not in STATES:
        return plain("not", "not"), plain("contain", "contain"), plain(raw[:-5], norm[:-5])
    one = plain(raw, norm)
    if one.role is Role.CONTENT and one.state is None and (denied := _DENIED.fullmatch(norm)) is not None:
        base = plain(denied[1], denied[1])
        return (plain("not", "not"), replace(base, raw=raw) if base.state is None else base)
    return (one,)


def _contracted(raw: str, norm: str) -> tuple[Word, ...]:
    spread = english_decision.CONTRACTIONS.get(norm)
    if spread is None:
        for ending, rest in english_decision.ENDINGS.items():
            if norm.endswith(ending):
                spread = norm.removesuffix(ending) + rest
                break
    if spread is None and norm.endswith("'s"):
        base = norm[:-2]
        said = " is" if base in {"it", "that", "there", "what", "who", "here", "he", "she"} else ""
        return (plain(raw[:-2], base), *((plain("is", "is"),) if said else ()))
    return tuple(plain(part, part) for part in spread.split()) if spread else (plain(raw, norm),)


def _arabic(raw: str, norm: str) -> tuple[Word, ...]:
    if norm not in _ARABIC and (spoken := _SPOKEN.fullmatch(norm)) is not None and norm not in arabic.CONCEPTS:
        # Egyptian denies around the verb: "ma-biyhibb-sh" is "la yuhibb".
        return Word(raw, "لا", "لا", Role.NEGATION, arabic=True), *_arabic(raw, spoken[1])
    if norm not in _ARABIC and _ONGOING.match(norm) and _bare(norm) not in arabic.CONCEPTS.keys() | arabic.WHOLE:
        norm = norm[1:]
    if norm in arabic.NUMBERS_DUAL:
        count, unit = arabic.NUMBERS_DUAL[norm].split()
        return Word(count, count, count, Role.FIGURE), Word(raw, unit, unit, Role.CONTENT, arabic=True)
    role = _ARABIC.get(norm)
    if role is None and (norm in arabic_decision.NUMBERS or norm in arabic.THOUSANDS):
        role = Role.FIGURE
    before: tuple[Word, ...] = ()
    if role is None:
        for prefix, sort in (
            ("و", Role.AND),
            ("ب", Role.PLACE),
            ("ل", Role.PREPOSITION),
            ("ف", Role.AND),
            ("ك", Role.PREPOSITION),
        ):
            rest = norm[1:]
            if norm[0] == prefix and (len(rest) > 2 or rest in _ARABIC):
                rest = "ال" + rest[1:] if prefix == "ل" and rest[0] == "ل" and len(rest) > 3 else rest
                known = (
                    rest.startswith("ال")
                    or rest in _ARABIC
                    or rest in arabic_decision.NUMBERS
                    or _bare(rest) in arabic.CONCEPTS
                    or not "\u0621" <= rest[0] <= "\u064a"
                )
                known = known or (prefix in "وف" and len(rest) > 3 and _state(rest) is not None)
                if known and norm not in arabic.CONCEPTS and not _state(norm) and _bare(norm) not in arabic.WHOLE:
                    before = (Word(prefix, prefix, prefix, sort, arabic=True),)
                    norm = rest
                    role = _ARABIC.get(norm)
                    break
    state = _state(norm)
    definite = norm.startswith("ال") and len(norm) > 4 and state is None
    base = _bare(norm)
    key = arabic.CONCEPTS.get(norm) or arabic.CONCEPTS.get(base) or base
    key = english.CONCEPTS.get(key, key)
    if role is None and (base in arabic.LOOSE or arabic.CONCEPTS.get(base) in english.LOOSE):
        role = Role.LOOSE
    named = role is None and state is None
    return (
        *before,
        Word(raw, norm, key, Role.CONTENT if role is None else role, state, True, definite, norm in arabic.WAS, named),
    )


def _bare(norm: str) -> str:
    """An Arabic word without article, pronoun, feminine or accusative ending."""
    base = norm[2:] if norm.startswith("ال") and len(norm) > 4 else norm
    counted = arabic_decision.COUNTED.get(base)
    if counted:
        return counted
    for ending in ("ها", "هم", "ات", "ين", "ون", "ا", "ه"):
        if base.endswith(ending) and len(base) - len(ending) >= 3:
            return base[: -len(ending)] if base not in arabic.CONCEPTS else base
    return base


def _state(norm: str) -> State | None:
    forms = [norm]
    if norm[0] == "ت":
        forms.append("ي" + norm[1:])
    forms += [
        form[: -len(end)]
        for form in tuple(forms)
        for end in ("ه", "ا", "ين", "ون", "ات", "ت")
        if form.endswith(end) and len(form) > 3
    ]
    return next((STATES[form] for form in forms if form in STATES), None)


_SPOKEN: Final = re.compile(r"ما?ب?([يتن]\w{2,})ش")
_ONGOING: Final = re.compile(r"ب[يت]\w{3}")
_RATED: Final = re.compile(r"([a-z]+)/(s|sec|second|min|minute|h|hour|day|month|year)")
_RELEASED: Final = re.compile(r"([a-z][\w-]*)[/:](\d+\.\d[\w.]*)(?:-[a-z]\w*)?")
_DENIED: Final = re.compile(r"(?:un|non-?)(\w{3,}(?:ed|able|ible|ing))")
"""Words that deny the rest of themselves."""


def _teens(norm: str) -> bool:
    return all(part in english_decision.NUMBERS for part in norm.split("-"))


_FIGURES: Final = frozenset("half quarter_of hundred thousand million billion dozen".split())


def _vocabulary(*lists: tuple[Role, Iterable[str]]) -> dict[str, Role]:
    """Each word with its role; the later lists win."""
    return {word: role for role, entries in lists for word in entries}


_ENGLISH: Final = _vocabulary(
    (Role.CONTENT, (english.CONCEPTS.keys() - {"use"}) | english.ROLES.keys() | english.HOUSED | english.BOUNDS.keys()),
    (Role.CONTENT, {word for word in STATES if "_" in word}),
    (Role.LOOSE, english.LOOSE),
    (Role.PREPOSITION, english.PREPOSITIONS),
    (Role.PLACE, english.PLACES),
    (Role.DROPPED, english.DROPPED),
    (Role.BE, english.BE),
    (Role.CAUSE, english.CAUSES),
    (Role.NEGATION, english.NEGATIONS),
    (Role.TIME, english.TIMES),
    (Role.HEDGE, english.HEDGES),
    (Role.OVER, english.OVER),
    (Role.AND, _ANDS),
)
_ARABIC: Final = _vocabulary(
    (Role.CONTENT, {word for word in arabic.CONCEPTS if "_" in word} | {word for word in english.ROLES if "_" in word}),
    (Role.CONTENT, {word for word in STATES | arabic.BOUNDS | dict.fromkeys(english.HOUSED) if "_" in word}),
    (Role.CONTENT, {word for word in english.ROLES if not word.isascii()}),
    (Role.LOOSE, arabic.LOOSE),
    (Role.VERB, arabic.VERBS),
    (Role.PREPOSITION, arabic.PREPOSITIONS),
    (Role.PLACE, arabic.PLACES),
    (Role.DROPPED, arabic.DROPPED),
    (Role.BE, arabic.BE | arabic.WAS),
    (Role.CAUSE, arabic.CAUSES),
    (Role.NEGATION, arabic.NEGATIONS),
    (Role.TIME, arabic.TIMES),
    (Role.HEDGE, arabic.HEDGES),
    (Role.OVER, arabic.OVER),
)


def _phrases() -> dict[str, list[tuple[str, ...]]]:
    phrases: dict[str, list[tuple[str, ...]]] = {}
    known = (
        english.RESCHEDULED
        | english.LEAVING
        | english.INSTEAD
        | english.SUCCEEDING
        | english.EXPANDED.keys()
        | _ENGLISH.keys()
        | _ARABIC.keys()
        | STATES.keys()
        | _UNITS
    )
    for entry in known:
        parts = tuple(entry.split("_"))
        if len(parts) > 1 and all(parts):
            phrases.setdefault(parts[0], []).append(parts)
    return {first: sorted(found, key=len, reverse=True) for first, found in phrases.items()}


_UNITS: Final = frozenset("في_الميه في_المايه درجه_مئويه ملي_ثانيه percentage_points".split())
_PHRASES: Final = _phrases()
_FIRSTS: Final = frozenset(_PHRASES)


def _joined(found: list[Word]) -> list[Word]:
    """The words with those of a phrase as one."""
    joined: list[Word] = []
    norms = tuple([each.norm for each in found])
    if _FIRSTS.isdisjoint(norms):
        return found
    at = 0
    while at < len(found):
        first = found[at]
        phrases = _PHRASES.get(first.norm)
        match = None
        if phrases is not None:
            for parts in phrases:
                if norms[at : at + len(parts)] == parts:
                    match = parts
                    break
        if match is None:
            denies = first.norm == "ما" and at + 1 < len(found) and found[at + 1].norm[0] in "يتن"
            joined.append(replace(first, role=Role.NEGATION) if denies else first)
            at += 1
            continue
        raw = " ".join(each.raw for each in found[at : at + len(match)])
        if match == ("out", "of") and joined and joined[-1].role is Role.BE:
            joined.append(plain("not", "not"))
            at += 2
            continue
        if (spread := english.EXPANDED.get("_".join(match))) is not None:
            joined += [plain(part, part) for part in spread.split()]
            at += len(match)
            continue
        joined.append(_phrase("_".join(match), raw, first.arabic))
        at += len(match)
    return joined


@lru_cache(maxsize=4_096)
def _phrase(norm: str, raw: str, is_arabic: bool) -> Word:
    if is_arabic:
        key = arabic.CONCEPTS.get(norm, norm)
        key = english.CONCEPTS.get(key, key)
        found = Word(raw, norm, key, _ARABIC.get(norm, Role.CONTENT), STATES.get(norm), True)
    else:
        found = replace(plain(raw, norm), name=False)
    return found
