"""`[brain]` with every process real but the language model: context while recall works, an answer when it does not."""

from __future__ import annotations

import json
from typing import Any

import httpx
import httpx2
import pytest
from openai import AsyncOpenAI

from cortex_testkit.chat_server import MODEL, ChatServer, running
from cortex_testkit.eventually import eventually
from cortex_testkit.system import System, running_system

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PAGE = {
    "type": "concept",
    "title": "Kestrel",
    "tags": ["infra"],
    "body_markdown": "# Kestrel\n\nKestrel is restarted by Zahra every second Thursday.\n",
}


async def asked(client: AsyncOpenAI) -> Any:
    """One chat about the page; its headers."""
    raw = await client.chat.completions.with_raw_response.create(
        model="[brain]", messages=[{"role": "user", "content": "Who restarts Kestrel?"}]
    )
    assert raw.parse().choices[0].message.content == "Inês owns it."
    return raw.headers


async def usage_of(brain: httpx.AsyncClient) -> Any:
    """What the caller used, as `/stats` tells it."""
    return (await brain.get("/stats")).json()["usage"]["owner"]


def misses(system: System) -> list[str]:
    """Why chats went on without context, from the gateway's log."""
    log = system.installation.home.run / "gateway" / "gateway.log"
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if "chat without context" in line]
    return [json.loads(line)["reason"] for line in lines]


async def test_with_recall_stopped_the_chat_still_answers_and_the_miss_is_logged() -> None:
    async with running(ChatServer()) as upstream:
        settings = {"CORTEX_CHAT_UPSTREAM_URL": upstream.url, "CORTEX_CHAT_UPSTREAM_MODEL": MODEL}
        async with running_system(settings) as system:
            url = system.url("gateway")
            async with (
                httpx.AsyncClient(
                    base_url=f"{url}/api/v1/brain", headers=system.headers, timeout=30, trust_env=False
                ) as brain,
                httpx2.AsyncClient(timeout=30, trust_env=False) as http,
                AsyncOpenAI(
                    base_url=f"{url}/v1", api_key=system.installation.home.token(), http_client=http, max_retries=0
                ) as client,
            ):
                assert (await brain.put("/pages/kestrel", json=PAGE)).status_code == 200
                assert (await asked(client))["x-cortex-context"] == "kestrel"
                first = upstream.asked[-1].body["messages"]
                assert "restarted by Zahra" in first[0]["content"]
                assert misses(system) == []

                system.stop("recall")
                assert (await asked(client))["x-cortex-miss"] == "unavailable"
                assert upstream.asked[-1].body["messages"] == first[1:]
                assert misses(system) == ["unavailable"]

                system.launch("recall")
                await system.ready("recall")
                assert (await asked(client))["x-cortex-context"] == "kestrel"

                used = await eventually(
                    lambda: usage_of(brain),
                    lambda used: used["requests"].get("chat") == 3,
                    ignoring=(KeyError, TypeError),
                )
                assert used["requests"]["chat_miss"] == 1
                assert (used["input_tokens"], used["output_tokens"]) == (120, 27)
