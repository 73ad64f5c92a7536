"""REST: retain, recall, get, forget, restore and share under `/api/v1/memory`.

The bodies are the messages of the bus without their principal, which comes from the credentials. A field that is not
known is refused: a misspelt `namespaces` must not search them all.
"""

from __future__ import annotations

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from cortex_contracts.messages.base import Principal, Token
from cortex_contracts.messages.memory import MemoryDraft, Retained
from cortex_contracts.rpc.archive import ArchiveQuestion, ArchiveReply
from cortex_contracts.rpc.ingest import (
    MAX_BATCH,
    Changed,
    Grant,
    Grants,
    Improved,
    RetainBatch,
    RetainBatchReply,
    Share,
)
from cortex_contracts.rpc.operations import OperationStarted
from cortex_contracts.rpc.recall import (
    ContextQuestion,
    ContextReply,
    GetReply,
    RecallFilter,
    RecallQuestion,
    RecallReply,
)
from cortex_gateway.auth import principal_of
from cortex_gateway.memory import Memory
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, TOO_LARGE, Responses, refusal

PREFIX: Final = "/api/v1/memory"
STRICT: Final = ConfigDict(extra="forbid", frozen=True)
RETAIN_EXAMPLES: Final[dict[str, Any]] = {
    "statement": {
        "summary": "What somebody asked to remember",
        "value": {"namespace": "atlas", "content": "Atlas retries a failed payment five times.", "explicit": True},
    },
    "turn": {
        "summary": "A turn of a conversation",
        "value": {
            "namespace": "atlas",
            "content": "نجتمع كل يوم اثنين في التاسعة والنصف.",
            "source_kind": "chat",
            "session": "standup-2026-11-30",
            "turn": 4,
            "speaker": "Salma",
            "occurred_at": "2026-11-30T09:31:00+02:00",
        },
    },
}
RECALL_EXAMPLES: Final[dict[str, Any]] = {
    "plain": {"summary": "Everything readable", "value": {"query": "How often does Atlas retry a payment?"}},
    "narrow": {
        "summary": "What was true at the end of October, within a budget",
        "value": {
            "query": "payment retries",
            "namespaces": ["atlas"],
            "k": 5,
            "budget_tokens": 800,
            "as_of": "2026-10-31T23:59:59Z",
            "filter": {"sources": ["chat", "manual"]},
        },
    },
}
ARCHIVE_EXAMPLES: Final[dict[str, Any]] = {
    "month": {
        "summary": "What was said in one month, years ago",
        "value": {
            "query": "which pump failed in the harbour?",
            "namespaces": ["atlas"],
            "filter": {"since": "2024-03-01T00:00:00Z", "until": "2024-04-01T00:00:00Z"},
        },
    },
    "everything": {"summary": "Everything readable", "value": {"query": "أول عطل في المضخة", "k": 5, "limit_s": 50}},
}
WRITES: Final = TOO_LARGE
NAMED: Final[Responses] = {404: refusal("There is no such memory for this principal", "not_found", "no such memory")}


class RetainBody(MemoryDraft):
    """A statement to remember. What is private or a credential in it is cut out before anything else happens."""

    model_config = STRICT


class BatchBody(RetainBatch):
    """Statements to remember, in their order."""

    model_config = STRICT

    memories: tuple[RetainBody, ...] = Field(min_length=1, max_length=MAX_BATCH)


class FilterBody(RecallFilter):
    """What the answer is narrowed to; a field that is not given narrows nothing. Times are half-open."""

    model_config = STRICT


class RecallBody(RecallQuestion):
    """A query and what narrows it."""

    model_config = STRICT

    filter: FilterBody = FilterBody()


class ArchiveBody(ArchiveQuestion):
    """A query to the cold tier and what narrows it; a time window makes it fast."""

    model_config = STRICT

    filter: FilterBody = FilterBody()


class ContextBody(ContextQuestion):
    """Which project, how many tokens, and since when."""

    model_config = STRICT


class ShareBody(Share):
    """Who may do what where; `none` takes it back."""

    model_config = STRICT


async def authenticated(request: Request) -> Principal:
    """The principal of the request."""
    return principal_of(request)


