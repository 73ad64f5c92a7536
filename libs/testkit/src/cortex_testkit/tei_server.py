"""A server that answers as Text Embeddings Inference 1.9.3 does: its statuses and bodies, not those of its documents.

It has no model: a vector is made of the bytes of the text that a model would read, so equal readings have equal
vectors, and a score is the share of the question's words that a text has. Everything else is TEI's: `/info`, the
limits (32 texts, 2,000,000 bytes, 512 tokens of one word each), and every refusal.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from cortex_infra.ports import LOOPBACK
from cortex_testkit.eventually import eventually


@dataclass
class TEIServer:
    """One server; change its fields while it runs."""

    model_id: str = "acme/plain-embedder"
    kind: str = "embedding"
    dimension: int = 8
    api_key: str = ""
    prompts: dict[str, str] = field(default_factory=dict)
    max_client_batch_size: int = 32
    payload_limit: int = 2_000_000
    max_input_length: int = 512
    failures: list[Response] = field(default_factory=list)
    """Answers to the next requests for a model, before it works again."""
    requests: list[tuple[str, Any]] = field(default_factory=list)
    """(path, body) of every request that was understood."""
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/info", self._info),
                Route("/health", self._health),
                Route("/embed", self._guarded(self._embed), methods=["POST"]),
                Route("/rerank", self._guarded(self._rerank), methods=["POST"]),
                Route("/v1/embeddings", self._guarded(self._openai), methods=["POST"]),
            ]
        )

    def reading(self, text: str, prompt_name: str | None = None) -> str:
        """What the model reads of `text`."""
        words = (self.prompts.get(prompt_name or "", "") + text).split()
        return " ".join(words[: self.max_input_length])

    def vector(self, reading: str) -> list[float]:
        """The vector of what the model reads: (dimension,), L2-normalised."""
        seed = int.from_bytes(hashlib.sha256(reading.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.dimension)
        return [float(x) for x in vector / np.linalg.norm(vector)]

    def batches(self, path: str) -> list[int]:
        """How many texts the requests to `path` had."""
        names = {"/embed": "inputs", "/rerank": "texts", "/v1/embeddings": "input"}
        return [len(body[names[path]]) for requested, body in self.requests if requested == path]

    def _guarded(self, work: Callable[[Any], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
                return Response(status_code=401)
            body = await request.body()
            if len(body) > self.payload_limit:
                # The web layer's, before any handler: no JSON.
                return PlainTextResponse("Failed to buffer the request body: length limit exceeded", 413)
            content = json.loads(body)
            self.requests.append((request.url.path, content))
            return self.failures.pop(0) if self.failures else work(content)

        return endpoint

    async def _health(self, _: Request) -> Response:
        return Response()

    async def _info(self, _: Request) -> Response:
        kinds = {
            "embedding": {"embedding": {"pooling": "cls"}},
            "reranker": {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}},
        }
        return JSONResponse(
            {
                "model_id": self.model_id,
                "model_sha": None,
                "model_dtype": "float16",
                "served_model_name": self.model_id,
                "model_type": kinds[self.kind],
                "max_concurrent_requests": 512,
                "max_input_length": self.max_input_length,
                "max_batch_tokens": 16384,
                "max_batch_requests": None,
                "max_client_batch_size": self.max_client_batch_size,
                "auto_truncate": True,
                "tokenization_workers": 8,
                "version": "1.9.3",
                "sha": None,
                "docker_label": None,
            }
        )

    def _embed(self, body: Any) -> Response:
        inputs = body["inputs"]
        texts = [inputs] if isinstance(inputs, str) else inputs
        prompt = body.get("prompt_name")
        if prompt is not None and prompt not in self.prompts:
            return error(422, f"prompt name {prompt} is not one of the model's", "Validation")
        if refused := self._limits(texts, truncate=body.get("truncate", True)):
            return refused
        return JSONResponse([self.vector(self.reading(text, prompt)) for text in texts])

    def _rerank(self, body: Any) -> Response:
        texts = body["texts"]
        if refused := self._limits(texts, truncate=body.get("truncate", False)):
            return refused
        asked = set(body["query"].split())
        scores = [len(asked & set(self.reading(text).split())) / max(1, len(asked)) for text in texts]
        ranks = [{"index": index, "score": score} for index, score in enumerate(scores)]
        return JSONResponse(sorted(ranks, key=lambda rank: -rank["score"]))

    def _openai(self, body: Any) -> Response:
        inputs = body["input"]
        texts = [inputs] if isinstance(inputs, str) else inputs
        if len(texts) > self.max_client_batch_size:
            message = f"batch size {len(texts)} > maximum allowed batch size {self.max_client_batch_size}"
            return JSONResponse({"message": message, "code": 422, "type": "Validation"}, 422)
        rows = [
            {"object": "embedding", "embedding": self.vector(self.reading(text)), "index": index}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return JSONResponse({"object": "list", "data": rows, "model": self.model_id, "usage": usage})

    def _limits(self, texts: list[str], *, truncate: bool) -> Response | None:
        if not texts:
            return error(400, "`inputs` cannot be empty", "Empty")
        if len(texts) > self.max_client_batch_size:
            limit = self.max_client_batch_size
            return error(422, f"batch size {len(texts)} > maximum allowed batch size {limit}", "Validation")
        if not all(texts):
            return error(422, "`inputs` cannot be empty", "Validation")
        longest = max(len(text.split()) for text in texts)
        if not truncate and longest > self.max_input_length:
            limit = self.max_input_length
            return error(422, f"`inputs` must have less than {limit} tokens. Given: {longest}", "Validation")
        return None


def error(status: int, message: str, kind: str, headers: dict[str, str] | None = None) -> Response:
    """A refusal in TEI's own form."""
    return JSONResponse({"error": message, "error_type": kind}, status, headers=headers)


async def silent(request: Request) -> Response:
    """An endpoint that never answers."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response()


@asynccontextmanager
async def served(app: Starlette, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` on a free port of this machine, or on `port`; yields its address."""
    server = uvicorn.Server(
        uvicorn.Config(app, host=LOOPBACK, port=port, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
    )
    task = asyncio.create_task(server.serve())
    await eventually(lambda: asyncio.sleep(0, server.started), bool)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://{LOOPBACK}:{port}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def running(server: TEIServer) -> AsyncIterator[TEIServer]:
    """Serve; `server.url` says where."""
    async with served(server.app()) as server.url:
        yield server
