"""HEAD, OPTIONS and 405 of routes that name GET and others, as RFC 9110 has them (sections 9.3 and 15.5.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


class HttpMethods:
    """ASGI middleware: HEAD is GET without its body, OPTIONS tells the methods of a path, and so does a 405."""

    def __init__(self, app: ASGIApp, routes: Callable[[], Iterable[BaseRoute]]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["method"] == "OPTIONS" and (allowed := self._allowed(scope)):
            return await Response(status_code=204, headers={"Allow": allowed})(scope, receive, send)
        bodiless = scope["method"] == "HEAD"

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 405:
                MutableHeaders(scope=message)["Allow"] = self._allowed(scope)
            if message["type"] == "http.response.body" and bodiless:
                message = {**message, "body": b""}
            await send(message)

        return await self._app({**scope, "method": "GET"} if bodiless else scope, receive, answer)

    def _allowed(self, scope: Scope) -> str:
        """The methods that some route answers for the path of the request; empty without one."""
        found = [method for method in METHODS if self._answered({**scope, "method": method})]
        return ", ".join([*found, *(["HEAD"] if "GET" in found else []), "OPTIONS"]) if found else ""

    def _answered(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in self._routes())
