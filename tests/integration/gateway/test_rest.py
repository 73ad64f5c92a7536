from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import ASK, AskReply, AskRequest, Question
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit
from cortex_runtime.bus import Bus
from cortex_testkit.nats_server import NatsServer

MakeHit = Callable[..., Hit]
Start = Callable[..., AbstractAsyncContextManager[Any]]


def says(value: str) -> list[dict[str, str]]:
    return [{"subject": "Hermes", "attribute": "status", "value": value}]


async def test_ask_answers_with_receipts_conflicts_and_the_state_of_every_engine(
    gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    old = datetime.now(UTC) - timedelta(days=40)
    played["memory"].hits = (make_hit("Hermes is active.", last_seen=old, assertions=says("active")),)
    played["pages"].hits = (
        make_hit(path="infra/hermes", engine="claims-to-be-rag", source_class="live-infra", assertions=says("stopped")),
    )
    async with gateway.http() as http:
        response = await http.post("/ask", json={"query": "Is Hermes running?"})
    assert response.status_code == 200
    body = response.json()
    assert body["answer"].splitlines()[0] == "Hermes is stopped [r1]"
    assert [(r["id"], r["source"], r["path"]) for r in body["receipts"]] == [("r1", "pages", "infra/hermes")]
    assert [hit["path"] for hit in body["hits"]] == ["infra/hermes", "memory:1"]
    (conflict,) = body["conflicts"]
    assert (conflict["winner"], conflict["losers"], conflict["reason"]) == (
        "live-infra",
        ["agent-memory"],
        "memory stale 40d",
    )
    assert {e["engine"]: e["status"] for e in body["engines"]} == {"memory": "up", "pages": "up", "rag": "down"}
    assert body["engines"][2]["error"] == "nothing answers for the engine rag"
    assert all(isinstance(e["ms"], int) for e in body["engines"])
    request = played["memory"].asked[0]
    assert (request.principal.org, request.principal.subject) == ("local", "owner")
    assert (request.k, request.deadline_ms) == (12, 5800)


async def test_search_has_no_answer_and_chat_has_no_hits(gateway: Any, played: Any, make_hit: MakeHit) -> None:
    played["memory"].hits = (make_hit(),)
    async with gateway.http() as http:
        search = (await http.post("/ask", json={"query": "Hermes?", "mode": "search"})).json()
        chat = (await http.post("/ask", json={"query": "Hermes?", "mode": "chat"})).json()
    assert (search["answer"], search["receipts"], len(search["hits"])) == (None, [], 1)
    assert (chat["answer"], chat["hits"]) == ("Hermes is stopped [r1]", [])


async def test_a_scope_asks_only_its_engines_and_k_bounds_the_hits_of_each(
    gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    played["pages"].hits = tuple(make_hit(path=f"p{number}") for number in range(5))
    async with gateway.http() as http:
        body = (await http.post("/ask", json={"query": "q", "scope": ["pages"], "k": 2})).json()
    assert {hit["path"] for hit in body["hits"]} == {"p0", "p1"}
    assert [e["engine"] for e in body["engines"]] == ["pages"]
    assert not played["memory"].asked


async def test_a_slow_engine_is_down_at_its_limit_and_costs_the_others_nothing(
    start_gateway: Start, played: Any, make_hit: MakeHit
) -> None:
    released = asyncio.Event()

    async def slow(_: EngineAskRequest) -> EngineAskReply:
        await released.wait()
        return EngineAskReply(engine="pages", status=EngineStatus.UP)

    played["memory"].hits = (make_hit(),)
    played["pages"].answer = slow
    async with start_gateway(CORTEX_GATEWAY_ENGINE_LIMIT_S="2") as gateway, gateway.http() as http:
        body = (await http.post("/ask", json={"query": "Hermes?"})).json()
        released.set()
    states = {e["engine"]: e for e in body["engines"]}
    assert states["memory"]["status"] == "up"
    assert states["memory"]["ms"] < 2000
    assert (states["pages"]["status"], states["pages"]["error"]) == ("down", "no answer within 2000 ms")
    assert 2000 <= body["took_ms"] < 4000
    assert body["answer"] == "Hermes is stopped [r1]"


@pytest.mark.parametrize("fault", ["error", "down", "bug"])
async def test_an_engine_that_fails_is_down_with_its_error(
    gateway: Any, played: Any, make_hit: MakeHit, fault: str
) -> None:
    async def fail(_: EngineAskRequest) -> EngineAskReply:
        if fault == "down":
            return EngineAskReply(
                engine="pages", status=EngineStatus.DOWN, hits=(make_hit("a lie"),), error="index is being built"
            )
        raise RuntimeError("secret text") if fault == "bug" else ValueError("also secret")

    played["pages"].answer = fail
    async with gateway.http() as http:
        response = await http.post("/ask", json={"query": "q", "scope": ["pages"]})
    (state,) = response.json()["engines"]
    assert state["status"] == "down"
    assert state["error"] == "index is being built" if fault == "down" else "unexpected error" in state["error"]
    assert response.json()["hits"] == []
    assert "secret" not in response.text
    assert response.json()["answer"] == "Nothing is known about this; no answer from pages."


async def test_the_same_question_over_the_bus(
    gateway: Any, played: Any, nats_server: NatsServer, make_hit: MakeHit
) -> None:
    played["memory"].hits = (make_hit(),)
    bus = Bus(nats_server.url("operator"), "operator", "0.0.1")
    await bus._broker.connect()
    try:
        principal = Principal(org="local", subject="agent-7", readable=("demo",))
        reply = await bus.request(ASK, AskRequest(principal=principal, question=Question(query="Hermes?")))
    finally:
        await bus.close()
    assert isinstance(reply, AskReply)
    assert reply.answer == "Hermes is stopped [r1]"
    assert played["memory"].asked[0].principal == principal


async def test_health_tells_every_engine_and_is_open(gateway: Any, played: Any) -> None:
    played["memory"].last_ingest = datetime.now(UTC) - timedelta(hours=2)
    async with gateway.http(None) as http:
        response = await http.get("/health")
    assert response.status_code == 200
    body = response.json()
    assert [(e["engine"], e["status"]) for e in body["engines"]] == [("memory", "up"), ("pages", "up"), ("rag", "down")]
    assert body["engines"][0]["staleness_h"] == pytest.approx(2.0, abs=0.01)
    assert body["engines"][2] == {"engine": "rag", "status": "down", "last_ingest": None, "staleness_h": None}
    assert body["ok"] is False


async def test_health_is_ok_when_every_engine_is_up(start_gateway: Start, played: Any) -> None:
    async with start_gateway(CORTEX_GATEWAY_ENGINES='["memory","pages"]') as gateway, gateway.http(None) as http:
        assert (await http.get("/health")).json()["ok"] is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 4001}, "query"),
        ({"query": "q", "k": 0}, "k"),
        ({"query": "q", "k": 101}, "k"),
        ({"query": "q", "mode": "loud"}, "mode"),
        ({"query": "q", "scope": ["No Key"]}, "scope.0"),
        ({"query": "q", "scope": ["memory", "nowhere"]}, "scope"),
        ([], "body"),
        ("{", "body"),
    ],
)
async def test_a_wrong_field_is_named(gateway: Any, body: Any, field: str) -> None:
    async with gateway.http() as http:
        if isinstance(body, str):
            response = await http.post("/ask", content=body, headers={"Content-Type": "application/json"})
        else:
            response = await http.post("/ask", json=body)
    assert response.status_code == 422
    assert response.json()["error"] == "validation_failed"
    assert [problem["field"] for problem in response.json()["fields"]] == [field]
    assert all(problem["message"] for problem in response.json()["fields"])


