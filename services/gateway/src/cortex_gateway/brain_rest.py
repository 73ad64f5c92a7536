"""REST: questions about pages, their graph and timeline, syncs and health, under `/api/v1/brain`."""

from __future__ import annotations

import time
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import NO_NUL, Principal
from cortex_contracts.rpc.pages import (
    MAX_PAGE_QUERY,
    MAX_PAGE_RESULTS,
    PageSearch,
    QueryPagesRequest,
    TimelineRequest,
)
from cortex_gateway import brain_examples as examples
from cortex_gateway.brain import Brain
from cortex_gateway.brain_answers import Entry, Graph, Health, Queued, Results, Stats, SyncReport, Timeline
from cortex_gateway.brain_filters import Day, TagFilter, TypeFilter, VaultFilter, types_and_tags
from cortex_gateway.brain_health import BrainHealth
from cortex_gateway.brain_pages_rest import NAMED, pages_router, readable
from cortex_gateway.errors import WrongFields
from cortex_gateway.memory_rest import Caller
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, Responses, example, refusal
from cortex_gateway.usage import Usage

PREFIX: Final = "/api/v1/brain"
HEALTH_PATH: Final = f"{PREFIX}/health"
MAX_QUERY_LIMIT: Final = 20


def _asked(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a question, got blanks")
    return text


Question = Annotated[
    str,
    Query(min_length=1, max_length=MAX_PAGE_QUERY, pattern=NO_NUL, openapi_examples=examples.QUESTIONS),
    AfterValidator(_asked),
]
NOT_SERVED: Final = refusal("The pages are not served", "unavailable", "the pages are not served now", retry=True)
VAULT_NAMED: Final[Responses] = {404: refusal("There is no such vault", "not_found", "there is no vault notes")}


def brain_router(brain: Brain, health: BrainHealth, usage: Usage) -> APIRouter:
    """The routes over `brain`; but for `/health`, who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["brain"])
    routes.include_router(_questions(brain))
    routes.include_router(pages_router(brain))
    routes.include_router(_syncs(brain))

    @routes.get(
        "/health",
        summary="Whether the pages are served",
        responses={200: example(examples.HEALTH), 503: NOT_SERVED},
        response_model=Health,
    )
    async def served() -> Health:
        """Open and cheap, for monitoring: 200 when serving, 503 when not. `degraded`: by words only, for instance."""
        return Health.of(await health.status())

    @routes.get(
        "/stats",
        summary="Health, with pages by tag and type and what each agent has used",
        responses=RESPONSES | {200: example(examples.STATS)},
        dependencies=CREDENTIALS,
    )
    async def stats(principal: Caller) -> Stats:
        """Of the pages that the credentials may read."""
        return Stats.with_usage(await brain.status(principal, details=True), await usage.of(principal))

    return routes


def _questions(brain: Brain) -> APIRouter:
    routes = APIRouter(responses=RESPONSES, dependencies=CREDENTIALS)

    async def answered(
        principal: Principal,
        search: PageSearch,
        q: str,
        limit: int,
        types: list[str],
        tags: list[str],
        vault: str | None,
    ) -> Results:
        started = time.perf_counter()
        known_types, known_tags = types_and_tags(types, tags)
        request = QueryPagesRequest(
            principal=principal, query=q, search=search, limit=limit, types=known_types, tags=known_tags, vault=vault
        )
        reply = await brain.query(request)
        return Results.of(reply, round((time.perf_counter() - started) * 1000))

    @routes.get("/query", summary="Which pages answer a question", responses={200: example(examples.RESULTS)})
    async def query(
        principal: Caller,
        q: Question,
        limit: Annotated[int, Query(ge=1, le=MAX_QUERY_LIMIT, examples=[5])] = 5,
        types: TypeFilter = [],  # noqa: B006 - a default of the document, never changed
        tags: TagFilter = [],  # noqa: B006
        vault: VaultFilter = None,
    ) -> Results:
        """By meaning and by words. Scores are relative: the first result has 1. None is an answer, not an error."""
        return await answered(principal, PageSearch.HYBRID, q, limit, types, tags, vault)

    @routes.get("/search", summary="Which pages have these words", responses={200: example(examples.RESULTS)})
    async def search(
        principal: Caller,
        q: Question,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE_RESULTS, examples=[10])] = 10,
        types: TypeFilter = [],  # noqa: B006
        tags: TagFilter = [],  # noqa: B006
        vault: VaultFilter = None,
    ) -> Results:
        """By words only: no model is asked."""
        return await answered(principal, PageSearch.LEXICAL, q, limit, types, tags, vault)

    @routes.get(
        "/graph/{slug:path}", summary="The pages around a page", responses={**NAMED, 200: example(examples.GRAPH)}
    )
    async def graph(
        principal: Caller,
        slug: Annotated[str, Path(description="The page's slug", openapi_examples=examples.SLUGS)],
        depth: Annotated[int, Query(ge=1, le=4, description="How many links away", examples=[2])] = 1,
        vault: VaultFilter = None,
    ) -> Graph:
        """Links count in both directions."""
        reply = await brain.graph(principal, readable(slug), depth, vault)
        if not reply.found:
            raise Permanent("there is no such page", code=ErrorCode.NOT_FOUND)
        return Graph.of(reply)

    @routes.get("/timeline", summary="Pages by the day they are about", responses={200: example(examples.TIMELINE)})
    async def timeline(
        principal: Caller,
        start: Annotated[Day, Query(alias="from", description="This day and later", examples=["2026-01-01"])] = None,
        end: Annotated[Day, Query(alias="to", description="This day and earlier", examples=["2026-12-31"])] = None,
        types: TypeFilter = [],  # noqa: B006
        limit: Annotated[int, Query(ge=1, le=500, examples=[50])] = 50,
        vault: VaultFilter = None,
    ) -> Timeline:
        """Their effective date, else the date that they say, else the day they were created; the latest first."""
        if start and end and start > end:
            raise WrongFields(("from", "expected a day that is not after `to`"))
        known, _ = types_and_tags(types)
        request = TimelineRequest(principal=principal, start=start, end=end, types=known, limit=limit, vault=vault)
        reply = await brain.timeline(request)
        return Timeline(entries=[Entry(**dict(one)) for one in reply.entries])

    return routes


def _syncs(brain: Brain) -> APIRouter:
    routes = APIRouter(responses=RESPONSES | VAULT_NAMED, dependencies=CREDENTIALS)

    @routes.post("/sync", status_code=202, summary="Sync now", responses={202: example(examples.QUEUED, "It will run")})
    async def sync(principal: Caller, vault: VaultFilter = None) -> Queued:
        """One vault, or all that the credentials may write. Reads go on; `/sync/status` tells how far it is."""
        await brain.sync(principal, vault)
        return Queued()

    @routes.get(
        "/sync/status",
        summary="What the latest sync did",
        response_model=SyncReport,
        responses={200: example(examples.SYNC_REPORT)},
    )
    async def status(principal: Caller, vault: VaultFilter = None) -> JSONResponse:
        """Of one vault or of all. `last_result` is `partial` when single pages could not be applied: see `errors`."""
        return JSONResponse(SyncReport.of(await brain.sync_states(principal, vault), single=vault is not None).shown())

    return routes
