"""The events of a streamed answer, cut where they end, and the tokens that an answer took. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

MAX_EVENT_BYTES: Final = 1 << 20
"""An event that does not end by then is passed on in pieces."""
BYTES_PER_TOKEN: Final = 4
"""Of UTF-8, where the upstream tells no tokens: four characters of English are about one (OpenAI's help pages)."""
DONE: Final = b"[DONE]"

_END: Final = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE: Final = re.compile(rb"\r\n|\n|\r")


class Events:
    """Cuts the bytes of a stream into whole events, without changing one (WHATWG HTML, 9.2.6)."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._seen = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The events that end in `piece`, each with the blank line that ends it."""
        self._rest += piece
        events: list[bytes] = []
        start = 0
        # An end may have begun with the last three bytes of what was looked at before.
        for end in _END.finditer(self._rest, max(self._seen - 3, 0)):
            events.append(bytes(self._rest[start : end.end()]))
            start = end.end()
        del self._rest[:start]
        if len(self._rest) > MAX_EVENT_BYTES:
            events.append(bytes(self._rest))
            self._rest.clear()
        self._seen = len(self._rest)
        return events

    @property
    def rest(self) -> bytes:
        """What has no end yet."""
        return bytes(self._rest)


class Tokens:
    """What an answer took: as the upstream says, else an estimate by the length of the texts."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """`messages` are what the upstream is asked."""
        self._asked = sum(len(text.encode(errors="replace")) for one in messages for text in _texts(one))
        self._answered = 0
        self._told: tuple[int, int] | None = None

    def read_event(self, event: bytes) -> None:
        """Take in one event of a streamed answer."""
        for line in _LINE.split(event):
            if line.startswith(b"data:") and (data := line[5:].strip()) != DONE:
                self.read(data)

    def read(self, completion: bytes) -> None:
        """Take in an answer, or a piece of one, as JSON; what is no JSON of the API counts nothing."""
        try:
            said = json.loads(completion)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        used = said.get("usage")
        if isinstance(used, dict):
            self._told = (_number(used.get("prompt_tokens")), _number(used.get("completion_tokens")))
        choices = said.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            message = (choice.get("delta") or choice.get("message")) if isinstance(choice, dict) else None
            if isinstance(message, dict):
                self._answered += sum(len(text.encode(errors="replace")) for text in _texts(message))

    @property
    def used(self) -> tuple[int, int]:
        """Input and output tokens."""
        return self._told or (-(-self._asked // BYTES_PER_TOKEN), -(-self._answered // BYTES_PER_TOKEN))


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    """What is said in a message: its text, and the arguments of its tool calls."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("arguments"), str):
            yield function["arguments"]


def _number(value: object) -> int:
    return max(value, 0) if isinstance(value, int) else 0
