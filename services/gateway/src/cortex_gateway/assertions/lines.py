"""Lines: the parts of a text that can state something, each with its place and with what it stands under.

Code, quotations and addresses are taken out; tables become one part for each cell; a heading, the name of a section and
the label before a dash say what the parts after them are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

READ_LIMIT: Final = 2_000
"""Characters of a text that are read."""
MAX_PARTS: Final = 64
MAX_SENTENCE: Final = 280
"""A longer sentence is prose, and is not read."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, or a `key` with its text.

    `under` is the heading, the section or the first cell of the `row`; `label` what stands before a dash or another
    colon; `note` a few words in parentheses.
    """

    text: str
    span: tuple[int, int]
    key: str | None = None
    under: str = ""
    label: str = ""
    note: str = ""
    row: bool = False


_FENCE: Final = re.compile(r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)")
_INLINE: Final = re.compile(r"`([^`\n]{1,200})`")
_QUOTE: Final = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|(?<![\w'])'[^'\n]{3,200}'(?!\w)")
_CODE: Final = re.compile(
    r"^\s*(?:[$#>]\s+\w+ |def |class |return\b|if\s*\(|if .*:\s*$|for .*:\s*$|while .*:\s*$|elif |else:|import |"
    r"from \S+ import|assert |raise |try:|except|const |let |var |function |func |public |private |void |"
    r"echo |sudo |curl |kubectl |docker |git |SELECT |INSERT |UPDATE |print\()"
    r"|==|!=|=>|->\s*\w+:|[{};]\s*$|\w\(\w*[),]|&&|\|\||\+=|:="
)
_SENTENCE: Final = re.compile(r"(?<=[.!?؟;؛])[\"')\]]?\s+")
_ABBREVIATED: Final = (
    "Dr.",
    "Mr.",
    "Ms.",
    "St.",
    "No.",
    "Mrs.",
    "vs.",
    "e.g.",
    "i.e.",
    "Prof.",
    "approx.",
    "ca.",
    "د.",
)
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s+(?P<mark>.+?)\s*#*|\[(?P<section>[\w .:/-]{1,60})\])\s*$")
_BULLET: Final = re.compile(r"\s*(?:(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s?)+(?:\[[ xX]\]\s+)?|\[[xX]\]\s+)")
_EMPHASIS: Final = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|\[\[|\]\]")
_PAIR: Final = re.compile(r"\s*[\"']?(?P<key>[^\s:=|{}][^:=|{}]{0,60}?)[\"']?\s*(?P<sign>:|=|→|=>)\s*(?P<value>\S.*)$")
_DASH: Final = re.compile(r"\s+[—–]\s*|\s*[—–]\s+|\s+-\s+")
_PARENTHESIS: Final = re.compile(r"\s*\(([^()]{2,160})\)")
_JSON: Final = re.compile(r"\"([^\"]{1,60})\"\s*:\s*(\"[^\"]{1,80}\"|[\w.+-]{1,40})")
_PINNED: Final = re.compile(r"(?<=\w)==(?=\d)")
_EXPORT: Final = re.compile(r"^\s*(?:export|ENV|set -x|declare -x)\s+(?=\w+=)")
_RULE: Final = re.compile(r"^[\s|:-]+$")
_QUOTED_VALUE: Final = re.compile(r"[\"'“«]([^\"'”»]{1,80})[\"'”»][,;]?$")
_CLOCKED: Final = re.compile(r"\d:\d|.://")
_NOTE: Final = re.compile(r"[^\W\d_][\w-]*(?: [^\W\d_][\w-]*){0,3}")


def parts(text: str) -> Iterator[Part]:
    """The parts of the first `READ_LIMIT` characters of `text`, in order, at most `MAX_PARTS` times two."""
    text = text[:READ_LIMIT]
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    under, start, given, columnar = "", 0, 0, False
    table: list[tuple[list[str], tuple[int, int]]] = []
    lines = text.split("\n")
    columns = _delimiter(lines)
    for line in lines:
        span = (start, start + len(line))
        start += len(line) + 1
        if given > MAX_PARTS:
            return
        if columns is not None:
            cells = [cell.strip() for cell in columns.split(line.strip())]
            if len(cells) > 1 or not line.strip():
                table.append((cells, span))
                continue
        if line.count("|") >= 2 and line.strip().startswith("|"):
            if not _RULE.match(line):
                table.append(([_bare(cell) for cell in line.strip().strip("|").split("|")], span))
            continue
        if not columnar:
            yield from _cells(table)
            table = []
        if not line.strip():
            columnar = False
            continue
        gaps = _GAP.split(line.strip())
        if len(gaps) > 1 and line.isupper():
            yield from _cells(table)
            table, columnar = [(gaps, span)], True
            continue
        if columnar and len(gaps) == len(table[0][0]):
            table.append((gaps, span))
            continue
        columnar = False
        if line.lstrip()[:1] == "●":
            under = line.lstrip(" ●").split(" ")[0]
            continue
        if (heading := _HEADING.match(line)) is not None:
            under = _bare(heading["mark"] or heading["section"])
            continue
        for part in _line(line, span, under):
            given += 1
            if part.key is not None and part.key.strip().casefold() in _NAMING and not part.under:
                under = part.text
                continue
            yield part
    yield from _cells(table)


_NAMING: Final = frozenset(
    "name service host device hostname project server component الاسم الخدمه الخدمة الجهاز الخادم المشروع".split()
)
"""Keys whose value says what the lines after it are about."""


def _delimiter(lines: list[str]) -> re.Pattern[str] | None:
    """What separates the columns of a text that is one table without rules: commas, tabs or wide gaps."""
    full = [line for line in lines if line.strip()]
    if len(full) < 2:
        return None
    for sign, pattern in ((",", _COMMA), ("\t", _TAB), (";", _SEMICOLON)):
        counts = {line.count(sign) for line in full}
        if len(counts) == 1 and counts != {0} and not any(f"{sign} " in line for line in full):
            return pattern
    counts = {len(_GAP.split(line.strip())) for line in full}
    return _GAP if len(counts) == 1 and counts != {1} else None


_COMMA: Final = re.compile(",")
_TAB: Final = re.compile(r"\t+")
_SEMICOLON: Final = re.compile(";")
_GAP: Final = re.compile(r" {2,}|\t+")


def _cells(table: list[tuple[list[str], tuple[int, int]]]) -> Iterator[Part]:
    """Each cell as a part: its column is the key, the row's first cell what it is about."""
    if not table:
        return
    head, *rows = table
    if len(head[0]) == 2 and not rows:
        yield Part(head[0][1], head[1], head[0][0])
        return
    for cells, span in rows[:MAX_PARTS]:
        for name, cell in list(zip(head[0], cells, strict=False))[1:12]:
            if cell and name:
                yield Part(_bare(cell), span, _bare(name), _bare(cells[0]), row=True)


