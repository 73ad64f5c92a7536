"""Text that others wrote as one line of plain text: no markdown, nothing unseen, and nothing that looks like a receipt.

Pure functions; no text is interpreted further than the marks of markdown and HTML that people write into notes.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import Final

SENTENCE_LENGTH: Final = 400
"""Characters of one sentence of an answer: of about 65 words of English, which few sentences have more than."""

_TRAILING: Final = " .!?؟:;,،؛。！？"
_UNSEEN_ORDINALS: Final = (
    *range(0x202A, 0x202F),  # embeddings and overrides of writing direction
    *range(0x2066, 0x206A),  # isolates
    *range(0x2060, 0x2065),  # word joiner, invisible operators
    *range(0xFFF9, 0xFFFC),  # interlinear annotation
    *range(0xD800, 0xE000),  # halves of a character, as JSON may have them: no UTF-8 can hold one
    *range(0xE0000, 0xE0080),  # tags: ASCII that nobody sees
    0x00AD,  # soft hyphen
    0x180E,
    0x200B,
    0xFEFF,
)
_CLEAN: Final = {code: " " for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc" and code != 0x0A} | {
    **dict.fromkeys(_UNSEEN_ORDINALS, ""),
    0x2028: "\n",
    0x2029: "\n",
    0x0B: "\n",
    0x0C: "\n",
    0x0D: "\n",
    0x85: "\n",
}

_UNSEEN: Final = r"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]*"
_RECEIPT: Final = re.compile(rf"[\[［]({_UNSEEN}[rｒ]{_UNSEEN}\d[\d\s\u200b-\u200f\u00ad\ufeff]*)[\]］]", re.IGNORECASE)
_WIKILINK: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_LINK: Final = re.compile(r"!?\[([^\[\]]+)\](?:\([^()\s]*(?:\s\"[^\"]*\")?\)|\[[^\[\]]*\])")
_FOOTNOTE: Final = re.compile(r"\[\^[^\[\]]{1,40}\]")
_STRUCK: Final = re.compile(r"~~[^~]{1,400}~~")
_BOLD: Final = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*|\*\*")
_STARRED: Final = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")
_UNDERLINED: Final = re.compile(r"(?<!\w)(__?)([^\s_][^_\n]* [^_\n]*[^\s_])\1(?!\w)")
_TAG: Final = re.compile(
    r"<!--.*?-->|</?(?:a|b|br|code|dd|details|div|dl|dt|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|sub|summary|sup|"
    r"table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE | re.DOTALL,
)
_LINE_MARKS: Final = re.compile(r"^(?:\s|[#>*+|•-]+(?=\s|$)|\d{1,3}[.)]\s|\[[ xX]\]\s)+")
_TABLE_RULE: Final = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+")
_TABLE_CELL: Final = re.compile(r"\s*\|[\s|]*")


def clean(text: str) -> str:
    """`text` without what is not seen: control characters and marks of writing direction; lines end in `\\n`."""
    if text.isprintable() or text.replace("\n", "").isprintable():  # nothing that is left out is
        return text
    return text.replace("\r\n", "\n").translate(_CLEAN)


def plain(text: str) -> str:
    """`text` as one plain line, without the punctuation at its end."""
    return bare(sentence(text))


def bare(text: str) -> str:
    """`text` without the punctuation at its end."""
    return text.rstrip(_TRAILING)


def sentence(text: str) -> str:
    """`text` as one plain line."""
    return unmarked(clean(text))


def unmarked(kept: str) -> str:
    """A text that is `clean` as one plain line."""
    if "[" in kept or "［" in kept:
        kept = _FOOTNOTE.sub("", _LINK.sub(r"\1", _WIKILINK.sub(r"\1", kept)))
    if "*" in kept:
        kept = _STARRED.sub(r"\1", _BOLD.sub("", kept))
    if "_" in kept:
        kept = _UNDERLINED.sub(r"\2", kept)
    if "~~" in kept:  # what was struck out is not said any more
        kept = _STRUCK.sub("", kept)
    if "<" in kept:
        kept = _TAG.sub(" ", kept)
    if "|" in kept:  # a row of a table reads as a list
        kept = _TABLE_CELL.sub(", ", _TABLE_RULE.sub(" ", kept)).strip(", ")
    # A snippet may end inside a link.
    kept = kept.replace("`", "").replace('"""', "").replace("[[", "").replace("]]", "")
    return disarmed(" ".join(behind(_LINE_MARKS, kept).split()))


def behind(mark: re.Pattern[str], text: str) -> str:
    """`text` without what `mark` matches at its beginning; `sub` would look for it in all of the text."""
    found = mark.match(text)
    return text[found.end() :] if found else text


def disarmed(text: str) -> str:
    """`text` in which nothing looks like a receipt: `[r1]` is `(r1)`."""
    return _RECEIPT.sub(r"(\1)", text) if "[" in text or "［" in text else text


def short(text: str, length: int = SENTENCE_LENGTH) -> str:
    """`text` in at most `length` characters: cut after a clause when that keeps most of it, else after a word, with
    an ellipsis; empty when its first word alone is too long."""
    if len(text) <= length:
        return text
    clause = max(text.rfind(sign, 0, length - 1) for sign in ("; ", ", ", "؛ ", "، ", " – ", " — ", " ("))
    if clause > length * 0.6:
        return f"{text[:clause].rstrip(' ,;–—')} …"
    cut = textwrap.shorten(text, length, placeholder=" …", break_long_words=False, break_on_hyphens=False)
    return cut if len(cut) <= length and cut != "…" else ""
