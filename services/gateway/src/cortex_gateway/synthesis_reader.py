"""What a model writes, read as sentences while it comes. Pure; no I/O.

A sentence is whole when the next one has begun, since receipts may stand behind its stop. Thinking that a model shows
in spite of being asked not to (`<think>…</think>`) is left out.
"""

from __future__ import annotations

import re
from typing import Final

from cortex_gateway.sentences import ends, split

MAX_UNFINISHED: Final = 2_000
"""Characters that go on without a sentence's end; then it is none."""

_OPENED: Final = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSED: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAG_TO_COME: Final = re.compile(r"</?[a-z]{0,8}$", re.IGNORECASE)
_LONGEST_TAG: Final = len("</thinking>")
_LATE_RECEIPTS: Final = re.compile(r"([.!?؟。！？…]+[\"'”’»)]*)[ \t]*((?:[\[【][^\[\]【】\n]{1,60}[\]】][ \t]*)+)")
_BETWEEN_RECEIPTS: Final = re.compile(r"(?<=[\]】])\s+(?=[\[【])")


class SentenceReader:
    """Takes pieces in and gives sentences out, each with its receipts before its stop."""

    def __init__(self) -> None:
        self._raw = ""
        """What may be part of a tag."""
        self._text = ""
        self._thinking = False

    def feed(self, piece: str) -> list[str]:
        """The sentences that are whole now."""
        self._take(piece)
        found: list[str] = []
        while (end := self._end()) is not None:
            if said := _joined(self._text[:end]):
                found.append(said)
            self._text = self._text[end:]
        if len(self._text) > MAX_UNFINISHED:
            found.append(self._text)
            self._text = ""
        return found

    def finish(self) -> list[str]:
        """The rest, where the model ended by itself."""
        text = _ordered(self._text + ("" if self._thinking else self._raw))
        self._raw = self._text = ""
        return [_joined(said) for line in text.split("\n") for said in split(line)]

    def _take(self, piece: str) -> None:
        """Move what is not thinking, and cannot be part of a tag, into the text."""
        self._raw += piece
        while True:
            closed = _CLOSED.search(self._raw)
            if closed and not self._thinking and not _OPENED.search(self._raw, 0, closed.start()):
                # Some templates of prompts hold the tag that opens: then all so far was thinking.
                self._text = ""
                self._raw = self._raw[closed.end() :]
            elif self._thinking:
                if closed is None:
                    self._raw = self._raw[-_LONGEST_TAG:]
                    return
                self._raw = self._raw[closed.end() :]
                self._thinking = False
            elif opened := _OPENED.search(self._raw):
                self._text += self._raw[: opened.start()]
                self._raw = self._raw[opened.end() :]
                self._thinking = True
            else:
                to_come = _TAG_TO_COME.search(self._raw)
                certain = to_come.start() if to_come else len(self._raw)
                self._text = _ordered(self._text + self._raw[:certain])
                self._raw = self._raw[certain:]
                return

    def _end(self) -> int | None:
        """Where the first sentence of the text ends, if another one has begun behind it."""
        line, newline, _ = self._text.partition("\n")
        found = next(ends(line), len(line))
        end = found if found < len(line) else len(line) + 1 if newline else None
        if end is None:
            return None
        following = self._text[end:].lstrip()
        return end if following and following[0] not in "[【.!?؟…。！？" else None


def _joined(sentence: str) -> str:
    return _BETWEEN_RECEIPTS.sub("", " ".join(sentence.split()))


def _ordered(text: str) -> str:
    """`text` with receipts before the stop that they stand behind."""
    if "[" not in text and "【" not in text:
        return text
    return _LATE_RECEIPTS.sub(lambda found: f" {found[2].strip()}{found[1]} ", text)