def _line(line: str, span: tuple[int, int], under: str) -> Iterator[Part]:
    if _INLINE.search(line):
        line = _INLINE.sub(lambda found: found[1] if _plain(found[1]) else " … ", line)
    if line.lstrip()[:1] in "{[" and (pairs := _JSON.findall(line)):
        for name, value in pairs[:16]:
            yield Part(value.strip('"'), span, name, under)
        return
    line = _PINNED.sub(" version ", _EXPORT.sub("", line)) if "=" in line else line
    if _CODE.search(line):
        return
    line = _BULLET.sub("", line, count=1) if line[:1] in " -*+•>[0123456789\t" else line
    if "*" in line or "_" in line or "[" in line:
        line = _EMPHASIS.sub("", line)
    if '"' in line or "“" in line or "«" in line or "'" in line:
        pair = _PAIR.match(line)
        quoted = _QUOTED_VALUE.match(pair["value"].strip()) if pair else None
        if pair and quoted:
            line = f"{pair['key']}: {quoted[1]}"
        elif pair and line.lstrip()[:1] in "\"'":
            line = f"{pair['key']}: {pair['value'].rstrip(',')}"
        else:
            line = _QUOTE.sub(lambda found: found[0][1:-1] if " " not in found[0] else " … ", line)
    if ("?" in line or "؟" in line) and (answered := _ANSWERED.fullmatch(line)) is not None:
        yield Part(answered[2], span, answered[1], under)
        return
    if ("=" in line or ": " in line) and (several := _several(line)):
        for key, value in several:
            yield Part(value, span, key, under)
        return
    for sentence in _sentences(line):
        if len(sentence) <= MAX_SENTENCE and sentence.strip(" .;"):
            yield from _sentence(sentence.strip().rstrip(".!;؛"), span, under)


