"""A language model of Anthropic: `/v1/messages` with one tool that it has to use, whose input is the answer."""

from __future__ import annotations

from typing import Any, Final

from cortex_providers.language_model import LanguageModelConfig, Question, ServedLanguageModel

VERSION: Final = "2023-06-01"
"""Of the API, as every request names it."""


class AnthropicModel(ServedLanguageModel):
    """A client of one model. Names of models have aliases that no list shows, so a name is not checked beforehand."""

    def __init__(self, where: LanguageModelConfig) -> None:
        key = {"x-api-key": where.api_key} if where.api_key else {}
        super().__init__(where, base="/v1", headers={"anthropic-version": VERSION, **key})

    async def _ask(self, question: Question[Any]) -> Any:
        answer = await self._server.ask(
            "messages",
            {
                "model": self.name,
                "max_tokens": question.max_tokens,
                "system": question.system,
                "messages": [{"role": "user", "content": question.user}],
                "tools": [
                    {
                        "name": question.name,
                        "description": "Takes the answer. Use it exactly once.",
                        "input_schema": question.schema,
                    }
                ],
                "tool_choice": {"type": "tool", "name": question.name, "disable_parallel_tool_use": True},
            },
        )
        try:
            used = [part for part in answer["content"] if part["type"] == "tool_use"]
            ended = answer.get("stop_reason")
            given = [part["input"] for part in used if part["name"] == question.name]
        except (KeyError, TypeError, AttributeError):
            raise self._broken() from None
        if ended == "max_tokens":
            raise self._unfit("was cut off")
        if ended == "refusal":
            raise self._unfit("is a refusal")
        if len(given) != 1 or len(used) != 1:
            raise self._unfit("does not use the tool that it was given")
        return given[0]

    async def _listed(self) -> list[str]:
        await self._server.get("models")
        return []
