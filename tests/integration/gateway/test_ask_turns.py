"""Questions beyond what a gateway may await at once wait for their turn, and are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest, EngineStatus, Hit

BODY = {"query": "Is Hermes running?", "scope": ["memory"]}


async def test_a_question_waits_until_the_one_before_it_is_answered(
    start_gateway: Any, played: Any, make_hit: Callable[..., Hit]
) -> None:
    release = asyncio.Event()
    working: list[int] = [0]

    async def answer(_: EngineAskRequest) -> EngineAskReply:
        working.append(working[-1] + 1)
        await release.wait()
        working.append(working[-1] - 1)
        return EngineAskReply(engine="memory", status=EngineStatus.UP, hits=(make_hit(),))

    played["memory"].answer = answer
    async with start_gateway(CORTEX_GATEWAY_HITS_AT_ONCE="12") as gateway, gateway.http() as http:
        first = asyncio.create_task(http.post("/ask", json=BODY))
        async with asyncio.timeout(20):
            await played["memory"].called.wait()
        headers = {"Accept": "text/event-stream"}
        async with http.stream("POST", "/ask", json=BODY, headers=headers) as second:
            lines = second.aiter_lines()
            while await anext(lines) != "event: asking":
                pass
            release.set()
            told = [line async for line in lines]
        assert (await first).json()["answer"] == "Hermes is stopped [r1]"
        assert "event: answer" in told
        assert '"answer":"Hermes is stopped [r1]"' in told[told.index("event: answer") + 1]
    assert working == [0, 1, 0, 1, 0]
