"""Errors as REST callers see them: `{"error": code, "message"}`, or 422 with the fields that are wrong.

Nothing internal is told: an unexpected failure is logged here and crosses as a code and its trace id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_gateway.errors import UnknownEngine, WrongFields
from cortex_runtime.rpc import error_body

STATUS: Final[Mapping[ErrorCode, int]] = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.CONFLICT: 409,
    ErrorCode.TOO_LARGE: 413,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.DEADLINE_EXCEEDED: 504,
    ErrorCode.INTERNAL: 500,
}
CODES: Final[Mapping[int, str]] = {status: code.value for code, status in STATUS.items()}

RETRY_AFTER_S: Final = 1
"""A service that was restarted answers again after about this long."""


class Problem(BaseModel):
    """Why a request was refused or failed."""

    error: str
    message: str


class FieldProblem(BaseModel):
    """One field that is not what the contract says."""

    field: str
    message: str


class ValidationProblem(BaseModel):
    """Every field that is wrong."""

    error: str = "validation_failed"
    fields: list[FieldProblem]


def problem(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal as a response."""
    return JSONResponse(Problem(error=code, message=message).model_dump(), status, headers=headers)


def invalid(fields: Sequence[FieldProblem]) -> JSONResponse:
    """A 422 that names the fields."""
    return JSONResponse(ValidationProblem(fields=list(fields)).model_dump(), 422)


def install(app: FastAPI) -> None:
    """Answer every failure of `app` in the one form."""

    @app.exception_handler(RequestValidationError)
    async def _validation(_: Request, error: RequestValidationError) -> JSONResponse:
        return invalid([FieldProblem(field=_field(item["loc"]), message=_message(item)) for item in error.errors()])

    @app.exception_handler(WrongFields)
    async def _wrong(_: Request, error: WrongFields) -> JSONResponse:
        return invalid([FieldProblem(field=field, message=message) for field, message in error.wrong])

    @app.exception_handler(UnknownEngine)
    async def _scope(_: Request, error: UnknownEngine) -> JSONResponse:
        return invalid([FieldProblem(field="scope", message=error.message)])

    @app.exception_handler(CortexError)
    async def _known(_: Request, error: CortexError) -> JSONResponse:
        headers = {"Retry-After": str(RETRY_AFTER_S)} if STATUS[error.code] in (429, 503) else None
        return problem(STATUS[error.code], error.code.value, error.message, headers=headers)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # of the framework: a body that cannot be read, as JSON or as a form
            return invalid([FieldProblem(field="body", message=str(error.detail))])
        code = CODES.get(error.status_code) or HTTPStatus(error.status_code).name.lower()
        return problem(error.status_code, code, str(error.detail), headers=error.headers)

    app.add_middleware(Unexpected)


class Unexpected:
    """ASGI middleware: an unexpected failure becomes a 500 that tells nothing but its trace id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app."""
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:  # edge: every failure becomes a reply
            body = error_body(error, scope.get("path", ""))
            if started:
                raise
            await problem(STATUS[body.code], body.code.value, body.message)(scope, receive, send)


def _field(location: Sequence[Any]) -> str:
    """`("body", "scope", 0)` as `scope.0`, `("query", "q")` as `q`; `body` for the body as a whole."""
    parts = [str(part) for part in location[1:]]
    # The place of a JSON syntax error is a character offset, not a field.
    return ".".join(parts) if parts and not (len(parts) == 1 and parts[0].isdigit()) else "body"


def _message(item: Mapping[str, Any]) -> str:
    """What was expected; of a closed list its values in their order."""
    if item["type"] in ("enum", "literal_error") and (values := re.findall(r"'([^']*)'", item["ctx"]["expected"])):
        return "must be one of: " + ", ".join(values)
    message: str = item["msg"]
    return message.removeprefix("Value error, ")
