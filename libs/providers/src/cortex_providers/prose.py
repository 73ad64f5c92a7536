"""The prose port: an instruction and material in, plain text out, as it comes.

Like `language_model`, the material is text that others wrote, handed over as one JSON document and labelled as data.
Unlike there, the answer has no form: who asks must check every sentence of it.

Errors are those of `cortex_contracts.errors`: `Unavailable` (nobody answers, overloaded, late, broken off, an error in
the middle), `Refused` (the model did not want to), `Permanent` (the server does not take the request). None of them
shows the key, the address, or what was asked.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_providers.outbound import Destination, Outbound, Stream, Unanswered

CONNECTIONS: Final = 16
"""Answers that are written at one time; one more waits, within its limit."""
MAX_RESPONSE_BYTES: Final = 4 << 20
"""Ollama wraps every token in about 120 bytes: eight thousand tokens are 1 MB."""
MAX_LINE_BYTES: Final = 1 << 16
"""A line of a stream holds some tokens, or the statistics at its end."""
WAKE_S: Final = 120.0
"""What a server may take to load a model while nobody waits for it: 8 GB from a slow disk."""

_BUSY: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Refused(Unavailable):
    """The model said that it does not want to answer."""


class Ending(StrEnum):
    """Why an answer ended."""

    DONE = "done"
    LENGTH = "length"
    """At the limit of its tokens, perhaps in the middle of a word."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: the instruction, the material as JSON, and the most tokens of the answer."""

    system: str
    user: str
    max_tokens: int


@dataclass(slots=True)
class Prose:
    """An answer that is coming. To iterate `pieces` raises as the module says; `ending` is known behind the last one.

    Tokens are as the server tells them: none until it does.
    """

    pieces: AsyncIterator[str]
    ending: Ending | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ProseConfig:
    """Where a model is. `setting` is the prefix of the variables that configure it. The key is never shown."""

    url: str
    model: str
    setting: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 20.0
    """Bounds the wait for the beginning of an answer and for each piece of it."""


class ProseWriter(Protocol):
    """Writes prose."""

    def write(self, prompt: Prompt, limit_s: float) -> AbstractAsyncContextManager[Prose]:
        """The answer, while it comes, in at most `limit_s`; to leave the block ends it, and the server's work."""
        ...

    async def check(self) -> None:
        """Is the server there, does it take the key, has it the model? Costs no inference. Raises CortexError."""
        ...

    async def wake(self) -> None:
        """As `check`, and get the model ready, which may take a while. Raises CortexError."""
        ...

    async def close(self) -> None:
        """Let its connections go."""
        ...


class Lines:
    """Cuts the bytes of a stream into lines, each without its end. No I/O."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in `piece`. Raises ValueError when one is longer than a line of a stream is."""
        self._rest += piece
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if len(rest) > MAX_LINE_BYTES:
            raise ValueError("the line does not end")
        for line in lines:
            yield bytes(line.removesuffix(b"\r"))

    @property
    def rest(self) -> bytes:
        """What has no end; a stream may end without one."""
        return bytes(self._rest)


class ServedWriter:
    """What the writers have in common that ask a server; how it is asked, and what its lines mean, is the driver's."""

    path: str

    def __init__(self, where: ProseConfig, *, who: str, base: str, headers: Mapping[str, str]) -> None:
        """`base` is the path that the server's routes start with; the address may have it or not.

        Raises:
            Permanent: the address is none, or there is no model; the message names the setting.
        """
        if not where.model:
            raise Permanent(f"{where.setting}_MODEL is not set: name the language model to ask")
        address = where.url.rstrip("/")
        self.model = where.model
        self.who = who
        self._where = where
        self._outbound = Outbound(
            Destination.parse(address if address.endswith(base) else address + base, f"{where.setting}_URL"),
            who=who,
            timeout_s=where.timeout_s,
            headers=headers,
            max_response_bytes=MAX_RESPONSE_BYTES,
            connections=CONNECTIONS,
        )

    @asynccontextmanager
    async def write(self, prompt: Prompt, limit_s: float) -> AsyncGenerator[Prose, None]:
        """See `ProseWriter.write`."""
        body = json.dumps(self._body(prompt), ensure_ascii=False).encode(errors="replace")
        async with self._outbound.stream(self.path, body, headers=self._accepts(), whole_s=limit_s) as answer:
            if answer.status != 200:
                raise self._refused(answer.status)
            prose = Prose(pieces=_nothing())
            async with aclosing(self._pieces(answer, prose)) as pieces:
                prose.pieces = pieces
                yield prose

    async def close(self) -> None:
        """Close the connections."""
        await self._outbound.close()

    async def _pieces(self, answer: Stream, prose: Prose) -> AsyncGenerator[str, None]:
        lines = Lines()
        try:
            async for piece in answer.pieces:
                for line in lines.feed(piece):
                    if text := self._read(line, prose):
                        yield text
                    if prose.ending is not None:
                        return
            if (rest := lines.rest.strip()) and (text := self._read(rest, prose)):
                yield text
        except ValueError:
            raise self._broken() from None
        if prose.ending is None:
            raise Unanswered(f"{self.who} broke off its answer")

    async def _get(self, path: str) -> Any:
        """The JSON at `path`; none where it is something else, or the server has no such route."""
        answer = await self._outbound.get(path)
        if answer.status in (404, 405, 501):
            return None
        if answer.status != 200:
            raise self._refused(answer.status)
        try:
            return answer.json()
        except (ValueError, RecursionError):
            return None

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        """The request."""
        raise NotImplementedError

    def _accepts(self) -> Mapping[str, str]:
        return {}

    def _read(self, line: bytes, prose: Prose) -> str:
        """The text in a line, perhaps none; the ending and the tokens go to `prose`. Raises ValueError for a line that
        is not what the server's documents say, and CortexError for an error that it tells."""
        raise NotImplementedError

    def _refused(self, status: int) -> Unavailable | Permanent:
        """What a status means. Bodies are not read: some hold what was asked."""
        if status in (401, 403):
            return Unavailable(f"{self.who} refused the key in {self._where.setting}_API_KEY")
        if status in _BUSY:
            return Unavailable(f"{self.who} answered {status}")
        if status == 404:
            return Permanent(
                f"{self.who} has no model {self.model!r}, or is not at {self._where.setting}_URL",
                code=ErrorCode.NOT_FOUND,
            )
        return Permanent(f"{self.who} refused the request with {status}")

    def _broken(self) -> Unavailable:
        return Unavailable(f"{self.who} answered with an error, or in a form that is not known")


def parsed(line: bytes) -> dict[str, Any]:
    """A line as a JSON object. Raises ValueError when it is none."""
    try:
        said = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(said, dict):
        raise ValueError("not an object")
    return said


def count(value: object) -> int | None:
    """A number of tokens, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


async def _nothing() -> AsyncIterator[str]:
    return
    yield ""
