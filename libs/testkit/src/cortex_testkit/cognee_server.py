"""A server that answers as Cognee 1.6 does: add, cognify, search, datasets; its statuses and its three kinds of errors.

It has no model: its graph are `edges`, which it finds around every text.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_testkit.tei_server import served

Edge = tuple[str, str, str]


@dataclass
class CogneeServer:
    """One server; change its fields while it runs."""

    edges: list[Edge] = field(default_factory=list)
    bearer: str = ""
    api_key: str = ""
    access_control: bool = True
    """Which of both lists a search answers with."""
    add_status: str = "PipelineRunCompleted"
    cognify_status: str = "PipelineRunCompleted"
    failures: dict[str, list[Response]] = field(default_factory=dict)
    """Answers to the next requests to a route (`add`, `cognify`, `search`, `datasets`), before it works again."""
    datasets: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """Name and texts by id."""
    requests: list[tuple[str, Any]] = field(default_factory=list)
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/api/v1/add", self._add, methods=["POST"]),
                Route("/api/v1/cognify", self._cognify, methods=["POST"]),
                Route("/api/v1/search", self._search, methods=["POST"]),
                Route("/api/v1/datasets", self._listed),
                Route("/api/v1/datasets/{id}", self._delete, methods=["DELETE"]),
            ]
        )

    def context(self) -> str:
        """The graph as a model would read it."""
        names = dict.fromkeys(end for edge in self.edges for end in (edge[0], edge[2]))
        nodes = "\n".join(f"Node: {n}\n__node_content_start__\nAbout {n}.\n__node_content_end__\n" for n in names)
        connections = "\n".join(f"{one} --[{label}]--> {other}" for one, label, other in self.edges)
        return f"Nodes:\n{nodes}\n\nConnections:\n{connections}"

    def _refused(self, request: Request, route: str) -> Response | None:
        given = request.headers.get("authorization", ""), request.headers.get("x-api-key", "")
        wanted = f"Bearer {self.bearer}" if self.bearer else "", self.api_key
        if any(wanted) and given != wanted:
            return JSONResponse({"detail": "Unauthorized"}, 401)
        waiting = self.failures.get(route)
        return waiting.pop(0) if waiting else None

    async def _add(self, request: Request) -> Response:
        async with request.form() as form:
            name = str(form.get("datasetName", ""))
            files = [part for part in form.getlist("data") if isinstance(part, UploadFile)]
            texts = [(await part.read()).decode() for part in files]
        self.requests.append(("add", texts))
        if refused := self._refused(request, "add"):
            return refused
        if not name:
            return JSONResponse({"error": "Either datasetId or datasetName must be provided.", "detail": None}, 400)
        dataset = str(uuid4())
        self.datasets[dataset] = (name, texts)
        return JSONResponse(self._run(dataset, self.add_status))

    async def _cognify(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(("cognify", body))
        if refused := self._refused(request, "cognify"):
            return refused
        found = [one for one, (name, _) in self.datasets.items() if name in body["datasets"]]
        return JSONResponse({one: self._run(one, self.cognify_status) for one in found})

    async def _search(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(("search", body))
        if refused := self._refused(request, "search"):
            return refused
        assert body["onlyContext"] is True
        [dataset] = [one for one, (name, _) in self.datasets.items() if name in body["datasets"]]
        if not self.access_control:
            return JSONResponse([self.context()])
        return JSONResponse(
            [{"search_result": [self.context()], "dataset_id": dataset, "dataset_name": body["datasets"][0]}]
        )

    async def _listed(self, request: Request) -> Response:
        if refused := self._refused(request, "datasets"):
            return refused
        return JSONResponse([{"id": one, "name": name} for one, (name, _) in self.datasets.items()])

    async def _delete(self, request: Request) -> Response:
        if refused := self._refused(request, "datasets"):
            return refused
        self.datasets.pop(request.path_params["id"], None)
        return Response(status_code=200)

    def _run(self, dataset: str, status: str) -> dict[str, Any]:
        return {
            "status": status,
            "pipeline_run_id": str(uuid4()),
            "dataset_id": dataset,
            "dataset_name": self.datasets[dataset][0],
            "payload": None,
            "data_ingestion_info": [],
        }


@asynccontextmanager
async def running(server: CogneeServer) -> AsyncIterator[CogneeServer]:
    """Serve; `server.url` says where."""
    async with served(server.app()) as server.url:
        yield server
