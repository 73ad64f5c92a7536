"""How long a question takes: never longer than the slowest engine that is allowed to be slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit
from cortex_testkit.eventually import eventually

MakeHit = Callable[..., Hit]
LIMIT_MS = 400
SLACK_MS = 50


@pytest.fixture(scope="module")
def gateway_settings() -> dict[str, str]:
    return {"CORTEX_GATEWAY_ENGINE_LIMIT_S": str(LIMIT_MS / 1000)}


async def in_time(http: httpx.AsyncClient, within_ms: int, *up: str, **question: Any) -> dict[str, Any]:
    """A reply that came within a time, with these engines in it: a machine that is busy may be late more than once."""

    async def ask() -> dict[str, Any]:
        reply: dict[str, Any] = (await http.post("/ask", json={"query": "Hermes?", **question})).json()
        return reply

    def holds(reply: dict[str, Any]) -> bool:
        there = {one["engine"] for one in reply["engines"] if one["status"] == "up"}
        return reply["took_ms"] <= within_ms and there == set(up)

    return await eventually(ask, holds)


async def test_with_one_engine_hanging_a_question_takes_its_limit_and_the_others_are_all_there(
    gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    async def hang(_: EngineAskRequest) -> EngineAskReply:
        await asyncio.Event().wait()
        raise AssertionError

    played["memory"].hits = (make_hit(), make_hit("Hermes rests.", path="memory:2"))
    played["pages"].answer = hang
    async with gateway.http() as http:
        reply = await in_time(http, LIMIT_MS + SLACK_MS, "memory")
    states = {one["engine"]: one for one in reply["engines"]}
    assert (states["pages"]["status"], states["pages"]["error"]) == ("down", f"no answer within {LIMIT_MS} ms")
    assert states["memory"]["ms"] < LIMIT_MS
    assert {hit["path"] for hit in reply["hits"]} == {"memory:1", "memory:2"}
    assert reply["took_ms"] >= LIMIT_MS - 1


async def test_an_engine_that_is_not_there_costs_next_to_nothing(gateway: Any, played: Any, make_hit: MakeHit) -> None:
    played["memory"].hits = (make_hit(),)
    async with gateway.http() as http:
        reply = await in_time(http, SLACK_MS, "memory", scope=["memory", "rag", "serena"])
    assert [one["error"] for one in reply["engines"]] == [
        None, "nothing answers for the engine rag", "not configured: set CORTEX_SERENA_URL",
    ]  # fmt: skip


async def test_engines_work_at_the_same_time_within_the_same_limit(gateway: Any, played: Any) -> None:
    both = asyncio.Barrier(2)

    def meet(key: str) -> Callable[[EngineAskRequest], Any]:
        async def answer(_: EngineAskRequest) -> EngineAskReply:
            await both.wait()
            return EngineAskReply(engine=key, status=EngineStatus.UP)

        return answer

    for key in ("memory", "pages"):
        played[key].answer = meet(key)
    async with gateway.http() as http:
        await in_time(http, LIMIT_MS, "memory", "pages", scope=["memory", "pages"])
    assert [played[key].asked[0].deadline_ms for key in ("memory", "pages")] == [LIMIT_MS, LIMIT_MS]
