"""REST: runs of the background work under `/api/v1/sleep/runs`, for owners."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Body

from cortex_contracts.rpc.sleep import SleepRuns, SleepRunWanted, SleepStatus, SleepStopWanted
from cortex_gateway.memory_rest import STRICT, Caller
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, TOO_LARGE, Responses, example, refusal, wrong_fields
from cortex_gateway.sleep import BackgroundWork

PREFIX: Final = "/api/v1/sleep/runs"
RUN: Final[dict[str, Any]] = {
    "run_id": "019a2b3c-4d5e-7000-8000-000000000001",
    "namespace": "atlas",
    "cause": "command",
    "phases": ["decay", "demote"],
    "dry_run": False,
    "state": "queued",
    "phase": None,
    "reports": [],
    "stop_requested": False,
    "reason": None,
    "requested_at": "2026-11-30T09:30:00Z",
    "began_at": None,
    "finished_at": None,
}
WANTED_EXAMPLES: Final[dict[str, Any]] = {
    "narrow": {
        "summary": "Two phases of one project",
        "value": {"namespace": "atlas", "phases": ["decay", "demote"]},
    },
    "everything": {"summary": "Count what would be done anywhere", "value": {"dry_run": True}},
}
STOP_EXAMPLES: Final[dict[str, Any]] = {
    "narrow": {"summary": "What is done with one project", "value": {"namespace": "atlas"}},
    "everything": {"summary": "Everything", "value": {}},
}
OWNED: Final[Responses] = {
    **RESPONSES,
    403: refusal(
        "Only owners, of namespaces that they may write", "forbidden", "only the role owner runs the background work"
    ),
}
WRITES: Final[Responses] = {**TOO_LARGE, 422: wrong_fields("phases", "Input should be 'decay' or 'demote'")}


class RunBody(SleepRunWanted):
    """Which phases, and where."""

    model_config = STRICT


class StopBody(SleepStopWanted):
    """Where."""

    model_config = STRICT


def sleep_router(work: BackgroundWork) -> APIRouter:
    """The routes over `work`; who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["sleep"], responses=OWNED, dependencies=CREDENTIALS)

    @routes.post(
        "",
        summary="Run the background work now",
        status_code=202,
        responses={**WRITES, 202: example({"runs": [RUN]}, "The runs; they go on without you")},
    )
    async def run(principal: Caller, wanted: Annotated[RunBody, Body(openapi_examples=WANTED_EXAMPLES)]) -> SleepRuns:
        """One run for each namespace; one that waits already and does all of it is given back. Of more than 500
        namespaces ask again with `after`."""
        return await work.run(principal, wanted)

    @routes.get(
        "",
        summary="What the background work does and did",
        responses={200: example({"namespaces": [], "runs": [RUN], "next_at": "2026-12-01T03:30:00Z"})},
    )
    async def status(principal: Caller) -> SleepStatus:
        """Of each namespace what it has seen, the last run that has ended and those that have not, oldest first."""
        return await work.status(principal)

    @routes.post(
        "/stop",
        summary="Stop the background work",
        responses={**WRITES, 200: example({"runs": [RUN | {"state": "stopped", "stop_requested": True}]})},
    )
    async def stop(principal: Caller, wanted: Annotated[StopBody, Body(openapi_examples=STOP_EXAMPLES)]) -> SleepRuns:
        """What waits at once, what runs after the step that it is at; what is done stays. None is no error."""
        return await work.stop(principal, wanted)

    return routes
