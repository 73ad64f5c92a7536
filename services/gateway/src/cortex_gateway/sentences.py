"""The sentences of a snippet: whole ones, in plain text, with what they stand under. Pure functions.

A snippet is a piece of markdown, code, output of a tool or plain prose, perhaps put on one line and perhaps cut at both
ends with an ellipsis. Paragraphs are split where a sentence ends: a sign with a gap behind it, but for abbreviations,
initials, versions, addresses and names of files. An item of a list, a row of a table and a line `key: value` are a
sentence each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from cortex_gateway.plain_text import bare, behind, clean, unmarked

CACHED: Final = 1_024
"""Snippets whose sentences are kept: the same hits come again and again. A few KB each."""
LONG_LINE: Final = 60
"""A line at least as long that ends in the middle of a sentence was broken for its length."""

_END: Final = re.compile(
    r"[.!?؟…。！？](?:(?<=[.!?؟…])(?<![.!?؟…]{2})[.!?؟…]*[\"'”’»)\]*_]*(?:\s+|$)|(?<=[。！？])[。！？]*[」』”]*)"
)
"""Begins with its signs, and only then looks what they are: a text is searched for them three times as fast."""
_SAYING: Final = re.compile(r"[^\W_]")
LONGEST_ABBREVIATION: Final = 7
"""Letters before its last dot, the gap before it included: `approx`."""
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_ALWAYS: Final = frozenset(
    "mr mrs ms dr prof st jr sr vs inc ltd co corp dept gen gov sen rep rev hon col capt lt sgt approx est incl excl "
    "resp cf viz ca al".split()
)
_BEFORE_NUMBERS: Final = frozenset(
    "no nos nr fig figs eq sec ch vol p pp art ver v min max tel ext jan feb mar apr may jun jul aug sep sept oct nov "
    "dec".split()
)
PAIRS_LENGTH: Final = 160
"""Characters of the lines `key: value` that are read as one."""
_CUT: Final = "….\u00a0 "
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(\S.*?)(?:\s#+)?\s*$")
_UNDERLINE: Final = re.compile(r"\s{0,3}(?:=+|-{3,})\s*$")
_RULE: Final = re.compile(r"\s{0,3}(?:[-*_]\s*){3,}$")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_PAIR: Final = re.compile(r"[^\W_][\w .()/'-]{0,40}:\s+\S")
_TABLE_RULE: Final = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?|\|\s*:?-{2,}:?\s*\|")
_FLAT_MARK: Final = re.compile(r"\s(?=#{1,6}\s|[*•]\s)|\s(?=>\s)")
_FLAT_ITEM: Final = re.compile(r"(?:^|\s)-\s(?=\S)")
_SPEAKER: Final = re.compile(r"^(?:q|question|a|answer|س|ج|سؤال|جواب)\s*:\s+", re.IGNORECASE)
_MARKS: Final = re.compile(r"^(?:[-*>#•+]+\s+)+")
HEADING_WORDS: Final = 10
"""A longer line behind `#` is a text that was put on one line."""


class Form(StrEnum):
    """What a unit of text is."""

    SENTENCE = "sentence"
    QUESTION = "question"
    PAIR = "pair"
    """`key: value`, a row of a table."""
    HEADING = "heading"
    ITEM = "item"
    CODE = "code"
    FRAGMENT = "fragment"
    """The snippet was cut inside it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence in plain text without its last stop, and the heading or question that it stands under."""

    text: str
    form: Form
    under: str = ""


@lru_cache(CACHED)
def units(snippet: str) -> tuple[Unit, ...]:
    """The units of `snippet` in their order; none for a text without a letter or digit."""
    found: list[Unit] = []
    text = clean(snippet).strip()
    heading = lead = asked = ""
    for form, block in _blocks(text):
        if form is Form.HEADING:
            heading, lead = bare(unmarked(block)), ""
            if heading:
                found.append(Unit(heading, Form.HEADING))
            continue
        lead = lead if form is Form.ITEM else ""
        line = unmarked(block)
        for part in [line] if form in (Form.CODE, Form.PAIR) else split(line):
            said = behind(_SPEAKER, behind(_MARKS, part))
            unit = Unit(bare(said), _form(said, form), asked or lead or heading)
            asked = ""
            if not _SAYING.search(unit.text):
                continue
            found.append(unit)
            if unit.form is Form.QUESTION:
                asked = said
            elif unit.form is Form.HEADING:
                lead = unit.text
    return tuple(_cut_at_the_ends(found, text))


def split(text: str) -> Iterator[str]:
    """The sentences of one paragraph, as they stand."""
    start = 0
    for end in (*ends(text), len(text)):
        if said := text[start:end].strip():
            yield said
        start = end


def ends(text: str) -> Iterator[int]:
    """Where a sentence of one paragraph ends, its gap included. That depends on what is before the end and on the first
    character behind the gap, on nothing else."""
    start = 0
    for end in _END.finditer(text):
        at, behind = end.start(), end.end()
        following = text[behind : behind + 1]
        # Nearly every end is that of a long word before a capital.
        plainly = following.isupper() and at - text.rfind(" ", start, at) > LONGEST_ABBREVIATION
        if plainly or not following or not _goes_on(text[start:at], end.group(), following):
            yield behind
            start = behind


def _goes_on(before: str, end: str, following: str) -> bool:
    if end[0] in "。！？":
        return False
    if following.islower() or following in ",;:،؛":
        return True
    if end.strip() in ("…", "...") and before.rfind("(") > before.rfind(")"):
        return True  # from … to
    if end.strip() not in (".", ".)"):
        return False
    word = before.rsplit(None, 1)[-1] if before.strip() else ""
    word = word.lstrip("(\"'“‘«[*_").casefold()
    if not word:
        return True
    if len(word) == 1 and word.isalpha():  # an initial, or د. and م. before a name
        return word != "i"
    if word in _ALWAYS or _DOTTED.fullmatch(word):
        return True
    return word in _BEFORE_NUMBERS and following.isdigit()


def _form(said: str, form: Form) -> Form:
    if form in (Form.CODE, Form.PAIR):
        return form
    ending = said.rstrip("\"'”’»)")[-1:]
    if ending and ending in "?؟？":
        return Form.QUESTION
    if ending == ":":  # it leads to what follows
        return Form.HEADING
    return Form.PAIR if ":" in said and _PAIR.match(said) and len(said.split()) < 12 else Form.SENTENCE


def _cut_at_the_ends(found: list[Unit], text: str) -> list[Unit]:
    """Mark what the snippet was cut in: behind an ellipsis at its beginning, before one at its end."""
    if found and text.startswith(("…", "...")):
        found[0] = Unit(found[0].text.lstrip(_CUT), Form.FRAGMENT, found[0].under)
    if found and text.endswith(("…", "...")) and found[-1].form is not Form.FRAGMENT:
        found[-1] = Unit(found[-1].text.rstrip(_CUT), Form.FRAGMENT, found[-1].under)
    return [unit for unit in found if _SAYING.search(unit.text)]


def _blocks(text: str) -> Iterator[tuple[Form, str]]:
    """Paragraphs, items, rows, headings and code of a markdown text, each on one line."""
    if "\n" not in text:
        yield from _flat(text)
        return
    lines = text.split("\n")
    block: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at].lstrip("> ") if lines[at].lstrip().startswith(">") else lines[at]
        at += 1
        special = not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line)
        table = not special and "|" in line and (line.lstrip().startswith("|") or _is_rule(lines, at))
        underline = block and _UNDERLINE.match(line)
        rule = _RULE.match(line)
        if block and (special or table or underline or rule or not _continues(block[-1], line)):
            yield (Form.HEADING if underline else Form.SENTENCE), " ".join(block)
            block = []
        if underline or rule or not line.strip():
            continue
        if fence := _FENCE.match(line):
            end = next((n for n in range(at, len(lines)) if lines[n].strip().startswith(fence[1])), len(lines))
            yield Form.CODE, " ".join(" ".join(lines[at:end]).split())
            at = end + 1
        elif heading := _HEADING.match(line):
            yield from _headed(heading[1])
        elif table:
            end = next((n for n in range(at, len(lines)) if "|" not in lines[n]), len(lines))
            yield from _rows(lines[at - 1 : end])
            at = end
        else:
            pairs = list(_pairs(lines, at - 1))
            if len(pairs) > 1:
                yield Form.PAIR, ", ".join(pairs)
                at += len(pairs) - 1
                continue
            item = _ITEM.match(line) is not None
            block = [behind(_ITEM, line).strip()]
            while at < len(lines) and lines[at].strip() and _continues(block[-1], lines[at]):
                block.append(lines[at].strip())
                at += 1
            if item:
                yield Form.ITEM, " ".join(block)
                block = []
    if block:
        yield Form.SENTENCE, " ".join(block)


def _pairs(lines: list[str], at: int) -> Iterator[str]:
    """The short lines `key: value` from `at` on: together they are about one thing."""
    length = 0
    for line in lines[at:]:
        length += len(line)
        if length > PAIRS_LENGTH or line[:1].isspace() or not _PAIR.match(line) or len(list(split(line))) > 1:
            return
        yield line.strip().rstrip(",;")


def _continues(line: str, following: str) -> bool:
    """Whether a sentence goes on in the next line."""
    bare = following.strip()
    if _ITEM.match(following) or _HEADING.match(following) or _FENCE.match(following) or bare.startswith(("|", ">")):
        return False
    if _UNDERLINE.match(following) or _RULE.match(following) or _PAIR.match(bare):
        return False
    if len(line) >= LONG_LINE:
        return True
    return bare[:1].islower() and line.rstrip()[-1:] not in ".!?؟…:"


def _headed(text: str) -> Iterator[tuple[Form, str]]:
    if len(text.split()) <= HEADING_WORDS and len(list(split(text))) == 1:
        yield Form.HEADING, text
    else:
        yield from _flat(text)


def _flat(line: str) -> Iterator[tuple[Form, str]]:
    """The blocks of a text that was put on one line: where its headings and items began can be told, not where they
    ended."""
    if "|" in line and (rule := _TABLE_RULE.search(line)):
        yield from _flat_table(line, rule)
        return
    if "```" in line:
        for number, part in enumerate(line.split("```")):
            if part.strip():
                yield from ([(Form.CODE, part.strip())] if number % 2 else _flat(part))
        return
    for part in _FLAT_MARK.split(line):
        items = _FLAT_ITEM.split(part) if part.startswith("- ") or ": - " in part else [part]
        for number, item in enumerate(items):
            if item.strip():
                yield (Form.ITEM if number else Form.SENTENCE), item.strip()


def _flat_table(line: str, rule: re.Match[str]) -> Iterator[tuple[Form, str]]:
    width = len(re.findall(r"-{2,}", rule.group()))
    before, after = line[: rule.start()].rstrip(" |"), line[rule.end() :].strip()
    head = [cell.strip() for cell in before.split("|")]
    names = head[-width:]
    if prose := " ".join(head[:-width]).strip():
        yield Form.SENTENCE, prose
    cells = [cell.strip() for cell in after.strip("|").split("|")]
    while cells:
        row, cells = cells[:width], cells[width:]
        cells = cells[1:] if cells and not cells[0] else cells
        yield Form.PAIR, _row(names, row)


def _is_rule(lines: list[str], at: int) -> bool:
    return at < len(lines) and bool(_TABLE_RULE.fullmatch(lines[at].strip()))


def _rows(lines: list[str]) -> Iterator[tuple[Form, str]]:
    """The rows of a table, each cell behind its name where the table has a head."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if not _is_rule([line], 0)]
    names: list[str] = []
    if len(lines) > 1 and _is_rule(lines, 1) and rows:
        names, rows = rows[0], rows[1:]
    for row in rows:
        yield Form.PAIR, _row(names, row)


def _row(names: list[str], row: list[str]) -> str:
    named = zip([*names, *[""] * len(row)], row, strict=False)
    return ", ".join(f"{name} {cell}" if name else cell for name, cell in named if cell)
