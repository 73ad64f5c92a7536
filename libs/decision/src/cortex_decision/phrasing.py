"""Phrasing: a sentence in the plain words that are compared, whatever turn it was told in."""

from __future__ import annotations

import re
from typing import Final

_ASIDE: Final = re.compile(r"\((?:raised|changed|was|were|moved|lowered|since|because|thanks)\b[^)]*\)", re.IGNORECASE)
_UNTIL: Final = re.compile(
    r"\b(postponed|extended|delayed|pushed|prolonged|moved)(?: back| out)? (?:until|till)\b", re.IGNORECASE
)
_PHRASES: Final = tuple(
    (re.compile(rf"\b(?:{phrases})\b", re.IGNORECASE), word)
    for phrases, word in (
        ("gave up on|gave up|given up on|given up|gone off|went off", "quit"),
        ("got rid of|did away with", "dropped"),
        ("called off", "cancelled"),
        ("(?:closed|shut)(?: down)? (?:for good|permanently|forever)", "discontinued"),
        ("phased out|shut down|taken down|switched off|turned off", "disabled"),
        ("ran out|run out", "expired"),
        ("laid off|let go", "dismissed"),
        ("stepped down|stepped back", "resigned"),
        ("went live", "released"),
        ("dealt with|taken care of|sorted out", "resolved"),
        ("gave birth", "born"),
        ("got married", "married"),
        ("broke up|split up", "separated"),
        ("(?:has|have) come to|came to", "now"),
        ("ما عاد|ما عادت|ما عدت|ما عدنا", "لم يعد"),
    )
)
"""Verbs of several words, and a single one that says the same."""
_ALL: Final = re.compile(r"^All (?:of )?(?=(?:the|our|my)\b)|\b(?:on|for|in|across) all (?:the )?\w+$", re.IGNORECASE)
_COMMIT: Final = re.compile(
    r"^(?:feat|fix|refactor|chore|build|ci|ops|docs|perf|style|infra|deps|config)(?:\([^)]*\))?!?: "
    r"(move|migrate|set|transfer|switch|replace|drop|remove|rename|bump|upgrade|raise|lower|increase|reduce|change|"
    r"enable|disable|delete|update|port|convert)\b",
    re.IGNORECASE,
)
"""The subject of a commit says in the imperative what was done."""
_PASTS: Final = {"set": "set", "transfer": "transferred", "drop": "dropped"}
_NONE: Final = re.compile(r"^There(?:'s| is| are) no (.+?) (?:any ?more|any longer)\b", re.IGNORECASE)


def plain(sentence: str) -> str:
    """A sentence without why a value is given, with verbs of one word, and "postponed until" as "postponed to"."""
    said = _UNTIL.sub(r"\1 to", _ASIDE.sub("", _ALL.sub("", sentence)))
    if (commit := _COMMIT.match(said)) is not None:
        verb = commit[1].lower()
        past = _PASTS.get(verb, f"{verb}d" if verb.endswith("e") else f"{verb}ed")
        said = f"We {past}{said[commit.end() :]}"
    if (none := _NONE.match(said)) is not None:
        said = f"The {none[1]} is no longer there{said[none.end() :]}"
    for pattern, word in _PHRASES:
        said = pattern.sub(word, said)
    return said
