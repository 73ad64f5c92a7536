"""Health of a service: alive when its loop turns, ready when everything it needs answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cortex_contracts.errors import CortexError
from cortex_runtime import VERSION, metrics

CHECK_TIMEOUT_S: Final = 3.0

Check = Callable[[], Awaitable[None]]


class Health:
    """The checks that make a service ready, and the routes that tell."""

    def __init__(self, service: str, instance: str = "") -> None:
        self._identity = {"service": service, "instance": instance, "version": VERSION}
        self._checks: dict[str, Check] = {}
        self.started = False
        """Whether everything was opened once; before that the service is never ready."""

    def add(self, name: str, check: Check) -> None:
        """Require `check` (it raises when the thing is unusable) for readiness."""
        self._checks[name] = check

    async def reasons(self) -> dict[str, str]:
        """Why the service is not ready; empty when it is."""
        if not self.started:
            return {"service": "starting"}
        names = list(self._checks)
        results = await asyncio.gather(*(self._run(name) for name in names))
        return {name: reason for name, reason in zip(names, results, strict=True) if reason}

    async def _run(self, name: str) -> str | None:
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                await self._checks[name]()
        except CortexError as error:
            return error.message
        except TimeoutError:
            return f"no answer within {CHECK_TIMEOUT_S:g} s"
        return None

    async def live(self, _: Request) -> JSONResponse:
        """`GET /health/live`: the process serves."""
        return JSONResponse({"status": "alive", **self._identity})

    async def ready(self, _: Request) -> JSONResponse:
        """`GET /health/ready`: 200 when all that the service needs answers, else 503 with the reasons."""
        reasons = await self.reasons()
        return JSONResponse(
            {
                "status": "unready" if reasons else "ready",
                **self._identity,
                "reasons": reasons,
            },
            status_code=503 if reasons else 200,
        )

    def routes(self) -> list[Route]:
        """The open routes of every service."""
        return [
            Route("/health/live", self.live),
            Route("/health/ready", self.ready),
            Route("/metrics", metrics.endpoint),
        ]
