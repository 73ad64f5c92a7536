"""The tools of an MCP server without a server: they answer as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest

from cortex_gateway.adapters.dialect import ToolsChanged
from cortex_gateway.adapters.tool_answer import ToolAnswer

Answer = Callable[[Mapping[str, Any]], object]
"""What a tool says to its arguments: data, a whole answer, or an exception to be raised."""


class ScriptedTools:
    """Tools by their purposes, with the arguments that each accepts; what has no answer finds nothing (`{}`), and what
    hangs never answers."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        accepted: Mapping[str, frozenset[str]],
        hanging: Collection[str] = (),
    ) -> None:
        self._answers = answers
        self._hanging = hanging
        self._accepted = accepted
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def has(self, purpose: str) -> bool:
        return purpose in self._accepted

    def name(self, purpose: str) -> str:
        return purpose

    def writes(self, purpose: str) -> bool:
        return not self.has(purpose)

    def accepts(self, purpose: str) -> frozenset[str]:
        if purpose not in self._accepted:
            raise ToolsChanged(f"no tool for {purpose}")
        return self._accepted[purpose]

    def pick(self, purpose: str, *names: str) -> str:
        for name in names:
            if name in self.accepts(purpose):
                return name
        raise ToolsChanged(f"{purpose} accepts none of {names}")

    async def call(self, purpose: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        assert set(arguments) <= self.accepts(purpose)
        self.calls.append((purpose, dict(arguments)))
        await (asyncio.Event().wait() if purpose in self._hanging else asyncio.sleep(0))
        said: Any = self._answers[purpose](arguments) if purpose in self._answers else {}
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, ToolAnswer) else ToolAnswer(said, "")

    def called(self, purpose: str) -> list[dict[str, Any]]:
        return [given for name, given in self.calls if name == purpose]


@pytest.fixture(scope="session")
def scripted() -> type[ScriptedTools]:
    return ScriptedTools
