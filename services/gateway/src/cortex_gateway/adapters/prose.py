"""Prose: search results that come as a page of text, read into findings. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.findings import MOST, Finding
from cortex_gateway.adapters.nothing import says_nothing
from cortex_gateway.adapters.passage import READ
from cortex_gateway.adapters.place_lines import place_lines
from cortex_gateway.adapters.reading import Reading, number

LINE: Final = 500
"""Characters of a line that are looked at for what it says of its result."""
_BLOCK: Final = re.compile(
    r"^(?:#{1,6}\s+(?=\S)|\[\d{1,3}\]\s*|(?:result|hit|match|source|document|chunk)\s*#?\d{1,3}\b\W*"
    r"|\d{1,3}[.)]\s+(?=\S)|[-=*_]{3,}\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a result begins in a page of text: a heading, a number, a rule."""
_LABEL: Final = re.compile(r"^([A-Z]\w{1,20}(?: \w{1,20})?):[ \t]+\S", re.MULTILINE)
"""How each result of a list without marks begins: `Commit: …`, of git's history."""
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n\s*")
_RULE: Final = re.compile(r"\s*[-=*_]*\s*")
_SAID: Final = re.compile(
    r"^[\s>*-]*(?:\*\*)?(path|file|source|url|uri|score|similarity|relevance|distance|date|updated|modified"
    r"|last[ _]modified|last[ _]seen|timestamp|title)(?:\*\*)?\s*[:=]\s*(?:\*\*)?\s*(.+?)\s*$",
    re.IGNORECASE,
)
_SCORE_INSIDE: Final = re.compile(
    r"[(\[]?\s*\b(score|similarity|relevance|distance)\b\s*[:=]?\s*(-?\d+(?:\.\d+)?)(%?)\s*[)\]]?", re.IGNORECASE
)
_EMPTY: Final = re.compile(r"\(\s*\)|\[\s*\]")
_PATH_INSIDE: Final = re.compile(
    r"(?<![\w/])[\w.@~-]*(?:/[\w.@~-]+)+\.\w{1,8}\b|(?<![\w/.])[\w-]+\.(?:md|txt|ya?ml|json|toml|py)\b"
)


def prose(text: str) -> Reading:
    """The findings of a page of text: one for every heading, number, rule or label that begins a part with something in
    it, or for every file of a list of them; the page itself when it has no parts; none when it says that there is
    nothing."""
    text = text[:READ].strip()
    if says_nothing(text):
        return Reading(())
    if places := place_lines(text):
        return Reading(places)
    labelled = _labelled(text)
    told = [_told(part) for part in (labelled or _parts(text))[:MOST]]
    found = [finding for finding, _ in told if finding is not None]
    distances = [distance for finding, distance in told if finding is not None and finding.score is not None]
    dated = bool(labelled) and any(one.date for one in found)
    if len(found) > 1 and not dated and not any(one.path or one.score is not None for one in found):
        # Headings of one document, not results.
        whole, _ = _told(text)
        found = [whole] if whole is not None else []
    return Reading(found, distance=bool(distances) and all(distances))


def _labelled(text: str) -> list[str]:
    """The text cut where its first label stands again at the beginning of a paragraph; nothing when it does not."""
    first, mark = _LABEL.search(text), _BLOCK.search(text)
    if first is None or (mark is not None and mark.start() < first.start()):
        return []
    label = f"{first[1]}:"
    starts = [first.start()]
    starts += [at for match in _PARAGRAPH.finditer(text, first.end()) if text.startswith(label, at := match.end())]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])] if len(starts) > 1 else []


def _parts(text: str) -> list[str]:
    """The text cut where a result begins. The first mark that is no rule says what results begin with: of a document
    inside of a result, its own headings are no marks."""
    marks = [(match.start(), _kind(match[0])) for match in _BLOCK.finditer(text)]
    kind = next((kind for _, kind in marks if kind != "-"), "-")
    starts = [start for start, other in marks if other == kind]
    if kind == "-":
        starts = [0, *starts]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])] if starts else [text]


def _kind(mark: str) -> str:
    """The level of a heading, a rule, a number in brackets, a number, a word."""
    sign = mark.strip()[:1]
    return mark.strip() if sign == "#" else "-" if sign in "-=*_" else "1" if sign.isdigit() else sign.lower()


def _told(part: str) -> tuple[Finding | None, bool]:
    """A part of a page of text: `path: …`, `score: …` and `date: …` of its lines are taken out of it."""
    said: dict[str, str] = {}
    kept: list[str] = []
    head = ""
    # A heading may be numbered: `### 2. notes.md`.
    for _ in range(2):
        part = part[mark.end() :] if (mark := _BLOCK.match(part)) else part
    lines = part.splitlines()
    while lines and _RULE.fullmatch(lines[-1]):
        lines.pop()
    rule = next((at for at in reversed(range(len(lines))) if lines[at].strip() and _RULE.fullmatch(lines[at])), 0)
    if rule and says_nothing("\n".join(lines[rule:])):
        # Below the last result, about the search: which words were not found.
        del lines[rule:]
    for line in lines:
        if match := _SAID.match(line[:LINE]):
            said.setdefault(match[1].lower().replace(" ", "_"), match[2].strip("*` "))
        elif not head and not kept and line.strip():
            head = line.strip()[:LINE]
        else:
            kept.append(line)
    body = "\n".join(kept).strip()
    score, distance = _score_of(said, head)
    place = _PATH_INSIDE.search(head)
    title = _headline(head if score is None else _SCORE_INSIDE.sub("", head))
    path = next((said[name] for name in ("path", "file", "source", "uri", "url") if name in said), "")
    path = path or (place[0] if place else "")
    # A first line that is no heading is the first sentence.
    headed = part.startswith("#") or place is not None or _SCORE_INSIDE.search(head) is not None
    text = body if headed else f"{head}\n{body}".strip()
    if not text and title in ("", path):
        return None, False
    dates = ("last_seen", "last_modified", "modified", "updated", "date", "timestamp")
    return Finding(
        text=text or title,
        title=said.get("title", title if headed and title != path else ""),
        path=path,
        score=score,
        date=next((when for name in dates if (when := moment(said.get(name))) is not None), None),
    ), distance


def _headline(text: str) -> str:
    """A heading without what surrounds it, and without brackets that hold nothing or have lost their other half."""
    text = _EMPTY.sub("", text).strip(" -—–:*`|")
    for pair in ("()", "[]"):
        if text.count(pair[0]) != text.count(pair[1]) or (text[:1] + text[-1:] == pair and text.count(pair[0]) == 1):
            text = text.strip(pair)
    return text.strip(" -—–:*`|")


def _score_of(said: Mapping[str, str], head: str) -> tuple[float | None, bool]:
    for name in ("score", "similarity", "relevance", "distance"):
        if (value := number(said.get(name, ""))) is not None:
            return value, name == "distance"
    if match := _SCORE_INSIDE.search(head):
        return float(match[2]) / (100 if match[3] else 1), match[1].lower() == "distance"
    return None, False
