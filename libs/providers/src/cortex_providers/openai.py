"""Embeddings over any OpenAI-compatible `/v1/embeddings`: the bundled model's process, Ollama, vLLM."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

import httpx
import numpy as np
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_providers.embedder import EmbedderConfig, TextKind, Vectors

BATCH: Final = 16
"""Texts per request: bounds the time one request holds the model."""
ATTEMPTS: Final = 3


class OpenAIEmbedder:
    """A client of one model. `input_type` is sent along: servers that know it embed queries and passages apart."""

    def __init__(self, config: EmbedderConfig) -> None:
        self._config = config
        address = config.url.rstrip("/")
        self._client = httpx.AsyncClient(
            # Both spellings are common: the server's address, and the one with its version.
            base_url=address if address.endswith("/v1") else f"{address}/v1",
            headers={"Authorization": f"Bearer {config.api_key}"} if config.api_key else {},
            timeout=config.timeout_s,
            follow_redirects=False,
        )

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._config.model

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._config.dimension

    async def open(self) -> None:
        """Make sure that the model answers with the configured dimension."""
        await self.embed(["ready"], TextKind.QUERY)

    async def check(self) -> None:
        """Is the model there? Costs no inference."""
        try:
            response = await self._client.get("models")
        except httpx.HTTPError as error:
            raise Unavailable(f"the embedder does not answer ({type(error).__name__})") from None
        if response.status_code != 200:
            raise Unavailable(f"the embedder answered {response.status_code}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order (see `Embedder.embed`)."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        parts = [await self._embed_batch(texts[i : i + BATCH], kind) for i in range(0, len(texts), BATCH)]
        return np.concatenate(parts)

    async def _embed_batch(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        body = {
            "model": self.model,
            "input": list(texts),
            "input_type": kind.value,
            "encoding_format": "base64",
        }
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type(Unavailable),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.1, max=1.0),
            reraise=True,
        ):
            with attempt:
                answer = await self._post(body)
        return self._vectors(answer, len(texts))

    async def _post(self, body: dict[str, Any]) -> Any:
        try:
            response = await self._client.post("embeddings", json=body)
        except httpx.HTTPError as error:
            raise Unavailable(f"the embedder does not answer ({type(error).__name__})") from None
        if response.status_code in (429, 500, 502, 503, 504):
            raise Unavailable(f"the embedder answered {response.status_code}")
        if response.status_code != 200:
            raise _refused(response.status_code)
        try:
            return response.json()
        except ValueError:
            raise Unavailable("the embedder answered with something that is not JSON") from None

    def _vectors(self, answer: Any, expected: int) -> Vectors:
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.stack([_decode(row["embedding"]) for row in rows])
        except (KeyError, TypeError, ValueError):
            raise Unavailable("the embedder's answer is not in the OpenAI format") from None
        if vectors.shape != (expected, self.dimension):
            raise Permanent(
                f"the embedder answered vectors of shape {vectors.shape}, expected {(expected, self.dimension)}: "
                "set CORTEX_EMBEDDINGS_MODEL and CORTEX_EMBEDDINGS_DIMENSION to what the database was made with, "
                "or run `cortex reindex`"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: Vectors = (vectors / np.where(norms == 0.0, 1.0, norms)).astype(np.float32)
        return normalised


def _decode(embedding: str | list[float]) -> Vectors:
    """One vector: base64 of little-endian float32, or a list of numbers from servers that ignore the format."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4").astype(np.float32)
    return np.asarray(embedding, dtype=np.float32)


def _refused(status: int) -> CortexError:
    if status in (401, 403):
        # Retryable: an operator fixes the key while captures wait; nothing may be lost for it.
        return Unavailable("the embedder refused the key in CORTEX_EMBEDDINGS_API_KEY")
    if status == 413:
        return Permanent("the text is too long for the embedder", code=ErrorCode.TOO_LARGE)
    return Permanent(f"the embedder refused the text with {status}")
