"""A language model of Ollama: `/api/chat` with the form as `format`, in one piece: `stream` is on by default."""

from __future__ import annotations

from typing import Any

from cortex_providers.language_model import CONTEXT_TOKENS, LanguageModelConfig, Question, ServedLanguageModel


class OllamaModel(ServedLanguageModel):
    """A client of one model.

    The size of the context is always the same, because Ollama loads a model again when it changes, and always sent,
    because its own default cuts the beginning of a longer prompt off without a word.
    """

    def __init__(self, where: LanguageModelConfig) -> None:
        super().__init__(where, base="/api")

    async def _ask(self, question: Question[Any]) -> Any:
        answer = await self._server.ask(
            "chat",
            {
                "model": self.name,
                "messages": [
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.user},
                ],
                "format": question.schema,
                "options": {
                    "temperature": 0,
                    "seed": 0,
                    "num_ctx": CONTEXT_TOKENS,
                    "num_predict": question.max_tokens,
                },
                "think": False,
                "stream": False,
            },
        )
        # An error while it generates comes with status 200, as a body that holds nothing but `error`.
        try:
            content, done, ended = answer["message"]["content"], answer["done"], answer.get("done_reason")
        except (KeyError, TypeError, AttributeError):
            raise self._broken() from None
        if ended == "length":
            raise self._unfit("was cut off")
        if done is not True:
            raise self._broken()
        return content

    async def _listed(self) -> list[str]:
        answer = await self._server.get("tags")
        try:
            return [str(row["name"]) for row in answer["models"]]
        except (KeyError, TypeError):
            return []
