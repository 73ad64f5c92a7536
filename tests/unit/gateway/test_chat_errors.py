"""Refusals in the form that clients of OpenAI's API read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.testclient import TestClient

from cortex_gateway.chat_errors import ChatRefused, OpenAIErrors
from cortex_gateway.chat_upstream import Given, refused
from cortex_gateway.problems import FieldProblem, invalid, problem


def answered(response: Response, path: str = "/v1/models") -> Any:
    return TestClient(OpenAIErrors(response)).get(path)


def test_a_refusal_of_cortex_is_told_as_openai_would() -> None:
    response = answered(problem(429, "rate_limited", "slower", headers={"Retry-After": "7"}))
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert response.json() == {
        "error": {"message": "slower", "type": "rate_limit_error", "param": None, "code": "rate_limited"}
    }
    assert int(response.headers["content-length"]) == len(response.content)
    assert answered(problem(500, "internal", "trace 7")).json()["error"]["type"] == "server_error"
    fields = answered(invalid([FieldProblem(field="model", message="expected a name")])).json()["error"]
    assert (fields["param"], fields["message"], fields["code"]) == ("model", "expected a name", "validation_failed")


@pytest.mark.parametrize(
    "response",
    [
        ChatRefused(404, "no", "model_not_found", param="model").response(),
        JSONResponse({"error": "fine", "status": 200}),
        JSONResponse([1], 400),
        JSONResponse({"detail": "x"}, 400),
        PlainTextResponse("no", 404),
    ],
)
def test_everything_else_passes_unchanged(response: Response) -> None:
    passed = answered(response)
    assert (passed.status_code, passed.content) == (response.status_code, response.body)


def test_other_paths_keep_cortexs_form() -> None:
    assert answered(problem(401, "unauthorized", "no"), "/api/v1/brain/query").json()["error"] == "unauthorized"


def test_an_error_can_be_the_last_event_of_a_stream() -> None:
    event = ChatRefused(502, "the chat upstream broke off", "upstream").event()
    assert event.startswith(b"data: {")
    assert event.endswith(b"\n\n")
    assert json.loads(event[5:])["error"]["message"] == "the chat upstream broke off"


def body(message: Any = "no", **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


@pytest.mark.parametrize(
    ("given", "status", "relayed"),
    [
        (Given(400, {}, body(code="context_length_exceeded", inner=[1])), 400, True),
        (Given(404, {}, body("no such model")), 404, True),
        (Given(500, {}, body()), 500, True),
        (Given(401, {}, body("bad key sk-secret")), 502, False),
        (Given(407, {}, b""), 502, False),
        (Given(404, {}, b"<html>"), 502, False),
        (Given(400, {}, b'{"error": "no"}'), 502, False),
        (Given(400, {}, body(message=7)), 502, False),
        (Given(429, {}, b"busy"), 429, False),
        (Given(503, {}, b"[]"), 503, False),
        (Given(304, {}, b""), 502, False),
    ],
)
def test_what_the_upstream_refuses_is_relayed_where_it_means_the_caller(
    given: Given, status: int, relayed: bool
) -> None:
    refusal = refused(given, {"retry-after": "3"})
    assert refusal.status == status
    assert (json.dumps(refusal.body).encode() == given.body) is relayed
    assert "sk-secret" not in str(refusal.body)
