"""Errors as clients of OpenAI's API read them: `{"error": {"message", "type", "param", "code"}}`.

What refuses a request before it reaches a chat (credentials, limits, an unknown path) answers in Cortex's own form;
`OpenAIErrors` gives it this one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFIX: Final = "/v1"
REQUEST_ERROR: Final = "invalid_request_error"
SERVER_ERROR: Final = "server_error"


class ChatRefused(Exception):
    """A chat ends with an error; `status` and the rest are what the caller gets."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str,
        *,
        type: str = "",
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.body = {"error": error_of(status, message, code, type=type, param=param)}

    def response(self) -> Response:
        """The error as a response. In ASCII: what an upstream repeats of a caller's text may be no text."""
        return Response(json.dumps(self.body), self.status, headers=self.headers, media_type="application/json")

    def event(self) -> bytes:
        """The error as the last event of a stream."""
        return b"data: " + json.dumps(self.body).encode() + b"\n\n"


def error_of(status: int, message: str, code: str, *, type: str = "", param: str | None = None) -> dict[str, Any]:
    """The `error` of a body."""
    usual = SERVER_ERROR if status >= 500 else "rate_limit_error" if status == 429 else REQUEST_ERROR
    return {"message": message, "type": type or usual, "param": param, "code": code}


class OpenAIErrors:
    """ASGI middleware: below `PREFIX`, refusals in Cortex's form become errors in OpenAI's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app."""
        if scope["type"] != "http" or not scope["path"].startswith(f"{PREFIX}/"):
            return await self._app(scope, receive, send)
        held: MutableMapping[str, Any] | None = None
        body = bytearray()

        async def answer(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _is_refusal(message):
                held = message
            elif held is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    changed = _changed(held["status"], bytes(body))
                    MutableHeaders(scope=held)["content-length"] = str(len(changed))
                    await send(held)
                    await send({"type": "http.response.body", "body": changed})

        await self._app(scope, receive, answer)


def _is_refusal(message: Message) -> bool:
    kind = MutableHeaders(scope=message).get("content-type", "")
    return bool(message["status"] >= 400) and kind.startswith("application/json")


def _changed(status: int, body: bytes) -> bytes:
    """The body in OpenAI's form; as it is when it has it already."""
    try:
        told = json.loads(body)
        code = told["error"]
    except (ValueError, TypeError, KeyError):
        return body
    if not isinstance(code, str):
        return body
    fields = told.get("fields") or [{}]
    message = told.get("message") or fields[0].get("message") or code
    return json.dumps({"error": error_of(status, message, code, param=fields[0].get("field"))}).encode()
