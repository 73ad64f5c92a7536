"""The REST face of memory over real NATS, with the hot tier played by a small store that speaks the contracts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import pytest

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.memory import MAX_MEMORY_CHARS, MemoryDraft
from cortex_contracts.rpc.recall import RecallQuestion

PATH = "/api/v1/memory"
NOBODY = UUID(int=7)
"""The id of no memory; a constant, so that every worker collects the same tests."""
TEXT = "نجتمع every Monday at 09:30"
Start = Callable[..., AbstractAsyncContextManager[Any]]


def draft(content: str = TEXT, **more: object) -> dict[str, object]:
    return {"namespace": "atlas", "content": content, **more}


async def test_what_is_retained_is_recalled_read_forgotten_and_restored(gateway: Any, remembering: Any) -> None:
    async with gateway.http() as http:
        retained = (await http.post(PATH, json=draft(speaker="Salma", occurred_at="2026-11-30T09:30:00+02:00"))).json()
        memory_id = retained["memory_id"]
        assert retained["decision"] == "add"
        (found,) = (await http.post(f"{PATH}/recall", json={"query": "نجتمع"})).json()["memories"]
        assert (found["memory_id"], found["content"], found["speaker"]) == (memory_id, TEXT, "Salma")
        assert found["valid_at"] == "2026-11-30T09:30:00+02:00"
        got = (await http.get(f"{PATH}/{memory_id}")).json()
        assert (got["memory"]["content"], got["entities"]) == (TEXT, ["Atlas"])
        forgotten = (await http.post(f"{PATH}/{memory_id}/forget")).json()
        assert (forgotten["changed"], forgotten["invalid_at"] is None) == (True, False)
        assert (await http.post(f"{PATH}/{memory_id}/forget")).json()["changed"] is False
        assert (await http.post(f"{PATH}/recall", json={"query": "نجتمع"})).json()["memories"] == []
        assert (await http.post(f"{PATH}/{memory_id}/restore")).json() == {
            "memory_id": memory_id,
            "invalid_at": None,
            "superseded_by": None,
            "changed": True,
        }
        assert len((await http.post(f"{PATH}/recall", json={"query": "نجتمع"})).json()["memories"]) == 1
        context = (await http.post(f"{PATH}/context", json={"namespaces": ["atlas"]})).json()
        assert [item["memory"]["memory_id"] for item in context["items"]] == [memory_id]


async def test_a_batch_answers_item_by_item_in_order(gateway: Any, remembering: Any) -> None:
    async with gateway.http() as http:
        body = {"memories": [draft("one"), draft("two")], "embed": False, "decide": False}
        items = (await http.post(f"{PATH}/batch", json=body)).json()["items"]
    (request,) = remembering.asked
    assert [one.content for one in request.memories] == ["one", "two"]
    assert (request.embed, request.decide) == (False, False)
    kept = [remembering.memories[one] for one in remembering.memories]
    assert [str(one.memory_id) for one in kept] == [item["retained"]["memory_id"] for item in items]


async def test_namespaces_are_shared_listed_and_taken_back(gateway: Any, remembering: Any) -> None:
    async with gateway.http() as http:
        for namespace, access in (("atlas", "write"), ("nile", "read")):
            body = {"namespace": namespace, "agent": "agent-7", "access": access}
            assert (await http.post(f"{PATH}/share", json=body)).json() == body
        every = (await http.get(f"{PATH}/grants")).json()["grants"]
        assert {(one["namespace"], one["access"]) for one in every} == {("atlas", "write"), ("nile", "read")}
        await http.post(f"{PATH}/share", json={"namespace": "nile", "agent": "agent-7", "access": "none"})
        (nile,) = (await http.get(f"{PATH}/grants", params={"namespace": "nile"})).json()["grants"]
    assert nile["access"] == "none"


async def test_every_call_goes_as_the_principal_of_the_credentials_whatever_the_client_says(
    gateway: Any, remembering: Any
) -> None:
    elsewhere = {"principal": {"org": "stranger", "subject": "mallory"}, "org": "stranger"}
    lies = {"X-Org": "stranger", "X-Cortex-Org": "stranger", "X-Principal": "mallory", "X-Tenant": "stranger"}
    memory_id = (await gateway_post(gateway, PATH, draft())).json()["memory_id"]
    calls: list[tuple[str, str, dict[str, object] | None]] = [
        ("POST", PATH, draft()),
        ("POST", f"{PATH}/batch", {"memories": [draft()]}),
        ("POST", f"{PATH}/recall", {"query": "q"}),
        ("POST", f"{PATH}/context", {}),
        ("POST", f"{PATH}/share", {"namespace": "atlas", "agent": "agent-7"}),
        ("GET", f"{PATH}/grants", None),
        ("GET", f"{PATH}/{memory_id}", None),
        ("POST", f"{PATH}/{memory_id}/forget", elsewhere),
        ("POST", f"{PATH}/{memory_id}/restore", elsewhere),
    ]
    remembering.asked.clear()
    async with gateway.http() as http:
        for method, path, body in calls:
            response = await http.request(method, path, json=body, headers=lies, params={"org": "stranger"})
            assert response.status_code == 200, (path, response.text)
        refused = [
            await http.post(path, json={**(body or {}), **elsewhere}) for _, path, body in calls[:5] if body is not None
        ]
    assert [one.status_code for one in refused] == [422] * 5
    assert len(remembering.asked) == len(calls)
    assert {(one.principal.org, one.principal.subject) for one in remembering.asked} == {("local", "owner")}


async def gateway_post(gateway: Any, path: str, body: object) -> Any:
    async with gateway.http() as http:
        return await http.post(path, json=body)


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("", {}, ["namespace", "content"]),
        ("", draft(""), ["content"]),
        ("", draft("x" * (MAX_MEMORY_CHARS + 1)), ["content"]),
        ("", draft(namespace="No Token"), ["namespace"]),
        ("", draft(session_id="misspelt"), ["session_id"]),
        ("", draft(occurred_at="2026-11-30T09:30:00"), ["occurred_at"]),
        ("/batch", {"memories": []}, ["memories"]),
        ("/batch", {"memories": [draft(), draft(nope=1)]}, ["memories.1.nope"]),
        ("/recall", {"query": " "}, ["query"]),
        ("/recall", {"query": "q", "namespace": ["atlas"]}, ["namespace"]),
        ("/recall", {"query": "q", "filter": {"surces": ["chat"]}}, ["filter.surces"]),
        ("/recall", {"query": "q", "k": 101}, ["k"]),
        ("/context", {"budget_tokens": 1}, ["budget_tokens"]),
        ("/share", {"namespace": "atlas", "agent": "a", "access": "own"}, ["access"]),
        ("/not-an-id/forget", {}, ["memory_id"]),
    ],
)
async def test_a_wrong_or_unknown_field_is_named(
    gateway: Any, remembering: Any, path: str, body: object, fields: list[str]
) -> None:
    response = await gateway_post(gateway, f"{PATH}{path}", body)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == fields
    assert remembering.asked == []


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Permanent("no such memory", code=ErrorCode.NOT_FOUND), 404, "not_found"),
        (Permanent("you may not write atlas", code=ErrorCode.FORBIDDEN), 403, "forbidden"),
        (Permanent("nothing is left of the content after redaction"), 400, "invalid_request"),
        (Unavailable("the embedder does not answer"), 503, "unavailable"),
        (RuntimeError("secret text"), 500, "internal"),
    ],
)
async def test_an_error_of_a_service_is_a_status_with_its_sentence(
    gateway: Any, remembering: Any, error: Exception, status: int, code: str
) -> None:
    remembering.fails = error
    async with gateway.http() as http:
        for response in (
            await http.post(PATH, json=draft()),
            await http.post(f"{PATH}/recall", json={"query": "q"}),
            await http.get(f"{PATH}/{NOBODY}"),
            await http.post(f"{PATH}/{NOBODY}/forget"),
        ):
            assert (response.status_code, response.json()["error"]) == (status, code)
            assert (str(error) in response.text) is (status != 500)
            assert ("retry-after" in response.headers) is (status == 503)


async def test_without_its_services_memory_is_unavailable_at_once_and_says_when_to_retry(gateway: Any) -> None:
    response = await gateway_post(gateway, f"{PATH}/recall", {"query": "q"})
    assert (response.status_code, response.json()["error"]) == (503, "unavailable")
    assert response.json()["message"] == "no recall service answers cortex.v1.rpc.recall.recall"
    assert int(response.headers["retry-after"]) >= 1


async def test_a_batch_that_becomes_larger_than_a_message_is_refused_as_too_large(
    gateway: Any, remembering: Any
) -> None:
    # Half a mebibyte as it is sent; with the fields that are left to their defaults it is more than NATS takes.
    body = {"memories": [draft("x" * 1_950) for _ in range(500)]}
    response = await gateway_post(gateway, f"{PATH}/batch", body)
    assert (response.status_code, response.json()["error"]) == (413, "too_large")
    assert "smaller batches" in response.json()["message"]
    assert remembering.asked == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", ""),
        ("POST", "/batch"),
        ("POST", "/recall"),
        ("POST", "/context"),
        ("POST", "/share"),
        ("GET", "/grants"),
        ("GET", f"/{NOBODY}"),
        ("POST", f"/{NOBODY}/forget"),
        ("POST", f"/{NOBODY}/restore"),
    ],
)
@pytest.mark.parametrize("token", [None, "wrong"])
async def test_memory_is_not_served_without_the_token(
    gateway: Any, remembering: Any, method: str, path: str, token: str | None
) -> None:
    async with gateway.http(token) as http:
        response = await http.request(method, f"{PATH}{path}")
    assert (response.status_code, response.json()["error"]) == (401, "unauthorized")
    assert remembering.asked == []


async def test_the_openapi_document_describes_every_route_with_errors_and_examples_that_hold(gateway: Any) -> None:
    async with gateway.http() as http:
        assert (await http.get("/")).json()["links"]["memory"] == PATH
        paths = (await http.get("/openapi.json")).json()["paths"]
    operations = {
        (method, path.removeprefix(PATH)): operation
        for path, item in paths.items()
        if path.startswith(PATH)
        for method, operation in item.items()
    }
    assert operations.keys() == {
        ("post", ""),
        ("post", "/improve"),
        ("post", "/batch"),
        ("post", "/recall"),
        ("post", "/archive/recall"),
        ("post", "/context"),
        ("post", "/share"),
        ("get", "/grants"),
        ("get", "/{memory_id}"),
        ("post", "/{memory_id}/forget"),
        ("post", "/{memory_id}/restore"),
        ("get", "/documents"),
        ("put", "/documents/{document_id}"),
        ("get", "/documents/{document_id}"),
        ("delete", "/documents/{document_id}"),
        ("get", "/operations"),
        ("get", "/operations/{operation_id}"),
        ("post", "/operations/{operation_id}/cancel"),
        ("post", "/operations/{operation_id}/retry"),
    }
    for operation in operations.values():
        assert operation["summary"]
        assert operation["description"]
        assert operation["security"]
        assert {"200", "401", "422", "503"} <= operation["responses"].keys()
    for route, model in ((("post", ""), MemoryDraft), (("post", "/recall"), RecallQuestion)):
        shown = operations[route]["requestBody"]["content"]["application/json"]["examples"].values()
        for example in shown:
            model.model_validate(example["value"])