async def test_an_unknown_engine_is_refused_by_name_with_those_that_exist(gateway: Any) -> None:
    async with gateway.http() as http:
        response = await http.post("/ask", json={"query": "q", "scope": ["nowhere"]})
    assert response.json()["fields"] == [
        {"field": "scope", "message": "unknown engine nowhere; expected some of memory, pages, rag, archive"}
    ]


async def test_a_body_above_one_mebibyte_is_refused_whether_it_says_its_length_or_not(gateway: Any) -> None:
    async def chunks() -> Any:
        for _ in range(20):
            yield b"x" * 65_536

    async with gateway.http() as http:
        declared = await http.post("/ask", content=b"x" * (1 << 20) + b"x")
        streamed = await http.post("/ask", content=chunks())
    for response in (declared, streamed):
        assert (response.status_code, response.json()["error"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/ask"), ("GET", "/"), ("GET", "/openapi.json"), ("POST", "/mcp"), ("GET", "/nope")]
)
@pytest.mark.parametrize("token", [None, "wrong"])
async def test_nothing_else_is_served_without_the_token(
    gateway: Any, method: str, path: str, token: str | None
) -> None:
    async with gateway.http(token) as http:
        response = await http.request(method, path, json={"query": "q"} if method == "POST" else None)
    assert response.status_code == 401
    assert response.json()["error"] == "unauthorized"
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_other_errors_have_the_same_form(gateway: Any) -> None:
    async with gateway.http() as http:
        missing, wrong_method = await http.get("/nope"), await http.get("/ask")
    assert (missing.status_code, missing.json()["error"]) == (404, "not_found")
    assert (wrong_method.status_code, wrong_method.json()["error"]) == (405, "method_not_allowed")


async def test_the_index_links_and_the_openapi_document_has_examples(gateway: Any) -> None:
    async with gateway.http() as http:
        index = (await http.get("/")).json()
        document = (await http.get(index["links"]["openapi"])).json()
    operation = document["paths"]["/ask"]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    assert content["examples"]
    for shown in content["examples"].values():
        Question.model_validate(shown["value"])
    AskReply.model_validate(operation["responses"]["200"]["content"]["application/json"]["example"])
    assert document["paths"]["/health"]["get"]["responses"]["200"]["content"]["application/json"]["example"]


async def test_the_trace_of_a_request_reaches_the_engines(gateway: Any, nats_server: NatsServer) -> None:
    from nats import connect

    trace = "0af7651916cd43dd8448eb211c80319c"
    client = await connect(nats_server.url("recall"), inbox_prefix="_INBOX_recall")
    subscription = await client.subscribe("cortex.v1.rpc.engine.memory.ask")
    await client.flush()
    try:
        async with gateway.http() as http:
            asking = asyncio.create_task(
                http.post(
                    "/ask",
                    json={"query": "q", "scope": ["memory"]},
                    headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"},
                )
            )
            message = await subscription.next_msg(timeout=10)
            await message.respond(b'{"result": {"engine": "memory", "status": "up"}}')
            assert (await asking).status_code == 200
    finally:
        await client.close()
    assert message.headers is not None
    assert message.headers["traceparent"].split("-")[1] == trace
