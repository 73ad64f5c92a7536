"""Forms: what the forms of an English word have in common, by its spelling."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from cortex_gateway.assertions import english

_IRREGULAR: Final = {
    "ran": "run", "took": "take", "taken": "take", "held": "hold", "kept": "keep", "gave": "give", "sent": "send",
    "wrote": "write", "met": "meet", "paid": "pay", "sold": "sell", "sat": "sit", "slept": "sleep", "built": "build",
    "taught": "teach", "came": "come", "shown": "show", "made": "make", "given": "give", "cost": "cost",
    "written": "write", "sold_": "sell", "shut": "cut", "knew": "know", "saw": "see", "told": "tell", "grew": "grow",
    "forbidden": "forbid", "forbade": "forbid", "hidden": "hide", "broken": "break", "frozen": "freeze",
    "chosen": "choose", "chose": "choose", "won": "win", "lost": "lose", "fell": "fall", "fallen": "fall",
    "rose": "rise", "risen": "rise", "bought": "buy", "spent": "spend", "lent": "lend", "quit": "quit",
    "stolen": "steal", "stole": "steal", "eaten": "eat", "ate": "eat", "drawn": "draw", "drew": "draw",
    "driven": "drive", "drove": "drive", "grown": "grow", "thrown": "throw", "threw": "throw", "bound": "bind",
    "found_": "find", "wore": "wear", "worn": "wear", "born_": "bear", "hit": "hit",
    "began": "begin", "begun": "begin", "spoke": "speak", "meant": "mean",
}  # fmt: skip
ORDINALS: Final = {
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth", "7th": "seventh",
    "8th": "eighth", "9th": "ninth", "10th": "tenth",
}  # fmt: skip
ADVERBS: Final = {
    f"{base.removesuffix('le')}ly"
    if base.endswith("ble")
    else f"{base}ally"
    if base.endswith("ic")
    else f"{base}ly": base
    for base in (
        "manual automatic synchronous asynchronous remote sequential serial temporary permanent explicit implicit "
        "vertical "
        "horizontal internal external public private"
    ).split()
}
"""Adverbs of states that tell how something is done."""


def stem(word: str) -> str:
    """What the forms of an English word that is in no list have in common: "invalidated", "invalidation"."""
    if len(word) < 6 or not word.isalpha():
        return word[:-1] if len(word) == 5 and word[-1] == "e" else word
    for ending in ("ions", "ion", "ment", "ed", "e"):
        if word.endswith(ending) and len(word) - len(ending) > 3:
            base = word[: -len(ending)]
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "sl" else base
    return word


@lru_cache(16_384)
def verb_of(norm: str) -> str | None:
    """The plain form of an English verb that is known, else none."""
    if norm in english.VERBS:
        return norm
    for end, more in (
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("d", ""),
        ("ing", ""),
        ("ing", "e"),
        ("ied", "y"),
    ):
        if norm.endswith(end):
            base = norm[: len(norm) - len(end)] + more
            if base in english.VERBS:
                return base
            if len(base) > 3 and base[-1] == base[-2] and base[:-1] in english.VERBS:
                return base[:-1]
    return _IRREGULAR.get(norm)
