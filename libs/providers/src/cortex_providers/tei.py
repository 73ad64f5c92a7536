"""Text Embeddings Inference (TEI, 1.9): its own routes, and how E5 and prompted models are asked.

`GET /info` is read when a driver opens: which model is served, and how many texts one request may hold.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from cortex_contracts.errors import Permanent, Unavailable
from cortex_providers.embedder import EmbedderConfig, ModelMismatch, TextKind, Vectors, unit_vectors
from cortex_providers.model_server import Batches, BatchRefused, ModelServer
from cortex_providers.reranker import RerankerConfig, Scores
from cortex_providers.served_embedder import BATCH, ServedEmbedder

RERANKED_CHARACTERS: Final = 4096
"""Of a text, what a reranker is sent: rerankers read 512 tokens, few of them more."""

# multilingual-e5-small, e5-base-v2, …: trained with these words in front of every text (their model cards). The
# instruction-tuned E5 models have named prompts instead.
_E5: Final = re.compile(r"(?:^|[/-])e5-(?!.*instruct)", re.IGNORECASE)
_E5_PREFIX: Final = {TextKind.QUERY: "query: ", TextKind.PASSAGE: "passage: "}
_PROMPTS: Final = {TextKind.QUERY: ("query",), TextKind.PASSAGE: ("passage", "document")}
"""The names that models of Sentence Transformers give to their prompts, as in Qwen3-Embedding and Arctic Embed."""


@dataclass(frozen=True, slots=True)
class Served:
    """What `/info` says about the model that is served."""

    names: tuple[str, ...]
    kind: str
    """`embedding`, `reranker` or `classifier`."""
    max_batch: int


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model wants its texts: words in front of them, or the name of a prompt that the server puts there."""

    prefix: dict[TextKind, str]
    prompt: dict[TextKind, str]


class TEIEmbedder(ServedEmbedder):
    """A client of `/embed`. It finds out how to ask the model when it is opened, or at its first texts."""

    def __init__(self, config: EmbedderConfig) -> None:
        super().__init__(config)
        self._asking: Asking | None = None

    async def open(self) -> None:
        """Make sure that it is the configured model that answers, with the configured dimension.

        Raises:
            ModelMismatch: it is another one.
            Unavailable: it does not answer.
        """
        served = await self._served()
        self._batches.size = min(BATCH, served.max_batch)
        if any(_E5.search(name) for name in served.names):
            asking = Asking(_E5_PREFIX, {})
        else:
            asking = Asking({}, {kind: name for kind in TextKind if (name := await self._prompt(kind))})
        await self._send(["ready"], TextKind.QUERY, asking)
        self._asking = asking

    async def check(self) -> None:
        """Is the model there? Costs no inference."""
        await self._served()

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order (see `Embedder.embed`). What is longer than the model reads is cut by the server."""
        if self._asking is None:
            await self.open()
        asking = self._asking
        assert asking is not None, "open has set it"
        return await self._embedded(texts, lambda batch: self._send(batch, kind, asking))

    async def _send(self, texts: Sequence[str], kind: TextKind, asking: Asking) -> Vectors:
        body: dict[str, Any] = {
            "inputs": [asking.prefix.get(kind, "") + text for text in texts],
            "truncate": True,
            "normalize": True,
        }
        if kind in asking.prompt:
            body["prompt_name"] = asking.prompt[kind]
        return unit_vectors(await self._server.ask("embed", body), len(texts), self._config)

    async def _prompt(self, kind: TextKind) -> str | None:
        """The prompt that the model has for texts of this kind. A name that it does not know is a 422."""
        for name in _PROMPTS[kind]:
            try:
                await self._server.ask("embed", {"inputs": ["ready"], "truncate": True, "prompt_name": name})
            except BatchRefused:
                continue
            return name
        return None

    async def _served(self) -> Served:
        return await served(self._server, self.model, "embedding", "CORTEX_EMBEDDINGS")


class TEIReranker:
    """A client of `/rerank`."""

    def __init__(self, config: RerankerConfig) -> None:
        self._config = config
        self._server = ModelServer(
            config.url,
            who="the reranker",
            setting="CORTEX_RERANKER",
            api_key=config.api_key,
            timeout_s=config.timeout_s,
        )
        self._batches: Batches | None = None

    @property
    def model(self) -> str:
        """Name of the model, as configured."""
        return self._config.model

    async def open(self) -> None:
        """Make sure that a reranker answers, and that it is the configured one.

        Raises:
            Permanent: it is another one, or no reranker.
            Unavailable: it does not answer.
        """
        self._batches = Batches((await self._served()).max_batch)

    async def check(self) -> None:
        """Is the model there? Costs no inference."""
        await self._served()

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def rerank(self, query: str, texts: Sequence[str], *, timeout_s: float) -> Scores:
        """Score `texts` (see `Reranker.rerank`)."""
        try:
            async with asyncio.timeout(timeout_s):
                if self._batches is None:
                    await self.open()
                assert self._batches is not None, "open has set it"
                shortened = [text[:RERANKED_CHARACTERS] for text in texts]
                return np.array(
                    await self._batches.map(shortened, lambda batch: self._send(query, batch)), dtype=np.float32
                )
        except TimeoutError:
            raise Unavailable(f"the reranker did not answer within {timeout_s:g} s") from None

    async def _send(self, query: str, texts: Sequence[str]) -> list[float]:
        answer = await self._server.ask("rerank", {"query": query, "texts": list(texts), "truncate": True})
        scores: dict[int, float] = {}
        try:
            scores = {int(row["index"]): float(row["score"]) for row in answer}
            ordered = [scores.pop(index) for index in range(len(texts))]
        except (KeyError, TypeError, ValueError):
            ordered = []
        if len(ordered) != len(texts) or scores or not np.isfinite(ordered).all():
            raise Unavailable("the reranker's answer is not one score for every text")
        return ordered

    async def _served(self) -> Served:
        return await served(self._server, self.model, "reranker", "CORTEX_RERANKER")


async def served(server: ModelServer, model: str, kind: str, setting: str) -> Served:
    """What the server serves, if it is a model of this kind and, when one is named, `model`.

    Raises:
        ModelMismatch: it is not.
        Unavailable: it does not answer.
    """
    info = await server.get("info")
    if info is None:
        raise Permanent(f"{server.who} has no /info: {setting}_URL is not the address of a TEI server")
    try:
        names = tuple(str(info[key]) for key in ("model_id", "served_model_name") if info.get(key))
        kinds = info["model_type"]
        found = Served(
            names, next(iter(kinds)) if isinstance(kinds, dict) else str(kinds), int(info["max_client_batch_size"])
        )
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        raise Unavailable(f"{server.who} describes itself in a form that is not known") from None
    if found.kind.lower() != kind:
        raise ModelMismatch(f"{server.who} at {setting}_URL serves a model of kind {found.kind!r}, expected {kind!r}")
    if model and model not in names:
        raise ModelMismatch(
            f"{server.who} serves {names[0] if names else 'no model'!r}, but {setting}_MODEL says {model!r}: start the "
            f"server with that model, or set {setting}_MODEL"
            + (" and run `cortex reindex` to embed everything with the new one" if kind == "embedding" else "")
        )
    return found
