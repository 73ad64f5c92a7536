"""REST: `POST /ask`, `GET /health`, the routes of memory and of pages, and an OpenAPI document that describes them."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from cortex_contracts.rpc.ask import GatewayHealth
from cortex_gateway import problems
from cortex_gateway.ask import Asker
from cortex_gateway.ask_rest import ask_router
from cortex_gateway.brain import Brain
from cortex_gateway.brain_health import BrainHealth
from cortex_gateway.brain_rest import PREFIX as BRAIN_PREFIX
from cortex_gateway.brain_rest import brain_router
from cortex_gateway.chat import Chat
from cortex_gateway.chat_rest import chat_router
from cortex_gateway.documents_rest import documents_router
from cortex_gateway.fan_out import FanOut
from cortex_gateway.http_methods import HttpMethods
from cortex_gateway.long_documents import LongDocuments
from cortex_gateway.memory import Memory
from cortex_gateway.memory_rest import PREFIX, memory_router
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, example
from cortex_gateway.operations import Operations
from cortex_gateway.operations_rest import operations_router
from cortex_gateway.usage import Usage
from cortex_runtime import VERSION

HEALTH_EXAMPLE: Final[dict[str, Any]] = {
    "engines": [{"engine": "rag", "status": "up", "last_ingest": "2026-06-24T00:04:00Z", "staleness_h": 0.4}],
    "ok": True,
}


def rest_app(
    asker: Asker,
    fan_out: FanOut,
    memory: Memory,
    operations: Operations,
    long_documents: LongDocuments,
    brain: Brain,
    brain_health: BrainHealth,
    usage: Usage,
    chat: Chat,
) -> FastAPI:
    """The REST routes; who calls them has been authenticated before."""
    app = FastAPI(
        title="Cortex",
        version=VERSION,
        summary="One question to every memory, one answer with receipts.",
        # The interactive pages load scripts from elsewhere; the document itself is all a client needs.
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    app.add_middleware(HttpMethods, routes=lambda: app.routes)

    app.include_router(ask_router(asker))
    app.include_router(operations_router(operations))  # before the routes of memory, which take any name for an id
    app.include_router(documents_router(memory, long_documents))
    app.include_router(memory_router(memory))
    app.include_router(brain_router(brain, brain_health, usage))
    app.include_router(chat_router(chat, usage))

    @app.get("/health", summary="Liveness and freshness of every engine", responses={200: example(HEALTH_EXAMPLE)})
    async def health() -> GatewayHealth:
        """Open: every engine, up or down, verbatim."""
        return await fan_out.health()

    @app.get("/", summary="Where to go from here", dependencies=CREDENTIALS, responses=RESPONSES)
    async def index() -> dict[str, Any]:
        """The addresses of this gateway."""
        return {
            "name": "cortex",
            "version": VERSION,
            "links": {
                "ask": "/ask",
                "memory": PREFIX,
                "brain": BRAIN_PREFIX,
                "health": "/health",
                "mcp": "/mcp",
                "openapi": "/openapi.json",
            },
        }

    return app
