"""A language model over any OpenAI-compatible `/v1/chat/completions` with `response_format`: OpenAI, vLLM, llama.cpp.

Neither temperature nor seed is sent: reasoning models refuse a request that has one.
"""

from __future__ import annotations

from typing import Any

from cortex_providers.language_model import LanguageModelConfig, Question, ServedLanguageModel


class OpenAIModel(ServedLanguageModel):
    """A client of one model."""

    def __init__(self, where: LanguageModelConfig) -> None:
        super().__init__(where, base="/v1")

    async def _ask(self, question: Question[Any]) -> Any:
        answer = await self._server.ask(
            "chat/completions",
            {
                "model": self.name,
                "messages": [
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.user},
                ],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": question.name, "strict": True, "schema": question.schema},
                },
                "max_completion_tokens": question.max_tokens,
                "stream": False,
            },
        )
        try:
            choice = answer["choices"][0]
            said, ended = choice["message"], choice.get("finish_reason")
            content, refused = said.get("content"), said.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._broken() from None
        if ended == "length":
            raise self._unfit("was cut off")
        if refused or ended == "content_filter":
            raise self._unfit("is a refusal")
        return content

    async def _listed(self) -> list[str]:
        return await self._server.models()
