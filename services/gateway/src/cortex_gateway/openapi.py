"""What the OpenAPI document says about many routes: the ways in, the answers that each can give, examples."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Security
from fastapi.security import APIKeyHeader, HTTPBearer

from cortex_gateway.problems import Problem, ValidationProblem

Responses = dict[int | str, dict[str, Any]]

CREDENTIALS: Final = [
    Security(HTTPBearer(auto_error=False, description="A signed token, or the token of this installation")),
    Security(APIKeyHeader(name="X-Brain-Key", auto_error=False, description="The key of an agent: `cortex keys`")),
]
"""Dependencies of every route that is not open; who calls has been authenticated before, by `auth.Authenticate`."""


def example(value: Any, description: str = "Successful response") -> dict[str, Any]:
    """The OpenAPI form of one example of a reply."""
    return {"description": description, "content": {"application/json": {"example": value}}}


def refusal(description: str, code: str, message: str, *, retry: bool = False) -> dict[str, Any]:
    """The OpenAPI form of a refusal; `retry`: with the seconds to wait."""
    told: dict[str, Any] = {
        "model": Problem,
        "description": description,
        "content": {"application/json": {"example": {"error": code, "message": message}}},
    }
    if retry:
        seconds = {"type": "integer", "minimum": 1}
        told["headers"] = {"Retry-After": {"description": "Seconds to wait", "schema": seconds}}
    return told


def wrong_fields(field: str, message: str, description: str = "A field is wrong or unknown") -> dict[str, Any]:
    """The OpenAPI form of a 422."""
    value = {"error": "validation_failed", "fields": [{"field": field, "message": message}]}
    return {
        "model": ValidationProblem,
        "description": description,
        "content": {"application/json": {"example": value}},
    }


AWAY: Final = refusal(
    "A service is away; try again after `Retry-After` seconds", "unavailable", "no recall service answers", retry=True
)
RESPONSES: Final[Responses] = {
    400: refusal(
        "A service refuses what it was asked", "invalid_request", "nothing is left of the content after redaction"
    ),
    401: refusal("No valid credentials", "unauthorized", "expected valid credentials"),
    403: refusal("The principal may not do this here", "forbidden", "expected a principal that may write this"),
    422: wrong_fields("q", "String should have at least 1 character"),
    429: refusal(
        "Too many requests; wait `Retry-After` seconds", "rate_limited", "expected fewer requests", retry=True
    ),
    503: AWAY,
    504: refusal("A service did not answer in time", "deadline_exceeded", "recall did not answer in time"),
}
"""What every route that needs credentials can answer."""
TOO_LARGE: Final[Responses] = {413: refusal("The body is too large", "too_large", "expected at most 1048576 bytes")}
