"""A server that answers as language models are served: OpenAI-compatible, Ollama and Anthropic, each in its own shape.

It has no model: `think` is a function from what was asked to the answer. `failures` come before it, whole responses as
the servers' documents show them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_testkit.tei_server import served

MODEL = "acme/thinker"


@dataclass(frozen=True)
class Asked:
    """One question as it arrived: the instruction, the material, and the form that was asked for."""

    api: str
    system: str
    user: str
    schema: dict[str, Any]
    body: dict[str, Any]

    @property
    def material(self) -> Any:
        """The material, parsed."""
        return json.loads(self.user)


def nothing(_: Asked) -> Any:
    """A model that never sees a change."""
    return {"decision": "add", "memory": "none", "old": "", "new": ""}


@dataclass
class LanguageModelServer:
    """One server; change its fields while it runs."""

    think: Callable[[Asked], Any] = nothing
    models: tuple[str, ...] = (MODEL,)
    api_key: str = ""
    failures: list[Response] = field(default_factory=list)
    """Answers to the next questions, before it works again."""
    ended: dict[str, str] = field(default_factory=lambda: {"openai": "stop", "ollama": "stop", "anthropic": "tool_use"})
    """Why an answer ended, by API."""
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/models", self._listed),
                Route("/api/tags", self._tags),
                Route("/v1/chat/completions", self._openai, methods=["POST"]),
                Route("/api/chat", self._ollama, methods=["POST"]),
                Route("/v1/messages", self._anthropic, methods=["POST"]),
            ]
        )

    def _locked(self, request: Request) -> Response | None:
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return error("invalid x-api-key", 401) if self.api_key and given != self.api_key else None

    async def _listed(self, request: Request) -> Response:
        return self._locked(request) or JSONResponse(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        )

    async def _tags(self, request: Request) -> Response:
        return self._locked(request) or JSONResponse({"models": [{"name": n, "model": n} for n in self.models]})

    def _heard(self, request: Request, asked: Asked) -> Response | None:
        if locked := self._locked(request):
            return locked
        self.asked.append(asked)
        return self.failures.pop(0) if self.failures else None

    def _said(self, asked: Asked) -> str:
        thought = self.think(asked)
        return thought if isinstance(thought, str) else json.dumps(thought, ensure_ascii=False)

    async def _openai(self, request: Request) -> Response:
        body = await request.json()
        form = body["response_format"]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["strict"] is True
        system, user = body["messages"]
        asked = Asked("openai", system["content"], user["content"], form["json_schema"]["schema"], body)
        if failed := self._heard(request, asked):
            return failed
        message = {"role": "assistant", "content": self._said(asked), "refusal": None}
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": self.ended["openai"]}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            }
        )

    async def _ollama(self, request: Request) -> Response:
        body = await request.json()
        assert body["stream"] is False
        system, user = body["messages"]
        asked = Asked("ollama", system["content"], user["content"], body["format"], body)
        if failed := self._heard(request, asked):
            return failed
        return JSONResponse(
            {
                "model": body["model"],
                "created_at": "2026-11-30T19:22:45.499127Z",
                "message": {"role": "assistant", "content": self._said(asked)},
                "done": True,
                "done_reason": self.ended["ollama"],
                "total_duration": 4883583458,
                "eval_count": 5,
            }
        )

    async def _anthropic(self, request: Request) -> Response:
        body = await request.json()
        assert request.headers["anthropic-version"] == "2023-06-01"
        [tool] = body["tools"]
        assert body["tool_choice"]["name"] == tool["name"]
        asked = Asked("anthropic", body["system"], body["messages"][0]["content"], tool["input_schema"], body)
        if failed := self._heard(request, asked):
            return failed
        thought = self.think(asked)
        used = {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": thought}
        return JSONResponse(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": [{"type": "text", "text": "I will use the tool."}, used],
                "stop_reason": self.ended["anthropic"],
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
        )


def error(message: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """A refusal; the three servers agree in no more than that there is an `error`."""
    return JSONResponse({"error": {"message": message, "type": "error"}}, status, headers=headers)


@asynccontextmanager
async def running(server: LanguageModelServer) -> AsyncIterator[LanguageModelServer]:
    """Serve; `server.url` says where."""
    async with served(server.app()) as server.url:
        yield server
