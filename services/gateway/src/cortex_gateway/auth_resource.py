"""Protected-resource metadata (RFC 9728): where a client of MCP learns who gives out tokens for it.

The document of a resource is at the well-known path, followed by the resource's own path. It is open, and names the
address that the client has used, because a proxy may have others.
"""

from __future__ import annotations

import re
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_gateway.problems import problem

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


class ResourceMetadata:
    """ASGI middleware: answers for the metadata of the whole gateway and of the `resources` (paths)."""

    def __init__(self, app: ASGIApp, resources: frozenset[str], issuer: str) -> None:
        """`issuer`: the authorization server, if there is one."""
        self._app = app
        self._paths = {WELL_KNOWN: ""} | {WELL_KNOWN + path: path for path in resources}
        self._servers = [issuer] if issuer else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or run the app."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or scope["path"] not in self._paths:
            return await self._app(scope, receive, send)
        origin = _origin(scope)
        if origin is None:
            return await problem(400, "invalid_request", "expected a host name in Host")(scope, receive, send)
        document: dict[str, Any] = {
            "resource": origin + self._paths[scope["path"]],
            "resource_name": "Cortex",
            "bearer_methods_supported": ["header"],
        }
        if self._servers:
            document["authorization_servers"] = self._servers
        # What a cache kept for one host name would be wrong for another.
        response = JSONResponse(document, headers={"Cache-Control": "no-store"})
        if scope["method"] == "HEAD":
            response.body = b""
        return await response(scope, receive, send)


def metadata_url(scope: Scope, path: str) -> str | None:
    """Where the metadata of the resource at `path` is, as the client of this request sees it; none: its Host is no host
    name."""
    origin = _origin(scope)
    return None if origin is None else f"{origin}{WELL_KNOWN}{path}"


def _origin(scope: Scope) -> str | None:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        return None
    return f"{scope.get('scheme', 'http')}://{hosts[0]}"
