"""Documents by REST, MCP and the command line, with a shelf on real NATS that plays ingest and recall."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.documents import (
    DocumentChunk,
    DocumentDraft,
    DocumentForgotten,
    DocumentRetained,
    DocumentView,
)
from cortex_contracts.messages.memory import RedactionCounts
from cortex_contracts.rpc.documents import (
    DOCUMENT,
    DOCUMENTS,
    FORGET_DOCUMENT,
    RETAIN_DOCUMENT,
    DocumentReply,
    DocumentRequest,
    DocumentsReply,
    DocumentsRequest,
    ForgetDocumentRequest,
    RetainDocumentRequest,
)
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing

PATH = "/api/v1/memory/documents"
TEXT = "# Harbour\n\nنجتمع every Monday."
ID = "notes/يوم 1?#%.md"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
Run = Callable[..., Awaitable[str]]


@dataclass
class Shelf:
    """The documents that were put, in two pages each; and what was asked."""

    asked: list[Any] = field(default_factory=list)
    drafts: dict[str, list[DocumentDraft]] = field(default_factory=dict)

    async def retain(self, request: RetainDocumentRequest) -> DocumentRetained:
        self.asked.append(request)
        draft = request.document
        texts = self.drafts.setdefault(draft.document_id, [])
        unchanged = bool(texts) and texts[-1].content == draft.content
        if not unchanged:
            texts.append(draft)
        counts = {"version": len(texts), "chunks": 2, "added": 2, "kept": 0, "removed": 0}
        return DocumentRetained(
            document_id=draft.document_id,
            content_hash="00",
            redactions=RedactionCounts(private=draft.content.count("<private>")),
            unchanged=unchanged,
            **counts,
        )

    async def forget(self, request: ForgetDocumentRequest) -> DocumentForgotten:
        self.asked.append(request)
        self._known(request.document_id)
        del self.drafts[request.document_id]
        return DocumentForgotten(document_id=request.document_id, chunks=2, derived=1, changed=True)

    async def read(self, request: DocumentRequest) -> DocumentReply:
        self.asked.append(request)
        draft = self._known(request.document_id)
        parts = (draft.content[:5], draft.content[5:])
        chunk = DocumentChunk(ordinal=request.first, memory_id=UUID(int=request.first), text=parts[request.first])
        return DocumentReply(document=self._view(draft), chunks=(chunk,), next=1 if request.first == 0 else None)

    async def listed(self, request: DocumentsRequest) -> DocumentsReply:
        self.asked.append(request)
        found = [texts[-1] for name, texts in sorted(self.drafts.items()) if name.startswith(request.prefix)]
        page = found[request.offset : request.offset + min(request.limit, 2)]
        more = len(found) > request.offset + len(page)
        return DocumentsReply(documents=tuple(map(self._view, page)), more=more)

    def _known(self, document_id: str) -> DocumentDraft:
        if document_id not in self.drafts:
            raise Permanent("there is no such document", code=ErrorCode.NOT_FOUND)
        return self.drafts[document_id][-1]

    def _view(self, draft: DocumentDraft) -> DocumentView:
        fields = draft.model_dump(include=set(DocumentView.model_fields) - {"chunks"})
        more = {"version": 1, "content_hash": "00", "chunks": 2, "chars": len(draft.content), "owner": "me"}
        return DocumentView(**fields, **more, valid_at=NOON, created_at=NOON, updated_at=NOON)


@pytest.fixture
async def shelf(nats_server: NatsServer) -> AsyncIterator[Shelf]:
    shelf = Shelf()
    async with playing(
        nats_server,
        (RETAIN_DOCUMENT, shelf.retain),
        (FORGET_DOCUMENT, shelf.forget),
        (DOCUMENT, shelf.read),
        (DOCUMENTS, shelf.listed),
    ):
        yield shelf


@pytest.mark.parametrize("document_id", [ID, "a", "/etc/notes", "a//b", "../up.md", "https://example.org/x?y=1"])
async def test_a_document_is_put_read_and_forgotten_by_its_id(gateway: Any, shelf: Shelf, document_id: str) -> None:
    # Slashes may be encoded; they must be where a part of the path is "..", which clients resolve.
    address = f"{PATH}/{quote(document_id, safe='' if '..' in document_id else '/')}"
    body = {"namespace": "atlas", "content": TEXT, "metadata": {"author": "Salma"}}
    async with gateway.http() as http:
        put = (await http.put(address, json=body)).json()
        assert (put["document_id"], put["version"], put["unchanged"]) == (document_id, 1, False)
        got = (await http.get(address, params={"namespace": "atlas"})).json()
        assert (got["document"]["document_id"], got["document"]["metadata"]) == (document_id, {"author": "Salma"})
        rest = (await http.get(address, params={"namespace": "atlas", "first": got["next"]})).json()
        assert "".join(chunk["text"] for chunk in got["chunks"] + rest["chunks"]) == TEXT
        gone = (await http.delete(address, params={"namespace": "atlas"})).json()
        assert (gone["chunks"], gone["derived"], gone["changed"]) == (2, 1, True)
        missing = await http.get(address, params={"namespace": "atlas"})
        assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
    assert {request.document_id for request in shelf.asked if not isinstance(request, RetainDocumentRequest)} == {
        document_id
    }


async def test_documents_are_listed_and_what_is_wrong_is_refused(gateway: Any, shelf: Shelf) -> None:
    async with gateway.http() as http:
        for name in ("a/1", "a/2", "b"):
            await http.put(f"{PATH}/{name}", json={"namespace": "atlas", "content": TEXT})
        listed = (await http.get(PATH, params={"prefix": "a", "namespaces": ["atlas", "other"]})).json()
        assert [one["document_id"] for one in listed["documents"]] == ["a/1", "a/2"]
        assert shelf.asked[-1].namespaces == ("atlas", "other")
        for wrong in (
            await http.put(f"{PATH}/a", json={"namespace": "atlas", "content": TEXT, "document_id": "b"}),
            await http.put(f"{PATH}/a", json={"namespace": "atlas", "content": ""}),
            await http.put(f"{PATH}/{'a' * 201}", json={"namespace": "atlas", "content": TEXT}),
            await http.put(f"{PATH}/a%00b", json={"namespace": "atlas", "content": TEXT}),
            await http.get(f"{PATH}/a"),
            await http.get(PATH, params={"namespace": "atlas"}),
        ):
            assert wrong.status_code == 422, wrong.text
        large = await http.put(f"{PATH}/a", json={"namespace": "atlas", "content": "م" * (9 << 20)})
        assert (large.status_code, large.json()["error"]) == (413, "too_large")
    async with gateway.http(None) as http:
        assert (await http.get(PATH)).status_code == 401


async def test_an_agent_retains_a_document_with_the_tool_it_has(
    gateway: Any, shelf: Shelf, connect: Callable[..., Any]
) -> None:
    async with connect(gateway, "http") as client:
        arguments = {"content": f"{TEXT} <private>x</private>", "document_id": ID, "namespace": "atlas"}
        first = await client.call_tool("memory_retain", arguments)
        assert first.structured_content == {"id": ID, "decision": "add", "private": 1, "added": 2}
        again = await client.call_tool("memory_retain", arguments)
        assert again.structured_content["decision"] == "noop"
        other = await client.call_tool("memory_retain", arguments | {"content": "Other.", "private": True})
        assert other.structured_content["decision"] == "update"
        refused = await client.call_tool("memory_retain", arguments | {"document_id": "a\nb"})
        assert refused.is_error
    assert shelf.asked[-1].document.visibility == "private"


async def test_the_command_line_puts_files_and_prints_them(cortex: Run, shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(TEXT, encoding="utf-8-sig")
    assert "notes/a.md is at version 1: 2 new, 0 kept, 0 removed" in await cortex(
        "document", "put", "./notes/a.md", "-n", "atlas"
    )
    assert "has not changed" in await cortex("document", "put", "notes/a.md", "-n", "atlas", "--source", "chat")
    assert await cortex("document", "get", "notes/a.md", "-n", "atlas") == f"{TEXT}\n"
    piped = await cortex("document", "put", "-", "--id", ID, "--private", "--json", stdin=b"<private>x</private> y")
    assert json.loads(piped)["redactions"]["private"] == 1
    await cortex("document", "put", "-", "--id", "third", "--at", "2026-11-30T09:30+02:00", stdin=b"Third.")
    assert [line.split()[1] for line in (await cortex("document", "list")).splitlines()] == [
        "notes/a.md",
        "notes/يوم",
        "third",
    ]
    assert len(json.loads(await cortex("document", "list", "--json"))["documents"]) == 3
    assert len(json.loads(await cortex("document", "get", ID, "--as-of", "2026-12-01", "--json"))["chunks"]) == 2
    assert "forgotten, with 2 memories and 1 that" in await cortex("document", "forget", "third")
    assert "there is no such document" in await cortex("document", "get", "third", code=4)
    assert await cortex("document", "list", "none") == "There are no documents.\n"

    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nul").write_bytes(b"a\x00b")
    assert "expected text in UTF-8" in await cortex("document", "put", "binary", code=1)
    assert "binary data" in await cortex("document", "put", "nul", code=1)
    assert "cannot read" in await cortex("document", "put", "missing", code=1)
    assert "content" in await cortex("document", "put", "-", "--id", "empty", code=1)
    assert "--id" in await cortex("document", "put", "-", code=2)
    (tmp_path / "notes" / "up.md").write_text("Up.", encoding="utf-8")
    await cortex("document", "put", "notes/../notes/up.md")
    assert await cortex("document", "get", "notes/../notes/up.md") == "Up.\n"