Caller = Annotated[Principal, Depends(authenticated)]


def accepted(reply: RetainBatchReply | Improved | OperationStarted) -> Response:
    """202 with the address of the operation that the work was left to."""
    location = f"{PREFIX}/operations/{reply.operation_id}"
    return Response(reply.model_dump_json(), 202, {"Location": location}, "application/json")


def background(reply: type[Any]) -> Responses:
    """The 202 of a route whose work may be left to the background."""
    return {202: {"model": reply, "description": "In the background: `operation_id` and `Location` name the operation"}}


def memory_router(memory: Memory) -> APIRouter:
    """The routes over `memory`; who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["memory"], responses=RESPONSES, dependencies=CREDENTIALS)

    @routes.post("", summary="Remember one statement", responses=WRITES)
    async def retain(
        principal: Caller, draft: Annotated[RetainBody, Body(openapi_examples=RETAIN_EXAMPLES)]
    ) -> Retained:
        """Redact, decide against what is known, remember; recall finds it once this has answered."""
        return await memory.retain(principal, draft)

    @routes.post(
        "/batch",
        summary="Remember many statements",
        responses=WRITES | background(RetainBatchReply),
        response_model=RetainBatchReply,
    )
    async def retain_batch(principal: Caller, batch: BatchBody) -> RetainBatchReply | Response:
        """Each statement succeeds or fails on its own; the outcomes come in the order of the request."""
        reply = await memory.retain_batch(principal, batch)
        return accepted(reply) if reply.operation_id else reply

    @routes.post("/recall", summary="Find memories")
    async def recall(
        principal: Caller, question: Annotated[RecallBody, Body(openapi_examples=RECALL_EXAMPLES)]
    ) -> RecallReply:
        """Memories that answer the query, best first; none is an answer, not an error."""
        return await memory.recall(principal, question)

    @routes.post("/archive/recall", summary="Find memories that left the hot tier")
    async def recall_archive(
        principal: Caller, question: Annotated[ArchiveBody, Body(openapi_examples=ARCHIVE_EXAMPLES)]
    ) -> ArchiveReply:
        """Memories of the cold tier that answer the query, best first, with their provenance; what is not true any more
        is among them. It takes seconds where no time window narrows it, and answers within `limit_s`: `complete` says
        whether there was time for all of it."""
        return await memory.recall_archive(principal, question)

    @routes.post("/context", summary="What matters for a project")
    async def context(principal: Caller, question: ContextBody) -> ContextReply:
        """What to know at the start of a session within a token budget, or what changed since a moment."""
        return await memory.context(principal, question)

    @routes.post("/share", summary="Grant an agent access to a namespace", responses=WRITES)
    async def share(principal: Caller, wanted: ShareBody) -> Grant:
        """Grant read or write, or take it back with `none`."""
        return await memory.share(principal, wanted)

    @routes.get("/grants", summary="Who was granted what")
    async def grants(principal: Caller, namespace: Annotated[Token | None, Query()] = None) -> Grants:
        """Grants by namespace and agent, of one namespace or of all."""
        return await memory.grants(principal, namespace)

    # The names of the other routes are no ids: to GET one of them is a 405.
    @routes.get("/{memory_id:uuid}", summary="One memory", responses=NAMED)
    async def get(principal: Caller, memory_id: UUID) -> GetReply:
        """A memory with its provenance, what superseded what, its repeats, entities and history; `archived` says that
        it was found in the cold tier."""
        return await memory.get(principal, memory_id)

    @routes.post("/{memory_id}/forget", summary="A memory stops being true", responses={**WRITES, **NAMED})
    async def forget(principal: Caller, memory_id: UUID) -> Changed:
        """Nothing is deleted: `restore` undoes it. To forget twice changes nothing."""
        return await memory.forget(principal, memory_id)

    @routes.post("/{memory_id}/restore", summary="Undo a forget", responses={**WRITES, **NAMED})
    async def restore(principal: Caller, memory_id: UUID) -> Changed:
        """The memory is true again. To restore twice changes nothing."""
        return await memory.restore(principal, memory_id)

    return routes
