"""The audit log: who did what to which id, and how it ended; one event for every write.

It never holds what was written or asked: only the route or the tool, and the ids of the path with what looks like a
credential cut out.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_gateway.auth import principal_of
from cortex_redaction import redact
from cortex_runtime import logs, tracing

LOGGER: Final = "cortex.audit"
MAX_ID_CHARS: Final = 300
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
READING_ROUTES: Final = frozenset({"/ask", "/api/v1/memory/recall", "/api/v1/memory/context", "/v1/chat/completions"})
"""Routes whose POST changes nothing."""

_CONVERTER: Final = re.compile(r":[a-z]+\}")
"""`{slug:path}` is `{slug}` in the OpenAPI document, too."""

log = logs.get(LOGGER)


def record(principal: Principal, action: str, ids: Mapping[str, object], status: int | str) -> None:
    """Write down that `principal` did `action`. `status`: that of a route; of a tool `ok`, or the code of its error."""
    log.info(
        "audit",
        action=action,
        ids={name: redact(str(value)).text[:MAX_ID_CHARS] for name, value in ids.items()},
        org=principal.org,
        subject=principal.subject,
        role=principal.role,
        authenticated_by=principal.authenticated_by,
        status=status,
        trace=tracing.trace_id(),
    )


class Audit:
    """ASGI middleware behind `Authenticate`: records what was done over REST. What no route answers did nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # Whoever wants fewer lines of the service still wants these.
        logging.getLogger(LOGGER).setLevel(logging.INFO)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app."""
        if scope["type"] != "http" or scope["method"] in READS:
            return await self._app(scope, receive, send)
        status = 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            template = template_of(scope)
            if template is not None and template not in READING_ROUTES:
                action = f"{scope['method']} {template}"
                record(principal_of(Request(scope)), action, scope.get("path_params", {}), status)


def template_of(scope: Scope) -> str | None:
    """The route that answered, as the OpenAPI document names it; none: no route did."""
    route = scope.get("route")
    pattern = getattr(route, "path_regex", None)
    if route is None or pattern is None:
        return None
    # A route of a router inside a router knows its own part of the path only: what is before it has no parameters.
    own = re.search(pattern.pattern.removeprefix("^"), scope["path"])
    before = scope["path"][: own.start()] if own else ""
    return before + _CONVERTER.sub("}", route.path)
