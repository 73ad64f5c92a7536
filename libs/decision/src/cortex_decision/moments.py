"""Moments: the words of a sentence that say when something happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.topics import words_of

_SPANS: Final = (
    words_of(
        "week month year night morning afternoon evening spring summer autumn fall winter quarter sprint release "
        "season "
        "weekend round noon"
    )
    | english.DAYS
    | english.MONTHS
)
_SEASONS: Final = words_of("spring summer autumn winter الصيف الشتاء الربيع الخريف")
_UNITS: Final = words_of("second minute hour day week month year moment while")


def undated(words: tuple[str, ...], spelled: tuple[str, ...]) -> tuple[str, ...]:
    """The words without those that say when something happened; "on Fridays" says when it happens."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        recurs = words[at] in english.DAYS and spelled[at].endswith("s")
        if not recurs and (size := _when(words, at)):
            at += size
            if kept and kept[-1] in {"in", "on", "at", "of", "by", "في", "with"}:
                kept.pop()
            continue
        kept.append(words[at])
        at += 1
    return tuple(kept)


def _when(words: Sequence[str], at: int) -> int:
    word, rest = words[at], words[at + 1 : at + 3]
    if word in {"yesterday", "recently", "lately", "امس", "امبارح", "البارحه", "موخرا", "موخر", "مباشره"}:
        return 1
    if word in _SEASONS and at and words[at - 1] in {"in", "during"}:
        return 2 if rest[:1] == ("round",) else 1
    if word in {"noon", "midnight"}:
        return 1
    if word == "today" and "is" not in words[:at]:
        return 1
    if word in {"last", "this", "past", "earlier"} and rest and rest[0] in _SPANS:
        return 2
    if word in {"early", "late"} and rest and rest[0] in {"last", "this"}:
        return 1 + _when(words, at + 1)
    if len(rest) == 2 and rest[1] == "ago" and (word.isdecimal() or word in {"few", "couple"}):
        return 3
    if rest[:1] == ("ago",) and word in _UNITS:
        return 2
    if word in english.MONTHS | arabic.MONTHS and at and words[at - 1] in {"in", "since", "في", "منذ"}:
        return 2 if rest and re.fullmatch(r"(?:19|20)\d\d", rest[0]) else 1
    if word in english.DAYS and at and words[at - 1] in {"on", "since"}:
        return 1
    if re.fullmatch(r"(?:19|20)\d\d", word) and at and words[at - 1] in {"in", "since", "عام", "سنه"}:
        return 1
    if (
        word in {"الشهر", "الاسبوع", "العام", "السنه", "الصيف", "الشتاء", "الليله"}
        and rest
        and rest[0].startswith("الماضي")
    ):
        return 2
    if word in {"الشهر", "الاسبوع", "السنه"} and rest == ("اللي", "فات"):
        return 3
    if word in {"هذا", "هذه"} and rest and rest[0] in {"الشهر", "الاسبوع", "العام", "السنه", "الصباح"}:
        return 2
    if word in {"قبل", "منذ"} and rest:
        return 3 if rest[0].isdecimal() and len(rest) > 1 else 2
    return 0
