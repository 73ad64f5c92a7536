"""Retain, recall, get, forget, restore and share with every process real: the command line, REST and an MCP client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cortex_testkit import command_line
from cortex_testkit.system import System, running_system

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ENGLISH = "The harbour team meets on Mondays at 09:30 in the blue room."
ARABIC = "اختار فريق النيل قاعدة البيانات PostgreSQL لأن النسخ الاحتياطي مجرب."
NOWHERE = "00000000-0000-7000-8000-000000000000"


@dataclass
class Faces:
    """The ways in to one running system."""

    system: System

    async def cortex(self, *arguments: str, code: int = 0) -> str:
        environment = {
            "CORTEX_HOME": str(self.system.installation.home.path),
            "CORTEX_URL": self.system.url("gateway"),
            "COLUMNS": "200",
        }
        ended = await command_line.cortex(*arguments, environment=environment)
        assert ended.code == code, f"{arguments}: {ended.code}\n{ended.out}\n{ended.err}"
        return ended.out if code == 0 else ended.err

    async def data(self, *arguments: str) -> Any:
        return json.loads(await self.cortex(*arguments, "--json"))

    async def tool(self, name: str, **arguments: object) -> dict[str, Any]:
        async with (
            httpx2.AsyncClient(headers=self.system.headers, timeout=30, trust_env=False) as http,
            Client(streamable_http_client(f"{self.system.url('gateway')}/mcp", http_client=http)) as client,
        ):
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            assert result.structured_content is not None
            return result.structured_content

    async def found(self, query: str, namespace: str) -> list[str]:
        """Ids that `cortex recall` finds in a namespace."""
        reply = await self.data("recall", query, "-n", namespace)
        return [memory["memory_id"] for memory in reply["memories"]]


@pytest.fixture
async def faces() -> AsyncIterator[Faces]:
    async with running_system() as system:
        yield Faces(system)


async def test_a_memory_lives_the_same_life_on_every_face(faces: Faces) -> None:
    await _by_the_command_line(faces)
    await _by_an_agent(faces)
    await _over_rest(faces)


async def _by_the_command_line(faces: Faces) -> None:
    kept = await faces.data("retain", ENGLISH, "-n", "harbour", "--speaker", "Salma", "--session", "s1", "--turn", "1")
    memory_id = kept["memory_id"]
    assert kept["decision"] == "add"
    again = await faces.data("retain", ENGLISH, "-n", "harbour")
    assert (again["decision"], again["memory_id"]) == ("noop", memory_id)
    reply = await faces.data("recall", "When does the harbour team meet?", "-n", "harbour", "--explain")
    assert (reply["memories"][0]["memory_id"], reply["memories"][0]["content"]) == (memory_id, ENGLISH)
    assert reply["memories"][0]["explanation"] is not None
    told = await faces.cortex("recall", "When does the harbour team meet?", "-n", "harbour")
    assert memory_id in told.splitlines()[0]
    assert told.splitlines()[1].strip() == ENGLISH
    shown = await faces.cortex("get", memory_id)
    assert shown.splitlines()[0] == ENGLISH
    assert "Salma" in shown
    assert "Said again:" in shown
    await faces.cortex("forget", memory_id)
    assert await faces.found("When does the harbour team meet?", "harbour") == []
    assert (await faces.data("get", memory_id))["memory"]["invalid_at"] is not None
    await faces.cortex("restore", memory_id)
    assert await faces.found("When does the harbour team meet?", "harbour") == [memory_id]
    for verb in ("get", "forget", "restore"):
        assert "no such memory" in await faces.cortex(verb, NOWHERE, code=4)
    secret = await faces.cortex("retain", "The door code <private>4711</private> changes in May.", "-n", "harbour")
    assert "cut out 1 private span" in secret
    assert (await faces.cortex("share", "harbour", "agent-7", "--write")).split() == ["harbour", "write", "agent-7"]
    assert (await faces.cortex("share", "harbour")).split() == ["harbour", "write", "agent-7"]
    await faces.cortex("share", "harbour", "agent-7", "--revoke")
    assert "Nothing is shared" in await faces.cortex("share")


async def _by_an_agent(faces: Faces) -> None:
    kept = await faces.tool("memory_retain", content=ARABIC, namespace="nile", occurred_at="2026-11-30")
    memory_id = kept["id"]
    question = "ما قاعدة البيانات التي اختارها فريق النيل؟"
    (found, *_) = (await faces.tool("memory_recall", query=question, namespaces=["nile"]))["memories"]
    assert (found["id"], found["content"], found["source"]) == (memory_id, ARABIC, "agent")
    assert found["valid_at"] == "2026-11-30T00:00:00Z"
    # What one face has kept is there on the others, letter for letter.
    assert ARABIC in await faces.cortex("recall", question, "-n", "nile")
    assert (await faces.tool("memory_get", id=memory_id))["content"] == ARABIC
    assert (await faces.tool("memory_forget", id=memory_id))["changed"] is True
    assert (await faces.tool("memory_recall", query=question, namespaces=["nile"]))["memories"] == []
    assert await faces.tool("memory_restore", id=memory_id) == {"id": memory_id, "changed": True}
    assert len((await faces.tool("memory_recall", query=question, namespaces=["nile"]))["memories"]) == 1
    shared = await faces.tool("memory_share", namespace="nile", agent="agent-7")
    assert shared == {"namespace": "nile", "agent": "agent-7", "access": "read"}


async def _over_rest(faces: Faces) -> None:
    url = f"{faces.system.url('gateway')}/api/v1/memory"
    async with httpx.AsyncClient(headers=faces.system.headers, timeout=30, trust_env=False) as http:
        drafts = [
            {"namespace": "rest", "content": text} for text in ("We ship on Thursdays.", "Omar owns the billing.")
        ]
        batch = (await http.post(f"{url}/batch", json={"memories": [*drafts, drafts[0]]})).json()["items"]
        assert [item["retained"]["decision"] for item in batch] == ["add", "add", "noop"]
        body = {"query": "On which day do we ship?", "namespaces": ["rest"]}
        found = (await http.post(f"{url}/recall", json=body)).json()["memories"]
        assert found[0]["memory_id"] == batch[0]["retained"]["memory_id"]
        context = (await http.post(f"{url}/context", json={"namespaces": ["rest"]})).json()
        assert {item["memory"]["content"] for item in context["items"]} == {one["content"] for one in drafts}
        grants = (await http.get(f"{url}/grants", params={"namespace": "nile"})).json()["grants"]
        assert grants == [{"namespace": "nile", "agent": "agent-7", "access": "read"}]
        assert (await http.get(f"{url}/{NOWHERE}")).status_code == 404
