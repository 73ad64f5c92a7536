"""The summariser of a language model, held to what the texts say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import Field

from cortex_extraction.entities import EntityKind, extract
from cortex_extraction.folding import fold, words
from cortex_providers.extractive import summarise
from cortex_providers.language_model import MAX_MATERIAL_CHARS, Form, ModelDriver, Question
from cortex_providers.language_model import UnfitAnswer as Unfit
from cortex_providers.summariser import Summary

INSTRUCTION: Final = """\
Summarise `texts` in at most `characters` characters: what is stable and matters later (facts, decisions, preferences,
open questions), not how it was said. Write plain sentences in the language of the texts. Keep numbers, dates, names and
identifiers exactly as they stand there; state nothing that the texts do not say. `sources` are the names of the texts
that the summary was made of."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")


class Answer(Form):
    """What the model is asked for."""

    summary: str = Field(min_length=1, max_length=MAX_MATERIAL_CHARS)
    sources: list[str] = Field(min_length=1, max_length=1_000)


class ModelSummariser(ModelDriver):
    """The drivers `openai`, `ollama` and `anthropic`.

    An answer with a number, name or identifier that stands in none of its sources is refused; one that is longer than
    it should be is shortened as the built-in summariser does it.
    """

    async def summarise(self, texts: Sequence[str], *, limit: int) -> Summary:
        """Ask (see `Summariser.summarise`)."""
        named = {f"t{number}": number - 1 for number, text in enumerate(texts, start=1) if text.strip()}
        if not named or limit < 1:
            return Summary("", ())
        answer = await self._model.answer(
            Question(
                "summary",
                INSTRUCTION,
                {
                    "characters": limit,
                    "texts": [{"name": name, "text": texts[index]} for name, index in named.items()],
                },
                Answer,
                max_tokens=max(500, limit),
            )
        )
        if not set(answer.sources) <= named.keys():
            raise Unfit("the summary of the language model names a text that it was not given")
        sources = tuple(sorted({named[name] for name in answer.sources}))
        if not _grounded(answer.summary, [texts[index] for index in sources]):
            raise Unfit("the summary of the language model has a number or name that its sources do not hold")
        text = answer.summary.strip()
        return Summary(text if len(text) <= limit else summarise([text], limit=limit).text, sources)


def _grounded(summary: str, texts: Sequence[str]) -> bool:
    held = "\n".join(texts)
    if not set(_NUMBER.findall(fold(summary))) <= set(_NUMBER.findall(fold(held))):
        return False
    known = {form for word in words(held) for form in (word, word.removesuffix("'s"))}
    named = (one for one in extract(summary) if one.kind is not EntityKind.DATE and one.kind is not EntityKind.QUOTED)
    return all(set(one.key.split()) <= known for one in named)
