"""A server that answers as Cognee 1.6 does: add, cognify, search, datasets; its statuses and its three kinds of errors.

It has no model: its graph are `edges`, which it finds around every text, and chunks are found by the words they share.
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

SEARCHES = ("GRAPH_COMPLETION", "CHUNKS", "CHUNKS_LEXICAL", "SUMMARIES")


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
    chunks: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Name of the dataset and payload (`text`, …) of what was added and cut before the test."""
    searches: tuple[str, ...] = SEARCHES
    """The kinds of searches that it knows."""
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
        connections = "\n".join(f"{one} --[{label}]--> {other}  ({label} (told))" for one, label, other in self.edges)
        return f"The question is: `…`\nand here is the context: `Nodes:\n{nodes}\n\nConnections:\n{connections}`"

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
        kind = body.get("searchType", body.get("search_type"))
        if kind not in self.searches:
            wrong = {"type": "enum", "loc": ["body", "searchType"], "msg": "Input should be …", "input": kind}
            return JSONResponse({"detail": [wrong], "body": body}, 400)
        if kind != "GRAPH_COMPLETION":
            return self._chunks(body)
        assert body["onlyContext"] is True
        [dataset] = [one for one, (name, _) in self.datasets.items() if name in body["datasets"]]
        if not self.access_control:
            return JSONResponse([self.context()])
        return JSONResponse(
            [{"search_result": self.context(), "dataset_id": dataset, "dataset_name": body["datasets"][0]}]
        )

    def _chunks(self, body: dict[str, Any]) -> Response:
        wanted = body.get("datasets") or list(dict.fromkeys(name for name, _ in self.chunks))
        if not self.chunks:
            return JSONResponse({"detail": "No data found in the system, please add data first. [NoDataError]"}, 404)
        if unknown := set(wanted) - {name for name, _ in self.chunks}:
            return JSONResponse({"detail": f"Dataset(s) not found: {unknown}. [DatasetNotFoundError]"}, 404)
        words = body["query"].lower().split()

        def shared(payload: dict[str, Any]) -> int:
            return sum(word.strip("?") in payload["text"].lower() for word in words)

        found = sorted(((n, c) for n, c in self.chunks if n in wanted), key=lambda one: -shared(one[1]))
        found = found[: body.get("topK", 15)]
        if not self.access_control:
            return JSONResponse([chunk for _, chunk in found])
        return JSONResponse(
            [
                {
                    "search_result": [chunk for other, chunk in found if other == name],
                    "dataset_id": str(uuid4()),
                    "dataset_name": name,
                }
                for name in wanted
            ]
        )

    async def _listed(self, request: Request) -> Response:
        if refused := self._refused(request, "datasets"):
            return refused
        known = [{"id": one, "name": name} for one, (name, _) in self.datasets.items()]
        dated = [
            {"id": str(uuid4()), "name": name, "createdAt": "2026-10-01T08:00:00Z", "updatedAt": "2026-11-20T08:00:00Z"}
            for name in dict.fromkeys(name for name, _ in self.chunks)
        ]
        return JSONResponse(known + dated)

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
