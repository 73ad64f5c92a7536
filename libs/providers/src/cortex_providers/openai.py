"""Embeddings over any OpenAI-compatible `/v1/embeddings`: the bundled model's process, Ollama, vLLM, TEI."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from cortex_contracts.errors import Unavailable
from cortex_providers.embedder import EmbedderConfig, ModelMismatch, TextKind, Vectors, unit_vectors
from cortex_providers.served_embedder import ServedEmbedder

SHOWN_MODELS: Final = 5


class OpenAIEmbedder(ServedEmbedder):
    """A client of one model. `input_type` is sent along: servers that know it embed queries and passages apart."""

    def __init__(self, config: EmbedderConfig) -> None:
        # Both spellings are common: the server's address, and the one with its version.
        super().__init__(config, base="/v1")

    async def open(self) -> None:
        """Make sure that it is the configured model that answers, with the configured dimension.

        Raises:
            ModelMismatch: it is another one.
            Unavailable: it does not answer.
        """
        listed = await self._server.models()
        if listed and not {self.model, f"{self.model}:latest"} & set(listed):
            raise self._other(listed)
        answer = await self._ask(["ready"], TextKind.QUERY)
        unit_vectors(_rows(answer), 1, self._config)
        # A server without a list (TEI) takes any name, embeds with the model it has, and tells that one's name.
        if not listed and answer.get("model") not in (None, "", self.model):
            raise self._other([str(answer["model"])])

    async def check(self) -> None:
        """Is the server there? Costs no inference."""
        await self._server.get("models")

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order (see `Embedder.embed`)."""
        return await self._embedded(texts, lambda batch: self._send(batch, kind))

    async def _send(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        return unit_vectors(_rows(await self._ask(texts, kind)), len(texts), self._config)

    async def _ask(self, texts: Sequence[str], kind: TextKind) -> Any:
        return await self._server.ask(
            "embeddings",
            {"model": self.model, "input": list(texts), "input_type": kind.value, "encoding_format": "base64"},
        )

    def _other(self, there: Sequence[str]) -> ModelMismatch:
        more = ", …" if len(there) > SHOWN_MODELS else ""
        return ModelMismatch(
            f"the embedder has no model {self.model!r} (there are: {', '.join(there[:SHOWN_MODELS])}{more}): set "
            "CORTEX_EMBEDDINGS_MODEL, and run `cortex reindex` to embed everything with another one"
        )


def _rows(answer: Any) -> list[Any]:
    """The vectors of an answer in the order of its texts."""
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        return [_decoded(row["embedding"]) for row in rows]
    except (KeyError, TypeError, ValueError):
        raise Unavailable("the embedder's answer is not in the OpenAI format") from None


def _decoded(embedding: Any) -> Any:
    """One vector: base64 of little-endian float32, or a list of numbers from servers that ignore the format."""
    return np.frombuffer(base64.b64decode(embedding), dtype="<f4") if isinstance(embedding, str) else embedding
