"""Contexts: what somebody claims in the text that goes along with a question.

Such a text is not written to be remembered. What is quoted, shown as code, listed under a heading, supposed, or said
by a program is nobody's claim; what is left is read sentence by sentence. Precision first: what is unclear is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from cortex_decision.clauses import sentences
from cortex_decision.folding import fold

MAX_CLAIMS: Final = 60
"""Sentences that are read, the first of a text: about 20 ms each against twenty memories."""
MAX_CHARS: Final = 300
"""Of one sentence: a longer one is prose, which no rule compares."""

PROGRAMS: Final = frozenset("assistant ai bot system tool function developer claude cortex المساعد النظام".split())
"""Who is nobody: memory must not be corrected by what a model or a program says."""
ASKERS: Final = frozenset("user human me المستخدم انا".split())
"""Labels of whoever asks; no name of a speaker."""

_LABEL: Final = re.compile(r"^\s*(?:\*\*|\[)?([^\W\d_][\w .'-]{0,38}?)(?:\*\*|\])?\s*:(?:\*\*)?\s+(?=\S)")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_NOT_SAID: Final = re.compile(r"^(?:\s*(?:>|#|\||<|\$ |\+\+\+|---|@@)| {4,}|\t)")
_ITEM: Final = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_QUOTED: Final = re.compile(r"[\"“”„«»]|(?<!\w)['‘`](?=\S)")
_ENDED: Final = re.compile(r"[.!?؟:;؛…]\W*$")
_BEGINS: Final = re.compile(r"^\s*(?:$|[^\W\d_a-z\u0621-\u064a])")
"""A line that does not go on with the one before it: it is empty, or begins with a capital."""
_CUT_OUT: Final = re.compile(r"\[(?:private|redacted:[a-z-]+)\]")
_SUPPOSED: Final = re.compile(
    r"^\W*(?:suppose|supposing|imagine|assume|assuming|pretend|say|let's say|consider|what if|if|e\.g\.|for example|"
    r"for instance|example|hypothetically|draft|write|translate|in the story|in the example|افترض|لنفترض|تخيل|تخيّل|"
    r"لو|إذا|اذا|مثلا|مثلًا|مثال|على سبيل المثال|ترجم|اكتب)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that somebody says of how things are; `speaker` is none: whoever asks."""

    text: str
    speaker: str | None = None


def claims(context: str, speakers: Collection[str] = ()) -> tuple[Claim, ...]:
    """What is claimed in a context (redacted text), in its order, each once, at most `MAX_CLAIMS`. `speakers` are names
    that a line may begin with ("Mira: …"); other words before a colon belong to the sentence."""
    names = {fold(name): name for name in speakers}
    found: dict[Claim, None] = {}
    for claim in _claims(context, names):
        found.setdefault(claim)
        if len(found) == MAX_CLAIMS:
            break
    return tuple(found)


def _claims(context: str, names: dict[str, str]) -> Iterator[Claim]:
    paragraph, supposed = -1, False
    for text, speaker, number in _spoken(context, names):
        supposed = supposed and number == paragraph
        paragraph = number
        for sentence in sentences(text):
            said = sentence.strip()
            # What follows upon a supposition is part of it.
            supposed = supposed or _SUPPOSED.match(said) is not None
            if not supposed and _is_plain(said):
                yield Claim(said, speaker)


def _spoken(context: str, names: dict[str, str]) -> Iterator[tuple[str, str | None, int]]:
    """What people say: each line, with those that it was wrapped into, its speaker, and which paragraph it is of."""
    speaker: str | None = None
    silent = fenced = headed = False
    paragraph, waiting = 0, ""
    for line in [*context.splitlines(), ""]:
        text = line
        label = None if fenced else _LABEL.match(line)
        known, who = _named(label[1], names) if label is not None else (False, None)
        item = _ITEM.match(text)
        fence = _FENCE.match(line) is not None
        goes_on = waiting and not (known or item or fence or fenced or _ENDED.search(waiting) or _BEGINS.match(line))
        if waiting and not goes_on:
            yield waiting, speaker, paragraph
            waiting = ""
        if label is not None and known:
            speaker, silent, headed, paragraph = who, fold(label[1]) in PROGRAMS, False, paragraph + 1
            text = line[label.end() :]
            item = _ITEM.match(text)
        if fence:
            fenced = not fenced
        elif not line.strip():
            paragraph += 1
        elif not (fenced or silent or (item and headed) or (_NOT_SAID.match(text) and not goes_on)):
            own = text[item.end() :] if item else text
            waiting = f"{waiting} {own.strip()}" if goes_on else own
        if text.strip() and not fenced and not (item and headed):
            # What is listed below a line that ends so, it says: a plan, an example, an order.
            headed = text.rstrip().endswith((":", "："))


def _named(label: str, names: dict[str, str]) -> tuple[bool, str | None]:
    """Whether the words before a colon say who speaks, and who does."""
    key = fold(label.strip())
    if key in PROGRAMS or key in ASKERS:
        return True, None
    return key in names, names.get(key)


def _is_plain(sentence: str) -> bool:
    return len(sentence) <= MAX_CHARS and not (
        _QUOTED.search(sentence) or _CUT_OUT.search(sentence) or sentence.endswith(("?", "؟", ":"))
    )