def _several(line: str) -> list[tuple[str, str]]:
    """The pairs of a line that has more than one: "a=1 b=2", "Severity: low / Component: bus"."""
    pairs = _ASSIGNED.findall(line)
    if len(pairs) > 1 and not _ASSIGNED.sub("", line).strip(" ,;"):
        return pairs
    parts = _SLASHES.split(line)
    found = [match for part in parts if (match := _KEYED.fullmatch(part.strip())) is not None]
    return [(match[1], match[2]) for match in found] if len(parts) > 1 and len(found) == len(parts) else []


_INITIAL: Final = re.compile(r"(?:^|\s)[A-Z]\.$")
_ASSIGNED: Final = re.compile(r"([\w.-]+)=(\S+)")
_SLASHES: Final = re.compile(r" [/|] |; ")
_KEYED: Final = re.compile(r"([^:]{2,40}): ([^:]{1,60})")
_ANSWERED: Final = re.compile(r"(?:Is |Are |Does |Do |Has |Have |هل )?(.{3,60}?)[?؟]\s+(yes|no|Yes|No|نعم|لا)\.?")


def _sentences(line: str) -> list[str]:
    found = _SENTENCE.split(line) if " " in line else [line]
    for at in range(len(found) - 2, -1, -1):
        if found[at].endswith(_ABBREVIATED) or _INITIAL.search(found[at]):
            found[at : at + 2] = [f"{found[at]} {found[at + 1]}"]
    return found


def _plain(code: str) -> bool:
    """Whether inline code is a name or a value, not an expression."""
    return re.fullmatch(r"[\w.\-/@:]+(?: [\w.\-]+)?|[\w.-]+ ?[=:] ?[\w.-]+", code) is not None


def _sentence(sentence: str, span: tuple[int, int], under: str) -> Iterator[Part]:
    note = ""
    if "(" in sentence:
        for inner in _PARENTHESIS.findall(sentence):
            if _NOTE.fullmatch(inner):
                note = inner
            else:
                yield from _sentence(inner, span, under)
        sentence = _PARENTHESIS.sub(" ", sentence).strip()
        if not sentence:
            return
    label, rest = "", sentence
    pair = _pair(sentence)
    if pair is not None:
        label, key = _labelled(pair[0])
        nested = _pair(pair[1])
        if (
            nested is not None
            and len(nested[0].split()) <= 3
            and len(pair[1]) < 80
            and (": " in pair[1] or "=" in pair[1])
        ):
            yield Part(nested[1], span, nested[0], under, label=f"{label} {key}".strip(), note=note)
        else:
            yield Part(pair[1], span, key, under, label=label, note=note)
        return
    label, rest = _labelled(sentence)
    yield Part(rest, span, None, under, label=label, note=note)


def _pair(sentence: str) -> tuple[str, str] | None:
    """Key and value, unless the colon stands in a time or an address."""
    if ":" not in sentence and "=" not in sentence and "→" not in sentence:
        return None
    found = _PAIR.match(sentence)
    if found is None or _CLOCKED.match(sentence[max(0, found.start("sign") - 1) :]) or "://" in found[0][:12]:
        return None
    return found["key"].strip(), found["value"].strip()


def _labelled(text: str) -> tuple[str, str]:
    """What stands before a dash, and what behind it."""
    if not any(dash in text for dash in ("—", "–", " - ")):
        return "", text
    head, *tail = _DASH.split(text, maxsplit=1)
    return (head.strip(), tail[0].strip()) if tail and head.strip() and tail[0].strip() else ("", text)


def _bare(text: str) -> str:
    return _EMPHASIS.sub("", text.replace("`", "")).strip()
