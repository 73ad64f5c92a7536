"""`POST /ask` as server-sent events: engines as they answer, then the reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit

MakeHit = Callable[..., Hit]
STREAM = {"Accept": "text/event-stream"}
QUESTION = {"query": "Is Hermes running?"}


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    """Name and data of every event; a comment is `:` and its text."""
    name = ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
        elif line.startswith(":"):
            yield ":", line


def without_times(reply: dict[str, Any]) -> dict[str, Any]:
    engines = [{**one, "ms": None} for one in reply["engines"]]
    return {**reply, "engines": engines, "took_ms": None}


async def test_an_engine_is_told_while_another_still_works(gateway: Any, played: Any, make_hit: MakeHit) -> None:
    released = asyncio.Event()

    async def slow(_: EngineAskRequest) -> EngineAskReply:
        await released.wait()
        return EngineAskReply(engine="pages", status=EngineStatus.UP, hits=(make_hit("late", path="page:main/late"),))

    played["memory"].hits = (make_hit(),)
    played["pages"].answer = slow
    told: list[tuple[str, Any]] = []
    async with gateway.http() as http, http.stream("POST", "/ask", json=QUESTION, headers=STREAM) as response:
        assert response.status_code == 200
        async with asyncio.timeout(30):
            async for name, data in events(response):
                told.append((name, data))
                if name == "engine" and {"memory", "rag"} == {one["engine"] for kind, one in told if kind == "engine"}:
                    released.set()  # nothing else lets the other one answer
    assert told[0][0] == ":"
    named = [name for name, _ in told if name != ":"]
    assert named == ["asking", "engine", "engine", "engine", "answer"]
    assert told[1][1] == {"engines": ["memory", "pages", "rag"]}
    states = [data for name, data in told if name == "engine"]
    assert states[-1]["engine"] == "pages"
    assert {one["engine"]: (one["status"], one["hits"]) for one in states} == {
        "memory": ("up", 1), "rag": ("down", 0), "pages": ("up", 1),
    }  # fmt: skip
    reply = told[-1][1]
    assert sorted(reply["engines"], key=repr) == sorted(
        ({key: value for key, value in one.items() if key != "hits"} for one in states), key=repr
    )


async def test_the_answer_has_the_bytes_of_the_json_reply(gateway: Any, played: Any, make_hit: MakeHit) -> None:
    # Without a date: the score of a dated hit falls from one question to the next.
    played["memory"].hits = (make_hit("Hermes is stopped.\nIt rests.  سلام", last_seen=None),)
    async with gateway.http() as http:
        plain = await http.post("/ask", json={**QUESTION, "scope": ["memory"]})
        streamed = await http.post("/ask", json={**QUESTION, "scope": ["memory"]}, headers=STREAM)
    last = streamed.content.decode().rstrip("\n").rsplit("\n", 1)[-1]
    assert last.startswith("data: ")
    written = last.removeprefix("data: ")
    assert without_times(json.loads(written)) == without_times(plain.json())
    assert written.index('"receipts"') < written.index('"hits"') < written.index('"took_ms"')
    assert json.dumps(json.loads(written), ensure_ascii=False, separators=(",", ":")) == written
    assert json.dumps(plain.json(), ensure_ascii=False, separators=(",", ":")).encode() == plain.content


async def test_nobody_on_the_way_keeps_or_gathers_the_stream(gateway: Any, played: Any) -> None:
    async with gateway.http() as http:
        streamed = await http.post("/ask", json=QUESTION, headers=STREAM)
        plain = await http.post("/ask", json=QUESTION)
    assert streamed.headers["content-type"] == "text/event-stream"
    assert (streamed.headers["cache-control"], streamed.headers["x-accel-buffering"]) == ("no-cache", "no")
    assert "content-length" not in streamed.headers
    assert streamed.headers["vary"] == plain.headers["vary"] == "Accept"
    assert "ratelimit" in streamed.headers


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("text/*", "text/event-stream"),
        ("TEXT/EVENT-STREAM", "text/event-stream"),
        ("text/event-stream, application/json;q=0.9", "text/event-stream"),
        ("text/event-stream;q=0.5, application/json", "application/json"),
        ("text/html, */*;q=0.1", "application/json"),
    ],
)
async def test_the_form_is_what_the_client_prefers(gateway: Any, played: Any, accept: str | None, form: str) -> None:
    headers = {"Accept": accept} if accept else {}
    async with gateway.http() as http:
        request = http.build_request("POST", "/ask", json=QUESTION, headers=headers)
        if accept is None:
            del request.headers["accept"]
        response = await http.send(request)
    assert (response.status_code, response.headers["content-type"]) == (200, form)


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream;q=0, application/json;q=0"])
async def test_a_client_that_takes_neither_form_is_refused_before_anybody_is_asked(
    gateway: Any, played: Any, accept: str
) -> None:
    async with gateway.http() as http:
        response = await http.post("/ask", json=QUESTION, headers={"Accept": accept})
    assert (response.status_code, response.json()["error"]) == (406, "not_acceptable")
    assert not played["memory"].asked


@pytest.mark.parametrize(
    ("body", "token", "status"),
    [({"query": ""}, True, 422), ({"query": "q", "scope": ["nowhere"]}, True, 422), (QUESTION, False, 401)],
)
async def test_a_refusal_is_no_stream(gateway: Any, body: Any, token: bool, status: int) -> None:
    async with gateway.http() if token else gateway.http(None) as http:
        response = await http.post("/ask", json=body, headers=STREAM)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]


async def test_a_known_engine_that_is_not_configured_is_down_with_its_setting(gateway: Any, played: Any) -> None:
    async with gateway.http() as http:
        response = await http.post("/ask", json={**QUESTION, "scope": ["memory", "serena", "inbox"]})
    memory, serena, inbox = response.json()["engines"]
    assert (memory["status"], serena["status"], inbox["status"]) == ("up", "down", "down")
    assert serena == {
        "engine": "serena", "status": "down", "ms": 0, "error": "not configured: set CORTEX_SERENA_URL",
    }  # fmt: skip
    assert inbox["error"] == "not configured: set CORTEX_INBOX_URL"
