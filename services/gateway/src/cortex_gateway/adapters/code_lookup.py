"""Several tools asked side by side for one question: what fails is noted, what answers counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from cortex_gateway.adapters.dialect import ToolFailed, Tools, ToolsChanged
from cortex_gateway.adapters.tool_answer import ToolAnswer, refusal

LATER_ROUNDS_END: Final = 0.85
"""Of an engine's limit: rounds after the first end here, so that what was found before them is brought home."""


class Calls:
    """The tool calls of one question."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._failures: list[ToolFailed] = []

    def has(self, purpose: str) -> bool:
        """Whether the server has a tool for `purpose`."""
        return self._tools.has(purpose)

    def pick(self, purpose: str, *names: str) -> str:
        """The first of `names` that the tool accepts.

        Raises:
            ToolFailed: it accepts none of them, and listing the tools again would not help; others may do.
        """
        try:
            return self._tools.pick(purpose, *names)
        except ToolsChanged as error:
            raise ToolFailed(error.message) from None

    async def call(self, purpose: str, arguments: Mapping[str, JsonValue]) -> ToolAnswer:
        """What the tool says to those of `arguments` that it knows (all, when its schema names none).

        Raises:
            ToolFailed: it failed, also when it says so in a success.
            Unavailable: as `Tools.call`; also when the tool is not there any more, and the tools must be listed again.
        """
        accepted = self._tools.accepts(purpose)
        known = {name: value for name, value in arguments.items() if not accepted or name in accepted}
        answer = await self._tools.call(purpose, known)
        if sentence := refusal(answer.data):
            raise ToolFailed(sentence)
        return answer

    async def each(self, calls: Iterable[Awaitable[object]]) -> None:
        """Wait for all of them; a tool that fails is noted. Raises Unavailable: the engine is gone."""
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, ToolFailed):
                self._failures.append(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    @property
    def failed(self) -> bool:
        """Whether a tool failed."""
        return bool(self._failures)

    def judge(self, found: Sequence[object]) -> None:
        """With nothing found, the first failure is the answer. Raises ToolFailed."""
        if not found and self._failures:
            raise self._failures[0]
