"""The text of a page: what its bytes say, in characters that can be stored."""

from __future__ import annotations

import codecs
import re
from typing import Final

from cortex_ingest.errors import UnreadablePage

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

# UTF-32 first: its mark starts with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\f\r\x1b")) + b"\x7f"

BINARY_SHARE: Final = 0.1
"""Text has fewer characters than this that are none; what has more is data."""
FEW_NULS: Final = 16
"""So many never make a text binary: short notes have a stray one."""


def decode(content: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file with the line ends that it has, and what had to be mended; a byte order mark is no text.

    Raises:
        UnreadablePage: it is binary data.
    """
    text, problems = _decoded(content)
    nuls = text.count("\x00")
    if nuls > max(FEW_NULS, len(text) * BINARY_SHARE):
        raise UnreadablePage("expected text, got binary data")
    if nuls:
        problems += (f"expected text, got {nuls} NUL character{'s' if nuls > 1 else ''}; replaced by {REPLACEMENT}",)
    return storable(text), problems


def storable(text: str) -> str:
    """`text` with U+FFFD for what PostgreSQL does not store: NUL and lone surrogates."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def unix_lines(text: str) -> str:
    """`text` with `\\n` for every line end of Markdown."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def _decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), ()
            except UnicodeDecodeError as error:
                problem = f"expected text in {encoding.upper()}, byte {error.start} is not; such bytes were replaced"
                return content.decode(encoding, "replace"), (problem,)
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        problem = f"expected text in UTF-8, byte {error.start} is not"
    if len(content) - len(content.translate(None, _CONTROLS)) > len(content) * BINARY_SHARE:
        raise UnreadablePage("expected text, got binary data")
    mended = content.decode("utf-8-sig", "replace")
    if any(char > "\x7f" and char != REPLACEMENT for char in mended):
        return mended, (f"{problem}; such bytes were replaced",)
    # Nothing in it is UTF-8 beyond ASCII: an old Windows file. Latin-1 has a character for the bytes free there.
    try:
        return content.decode("cp1252"), (f"{problem}; it was read as Windows-1252",)
    except UnicodeDecodeError:
        return content.decode("latin-1"), (f"{problem}; it was read as Latin-1",)
