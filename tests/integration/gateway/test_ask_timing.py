"""How long a question takes: never longer than the slowest engine that is allowed to be slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit

MakeHit = Callable[..., Hit]
LIMIT_MS = 400
SLACK_MS = 50


@pytest.fixture(scope="module")
def gateway_settings() -> dict[str, str]:
    return {"CORTEX_GATEWAY_ENGINE_LIMIT_S": str(LIMIT_MS / 1000)}


async def replies(http: httpx.AsyncClient, **question: Any) -> list[dict[str, Any]]:
    """The same question a few times: a machine that is busy may be late once."""
    return [(await http.post("/ask", json={"query": "Hermes?", **question})).json() for _ in range(4)]


async def test_with_one_engine_hanging_a_question_takes_its_limit_and_the_others_are_all_there(
    gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    async def hang(_: EngineAskRequest) -> EngineAskReply:
        await asyncio.Event().wait()
        raise AssertionError

    played["memory"].hits = (make_hit(), make_hit("Hermes rests.", path="memory:2"))
    played["pages"].answer = hang
    async with gateway.http() as http:
        told = await replies(http)
    for reply in told:
        states = {one["engine"]: one for one in reply["engines"]}
        assert (states["pages"]["status"], states["pages"]["error"]) == ("down", f"no answer within {LIMIT_MS} ms")
        assert states["memory"]["status"] == "up"
        assert states["memory"]["ms"] < LIMIT_MS
        assert {hit["path"] for hit in reply["hits"]} == {"memory:1", "memory:2"}
        assert reply["took_ms"] >= LIMIT_MS - 1
    assert min(reply["took_ms"] for reply in told) <= LIMIT_MS + SLACK_MS


async def test_an_engine_that_is_not_there_costs_next_to_nothing(gateway: Any, played: Any, make_hit: MakeHit) -> None:
    played["memory"].hits = (make_hit(),)
    async with gateway.http() as http:
        told = await replies(http, scope=["memory", "rag", "serena"])
    assert [one["error"] for one in told[0]["engines"]] == [
        None, "nothing answers for the engine rag", "not configured: set CORTEX_SERENA_URL",
    ]  # fmt: skip
    assert min(reply["took_ms"] for reply in told) < SLACK_MS


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
        reply = (await http.post("/ask", json={"query": "q", "scope": ["memory", "pages"]})).json()
    assert [one["status"] for one in reply["engines"]] == ["up", "up"]
    assert [played[key].asked[0].deadline_ms for key in ("memory", "pages")] == [LIMIT_MS, LIMIT_MS]
