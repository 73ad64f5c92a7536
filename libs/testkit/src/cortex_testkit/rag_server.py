"""A retrieval server with `homelab_search` and `homelab_context`, which answers in any form that such servers have.

Its cosines are those of a model like E5: a text that shares no word with the question still has 0.78, one that has them
all 0.93, and every search gives as many results as it is asked for, whether they have to do with it or not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.server import MCPServer

UNRELATED = 0.78
PERFECT = 0.93


@dataclass(frozen=True)
class Document:
    """A file that was indexed."""

    path: str
    text: str
    modified: str = "2026-11-20T08:00:00Z"


@dataclass(frozen=True)
class Scored:
    """A document and its cosine."""

    document: Document
    cosine: float


Form = Callable[[Sequence[Scored]], Any]
SHAPES: dict[type, object] = {dict: dict[str, Any], list: list[dict[str, Any]], str: str}


def results(found: Sequence[Scored]) -> Any:
    """`{"results": [{"content", "source", "score", "metadata"}]}`."""
    return {
        "query": "…",
        "results": [
            {
                "content": one.document.text,
                "source": one.document.path,
                "score": one.cosine,
                "metadata": {"modified": one.document.modified, "chunk": 3},
            }
            for one in found
        ],
    }


def bare(found: Sequence[Scored]) -> Any:
    """A list of objects of their own names, with a distance."""
    return [
        {
            "text": one.document.text,
            "file_path": one.document.path,
            "distance": 1 - one.cosine,
            "mtime": 1_795_248_000.5,
        }
        for one in found
    ]


def chroma(found: Sequence[Scored]) -> Any:
    """Columns, each a list per query."""
    return {
        "ids": [[f"c{number}" for number, _ in enumerate(found)]],
        "documents": [[one.document.text for one in found]],
        "metadatas": [[{"source": one.document.path, "updated_at": one.document.modified} for one in found]],
        "distances": [[1 - one.cosine for one in found]],
    }


def qdrant(found: Sequence[Scored]) -> Any:
    """Points with a payload."""
    return {
        "result": {
            "points": [
                {
                    "id": number,
                    "version": 7,
                    "score": one.cosine,
                    "payload": {"page_content": one.document.text, "metadata": {"file": one.document.path}},
                }
                for number, one in enumerate(found)
            ]
        },
        "status": "ok",
        "time": 0.002,
    }


def nodes(found: Sequence[Scored]) -> Any:
    """`{"documents": [{"node": {"text", "metadata"}, "score"}]}`, scores as text."""
    return {
        "documents": [
            {
                "node": {"text": one.document.text, "metadata": {"file_path": one.document.path}},
                "score": f"{one.cosine:.4f}",
            }
            for one in found
        ]
    }


def prose(found: Sequence[Scored]) -> Any:
    """A page of text with a heading for each result."""
    if not found:
        return "No results found for your query."
    blocks = [
        f"### {number}. {one.document.path} (score: {one.cosine:.2f})\nModified: {one.document.modified}\n\n"
        f"{one.document.text}\n"
        for number, one in enumerate(found, 1)
    ]
    return f"Found {len(found)} results:\n\n" + "\n---\n".join(blocks)


def numbered(found: Sequence[Scored]) -> Any:
    """A page of text with numbers in brackets."""
    return "\n\n".join(
        f"[{number}] Source: {one.document.path}\nScore: {one.cosine:.3f}\n{one.document.text}"
        for number, one in enumerate(found, 1)
    )


FORMS: tuple[Form, ...] = (results, bare, chroma, qdrant, nodes, prose, numbered)


@dataclass
class RagServer:
    """One server; change its fields while it runs."""

    documents: Sequence[Document] = ()
    form: Form = results
    structured: bool = True
    """Whether answers come as structured content as well as text, or as text alone (a list: a block for each item)."""
    tools: Sequence[str] = ("homelab_search", "homelab_context")
    finds: bool = True
    """Whether a search finds anything."""
    error: str = ""
    """Said inside of a success."""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def mcp(self) -> MCPServer:
        """The server with its tools, and one that writes."""
        server = MCPServer("homelab-rag")
        for name in self.tools:
            server.add_tool(self._tool(name), name=name, description=name, structured_output=self.structured)
        server.add_tool(self._reindex, name="homelab_reindex", description="Read all files again.")
        return server

    def _tool(self, name: str) -> Callable[..., Any]:
        """A tool that says what it returns: that is what makes an answer structured."""
        known: dict[str, tuple[Callable[..., Any], object]] = {
            "homelab_search": (self._search, SHAPES[type(self.form(()))]),
            "homelab_context": (self._context, str),
            "homelab_status": (self._status, dict[str, Any]),
        }
        work, returned = known[name]

        async def tool(*arguments: Any, **named: Any) -> Any:
            return await work(*arguments, **named)

        tool.__signature__ = inspect.signature(work).replace(return_annotation=returned)  # type: ignore[attr-defined]
        tool.__annotations__ = {**inspect.get_annotations(work.__func__, eval_str=True), "return": returned}  # type: ignore[attr-defined]
        return tool

    async def _search(self, query: str, top_k: int = 5) -> Any:
        self.asked.append(("homelab_search", {"query": query, "top_k": top_k}))
        if self.error:
            return {"error": self.error}
        return self.form(self._found(query)[:top_k] if self.finds else ())

    async def _context(self, question: str) -> Any:
        self.asked.append(("homelab_context", {"question": question}))
        return "\n\n".join(f"Source: {one.document.path}\n{one.document.text}" for one in self._found(question)[:3])

    async def _status(self) -> Any:
        return {"documents": len(self.documents), "last_indexed": "2026-11-29T01:02:03Z"}

    async def _reindex(self) -> Any:
        self.asked.append(("homelab_reindex", {}))
        return "done"

    def _found(self, query: str) -> list[Scored]:
        words = {word.strip("?.,!").lower() for word in query.split()}

        def cosine(document: Document) -> float:
            held = sum(word in document.text.lower() for word in words)
            return UNRELATED + (PERFECT - UNRELATED) * held / max(1, len(words))

        return sorted((Scored(one, cosine(one)) for one in self.documents), key=lambda one: -one.cosine)
