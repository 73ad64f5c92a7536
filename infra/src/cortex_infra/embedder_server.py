"""A bundled embedding model behind an OpenAI-compatible API: `python -m cortex_infra.embedder_server`.

`CORTEX_EMBEDDER_MODEL` says which one. `POST /v1/embeddings` takes the usual body and `input_type` (`query` or
`passage`, the default): a query waits for no passage, and a model may embed the two differently. Every route but
`/health` and `/metrics` (Prometheus) wants the bearer token.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import os
import unicodedata
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Final, Literal, cast

import uvicorn
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_infra import embedding_models
from cortex_infra.embedding_models import Vectors
from cortex_infra.embedding_queue import EmbeddingQueue, QueueFull
from cortex_infra.errors import SettingError
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.embedder import MODEL, BundledModel, bundled
from cortex_runtime import metrics

MAX_TEXTS: Final = 2048
MAX_TEXT_CHARACTERS: Final = 65_536
MAX_BODY_BYTES: Final = 16 * 1024 * 1024
_DISCONNECT_CHECK_S: Final = 0.5


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class EmbeddingRequest(BaseModel):
    """The body of `POST /v1/embeddings`; other fields of the OpenAI API are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input: Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]
    model: str | None = None
    input_type: Literal["query", "passage"] = "passage"
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


class EmbedderServer:
    """The HTTP face of one embedding queue."""

    def __init__(self, model: BundledModel, api_key: str) -> None:
        """`model` is loaded at start, in a thread."""
        self._model = model
        self._api_key = api_key.encode()
        self._queue: EmbeddingQueue | None = None

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/embeddings", self._embeddings, methods=["POST"]),
                Route("/v1/models", self._models, methods=["GET"]),
                Route("/health", self._health, methods=["GET"]),
                Route("/metrics", metrics.endpoint, methods=["GET"]),
            ],
            exception_handlers={HTTPException: _http_error, Exception: _unexpected_error},
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._queue = EmbeddingQueue(await asyncio.to_thread(embedding_models.load, self._model.name))
        # The first call touches every page of the model: not at the expense of the first user.
        worker = asyncio.create_task(self._queue.run())
        await self._queue.submit(["ready"], is_query=True)
        try:
            yield
        finally:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok", "model": self._model.name, "dimensions": self._model.dimensions})

    async def _models(self, request: Request) -> Response:
        self._authorize(request)
        model = {"id": self._model.name, "object": "model", "owned_by": "cortex"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _embeddings(self, request: Request) -> Response:
        self._authorize(request)
        body = _parse(await _read(request), self._model)
        texts = [_clean(text, index) for index, text in enumerate(body.input)]
        assert self._queue is not None, "lifespan has run"
        try:
            job = self._queue.submit(texts, is_query=body.input_type == "query")
        except QueueFull as error:
            raise HTTPException(503, str(error), {"Retry-After": "1"}) from None
        try:
            while not (await asyncio.wait({job}, timeout=_DISCONNECT_CHECK_S))[0]:
                if await request.is_disconnected():
                    raise HTTPException(499, "the client has gone")
            vectors, tokens = job.result()
        finally:
            job.cancel()
        return JSONResponse(
            {
                "object": "list",
                "data": [
                    {"object": "embedding", "index": index, "embedding": embedding}
                    for index, embedding in enumerate(_encode(vectors, body.encoding_format))
                ],
                "model": self._model.name,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )

    def _authorize(self, request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._api_key):
            raise HTTPException(401, "expected the embedder's bearer token", {"WWW-Authenticate": "Bearer"})


async def _read(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"expected at most {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _parse(body: bytes, model: BundledModel) -> EmbeddingRequest:
    try:
        request = EmbeddingRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise HTTPException(400, f"{field}: {first['msg']}") from None
    if request.model not in (None, model.name):
        raise HTTPException(404, f"this server has the model {model.name} only")
    if request.dimensions not in (None, model.dimensions):
        raise HTTPException(400, f"dimensions: expected {model.dimensions}, got {request.dimensions}")
    if len(request.input) > MAX_TEXTS:
        raise HTTPException(413, f"expected at most {MAX_TEXTS} texts, got {len(request.input)}")
    return request


def _clean(text: str, index: int) -> str:
    """`text` as the C engine can take it.

    It would end at the first NUL. It reserves four code points for every byte and composes the text by itself: one
    character that becomes eighteen (U+FDFA) overflows it, so the text comes to it composed (NFKC, as the model's own
    tokeniser wants it).
    """
    text = unicodedata.normalize("NFKC", text)
    if len(text) > MAX_TEXT_CHARACTERS:
        raise HTTPException(413, f"input.{index}: expected at most {MAX_TEXT_CHARACTERS} characters, got {len(text)}")
    text = text.replace("\0", " ")
    if not text.strip():
        raise HTTPException(422, f"input.{index}: expected some text, got none")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HTTPException(422, f"input.{index}: half of a surrogate pair is no text") from None
    return text


def _encode(vectors: Vectors, encoding: str) -> list[Any]:
    if encoding == "base64":
        return [base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii") for vector in vectors]
    return cast("list[Any]", vectors.tolist())


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = "server_error" if error.status_code >= 500 else "invalid_request_error"
    return JSONResponse(
        {"error": {"message": error.detail, "type": kind, "code": None}}, error.status_code, headers=error.headers
    )


async def _unexpected_error(_: Request, _error: Exception) -> Response:
    # The server logs the exception; the caller gets no internals.
    return JSONResponse(
        {"error": {"message": "the model failed on this request", "type": "server_error", "code": None}}, 500
    )


def main(environment: Mapping[str, str] = os.environ) -> None:
    """Serve until told to stop."""
    api_key = environment.get("CORTEX_EMBEDDER_API_KEY", "")
    if not api_key:
        raise SettingError("CORTEX_EMBEDDER_API_KEY is not set")
    model = bundled(environment.get("CORTEX_EMBEDDER_MODEL") or MODEL)
    try:
        port = int(environment["CORTEX_EMBEDDER_PORT"])
    except (KeyError, ValueError):
        raise SettingError("CORTEX_EMBEDDER_PORT: expected a port number") from None
    uvicorn.run(
        EmbedderServer(model, api_key).app(),
        host=environment.get("CORTEX_EMBEDDER_HOST", LOOPBACK),
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
