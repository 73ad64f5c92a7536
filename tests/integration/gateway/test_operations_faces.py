"""Operations over REST and the command line, on real NATS, with ingest played by a small register of operations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from cortex_contracts.errors import ErrorBody, ErrorCode, Permanent
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.documents import DocumentRetained
from cortex_contracts.messages.memory import RedactionCounts
from cortex_contracts.rpc.ingest import (
    IMPROVE,
    RETAIN_BATCH,
    Improved,
    ImproveRequest,
    RetainBatchReply,
    RetainBatchRequest,
)
from cortex_contracts.rpc.operations import (
    CANCEL_OPERATION,
    OPERATION,
    OPERATIONS,
    RETRY_OPERATION,
    STAGE_DOCUMENT,
    START_DOCUMENT,
    Operation,
    OperationItem,
    OperationReply,
    OperationRequest,
    OperationsReply,
    OperationsRequest,
    OperationStarted,
    OperationStatus,
    StageDocumentRequest,
    StagedPart,
    StartDocumentRequest,
)
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing

MEMORY = "/api/v1/memory"
PATH = f"{MEMORY}/operations"
RETAINED = DocumentRetained(
    document_id="dock.md",
    version=3,
    content_hash="0" * 64,
    chunks=9,
    added=2,
    kept=7,
    removed=1,
    redactions=RedactionCounts(private=1),
    unchanged=False,
)
REFUSED = ErrorBody(code=ErrorCode.FORBIDDEN, message="no access to write the namespace 'other'", retryable=False)


@dataclass
class PlayedOperations:
    """Operations that finish one more item whenever they are asked for."""

    asked: list[Message] = field(default_factory=list)
    known: dict[UUID, Operation] = field(default_factory=dict)
    parts: dict[int, str] = field(default_factory=dict)

    def start(self, kind: str, total: int) -> UUID:
        operation_id = uuid4()
        self.known[operation_id] = Operation(
            operation_id=operation_id,
            kind=kind,
            status=OperationStatus.QUEUED,
            done=0,
            total=total,
            created_at=datetime(2026, 11, 30, 9, 30, tzinfo=UTC),
        )
        return operation_id

    def _change(self, request: OperationRequest, **fields: Any) -> Operation:
        if request.operation_id not in self.known:
            raise Permanent("there is no such operation", code=ErrorCode.NOT_FOUND)
        self.known[request.operation_id] = self.known[request.operation_id].model_copy(update=fields)
        return self.known[request.operation_id]

    async def retain_batch(self, request: RetainBatchRequest) -> RetainBatchReply:
        self.asked.append(request)
        assert request.background
        return RetainBatchReply(items=(), operation_id=self.start("retain_batch", len(request.memories)))

    async def improve(self, request: ImproveRequest) -> Improved:
        self.asked.append(request)
        return (
            Improved(improved=0, operation_id=self.start("improve", 3)) if request.background else Improved(improved=1)
        )

    async def get(self, request: OperationRequest) -> OperationReply:
        one = self._change(request)
        if one.finished_at is None:
            done = min(one.done + 1, one.total or 0)
            over = done == one.total
            one = self._change(
                request,
                done=done,
                failed=1,
                status=OperationStatus.SUCCEEDED if over else OperationStatus.RUNNING,
                finished_at=datetime.now(UTC) if over else None,
            )
        item = OperationItem(item=0, error=REFUSED)
        if one.kind == "retain_document" and one.finished_at:
            item = OperationItem(item=0, document=RETAINED)
        return OperationReply(operation=one, items=(item,))

    async def stage(self, request: StageDocumentRequest) -> StagedPart:
        self.parts[request.part] = request.text
        return StagedPart(upload_id=request.upload_id, part=request.part)

    async def start_document(self, request: StartDocumentRequest) -> OperationStarted:
        self.asked.append(request)
        assert request.parts == len(self.parts)
        return OperationStarted(operation_id=self.start("retain_document", 2))

    async def listed(self, request: OperationsRequest) -> OperationsReply:
        self.asked.append(request)
        found = [one for one in self.known.values() if request.status in (None, one.status)]
        return OperationsReply(operations=tuple(reversed(found[: request.limit])))

    async def cancel(self, request: OperationRequest) -> Operation:
        return self._change(request, status=OperationStatus.CANCELLED, finished_at=datetime.now(UTC))

    async def retry(self, request: OperationRequest) -> Operation:
        if self._change(request).status is OperationStatus.SUCCEEDED:
            raise Permanent("the operation has succeeded already", code=ErrorCode.CONFLICT)
        return self._change(request, status=OperationStatus.QUEUED, finished_at=None)


@pytest.fixture
async def played_operations(nats_server: NatsServer) -> AsyncIterator[PlayedOperations]:
    operations = PlayedOperations()
    async with playing(
        nats_server,
        (RETAIN_BATCH, operations.retain_batch),
        (IMPROVE, operations.improve),
        (STAGE_DOCUMENT, operations.stage),
        (START_DOCUMENT, operations.start_document),
        (OPERATION, operations.get),
        (OPERATIONS, operations.listed),
        (CANCEL_OPERATION, operations.cancel),
        (RETRY_OPERATION, operations.retry),
    ):
        yield operations


async def test_work_in_the_background_is_accepted_with_the_address_of_its_operation(
    gateway: Any, played_operations: PlayedOperations
) -> None:
    async with gateway.http() as http:
        batch = {"memories": [{"namespace": "work", "content": "a crane"}] * 2, "background": True}
        accepted = await http.post(f"{MEMORY}/batch", json=batch)
        assert accepted.status_code == 202
        operation_id = accepted.json()["operation_id"]
        assert accepted.headers["location"] == f"{PATH}/{operation_id}"
        seen = (await http.get(accepted.headers["location"])).json()
        assert (seen["operation"]["status"], seen["operation"]["done"], seen["operation"]["total"]) == ("running", 1, 2)
        assert seen["items"][0]["error"]["code"] == "forbidden"
        accepted = await http.post(f"{MEMORY}/improve", json={"namespace": "work", "background": True})
        assert accepted.status_code == 202
        at_once = await http.post(f"{MEMORY}/improve", json={"memory_ids": [str(uuid4())]})
        assert (at_once.status_code, at_once.json()["improved"]) == (200, 1)
        listed = (await http.get(PATH, params={"limit": 5})).json()["operations"]
        assert [one["kind"] for one in listed] == ["improve", "retain_batch"]
        assert (await http.get(PATH, params={"status": "running"})).json()["operations"][0]["kind"] == "retain_batch"
    assert {request.principal.org for request in played_operations.asked} == {"local"}  # type: ignore[attr-defined]


async def test_an_operation_is_cancelled_and_tried_again(gateway: Any, played_operations: PlayedOperations) -> None:
    one = played_operations.start("improve", 1)
    async with gateway.http() as http:
        assert (await http.post(f"{PATH}/{one}/cancel")).json()["status"] == "cancelled"
        assert (await http.post(f"{PATH}/{one}/retry")).json()["status"] == "queued"
        assert (await http.get(f"{PATH}/{one}")).json()["operation"]["status"] == "succeeded"
        refused = await http.post(f"{PATH}/{one}/retry")
        assert (refused.status_code, refused.json()["error"]) == (409, "conflict")


async def test_what_is_not_there_wrong_or_nobodys_is_refused(gateway: Any, played_operations: PlayedOperations) -> None:
    async with gateway.http() as http:
        for response in (await http.get(f"{PATH}/{uuid4()}"), await http.post(f"{PATH}/{uuid4()}/cancel")):
            assert (response.status_code, response.json()["error"]) == (404, "not_found")
        for query in ({"limit": 0}, {"status": "lost"}, {"subject": "somebody else"}):
            assert (await http.get(PATH, params=query)).status_code == 422
    async with gateway.http(None) as http:
        for response in (await http.get(PATH), await http.post(f"{PATH}/{uuid4()}/retry")):
            assert response.status_code == 401


async def test_the_command_line_shows_waits_cancels_and_tries_again(
    cortex: Any, played_operations: PlayedOperations
) -> None:
    assert await cortex("operation", "list") == "There are no operations.\n"
    told = await cortex("improve", "-n", "work", "--wait")
    (operation_id,) = played_operations.known
    assert "status    succeeded" in told
    assert "done      3 of 3, 1 failed" in told
    assert "item 0: no access to write the namespace 'other'" in told
    assert str(operation_id) in await cortex("operation", "list", "--status", "succeeded")
    assert "succeeded already" in await cortex("operation", "retry", str(operation_id), code=1)
    second = played_operations.start("retain_batch", 50)
    assert json.loads(await cortex("operation", "get", str(second), "--json"))["operation"]["done"] == 1
    assert "status    cancelled" in await cortex("operation", "cancel", str(second), "--wait")
    assert "cancelled" in await cortex("operation", "get", str(second), "--wait", code=1)
    assert "running" in await cortex("operation", "retry", str(second))
    assert "no such operation" in await cortex("operation", "get", str(uuid4()), code=4)
    await cortex("improve", code=2)


async def test_the_command_line_puts_a_long_document_and_waits_for_it(
    cortex: Any, played_operations: PlayedOperations, tmp_path: Path
) -> None:
    file = tmp_path / "dock.md"
    secret = "<private>nobody's business</private>"
    file.write_text(f"{'A crane stands at the quay. ' * 40_000}{secret}", encoding="utf-8")
    told = await cortex("document", "put", str(file), "--id", "dock.md", "-n", "work")
    assert told == "dock.md is at version 3: 2 new, 7 kept, 1 removed\n  cut out 1 private span\n"
    assert "".join(played_operations.parts[part] for part in sorted(played_operations.parts)).endswith(" [private]")
    assert len(played_operations.parts) == 8
    (started,) = (one for one in played_operations.asked if isinstance(one, StartDocumentRequest))
    assert (started.document.document_id, started.redactions.private) == ("dock.md", 1)
    played_operations.parts.clear()
    file.write_text("A short one.", encoding="utf-8")
    told = await cortex("document", "put", str(file), "--id", "dock.md", "-n", "work", "--background")
    assert "kind      retain_document" in told
    assert played_operations.parts == {0: "A short one."}
