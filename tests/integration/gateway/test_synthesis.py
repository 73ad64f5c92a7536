"""Answers that a model words: a gateway process, real NATS, an engine that the test plays, and servers of models with
every bad manner that theirs have."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse

from cortex_contracts.rpc.engine import Hit
from cortex_contracts.rpc.usage import (
    RECORD_USAGE,
    USAGE,
    RecordUsageRequest,
    UsageCount,
    UsageRecorded,
    UsageReply,
    UsageRequest,
    UsageTotal,
)
from cortex_infra import ports
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing
from cortex_testkit.prose_server import MODEL, ProseServer, running
from cortex_testkit.tei_server import served

KEY = "sk-ant-the-secret-of-the-test"
WORDED = "Since Monday, Hermes is stopped [r1]"
MERGED = "Hermes is stopped since Monday [r1]"
SIMPLE, HARD = {"query": "Is Hermes running?"}, {"query": "Why is Hermes stopped?"}
MakeHit = Callable[..., Hit]


@dataclass
class Ledger:
    """What ingest keeps of usage."""

    counts: list[UsageCount] = field(default_factory=list)

    async def record(self, request: RecordUsageRequest) -> UsageRecorded:
        self.counts += request.counts
        return UsageRecorded(recorded=True)

    async def told(self, request: UsageRequest) -> UsageReply:
        totals = [
            UsageTotal(**one.model_dump(exclude={"day"}))
            for one in self.counts
            if request.subject in (None, one.subject) and one.day >= request.since
        ]
        return UsageReply(totals=tuple(totals))


@pytest.fixture
async def ledger(nats_server: NatsServer) -> AsyncIterator[Ledger]:
    kept = Ledger()
    async with playing(nats_server, (RECORD_USAGE, kept.record), (USAGE, kept.told)):
        yield kept


@pytest.fixture
def hermes(played: dict[str, Any], make_hit: MakeHit) -> Hit:
    hit = make_hit("Hermes is stopped since Monday.", source_class="live-infra")
    played["memory"].hits = (hit,)
    return hit


@dataclass
class Asking:
    """A client of a gateway whose models are there."""

    http: Any
    starter: Any

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        response = await self.http.post("/ask", json=question)
        assert response.status_code == 200, response.text
        reply: dict[str, Any] = response.json()
        return reply

    async def until(self, question: dict[str, Any], answer: str) -> dict[str, Any]:
        """The reply as soon as it has this answer."""
        return await eventually(lambda: self.ask(question), lambda reply: reply["answer"] == answer)


@asynccontextmanager
async def asking(start_gateway: Any, **settings: str) -> AsyncIterator[Asking]:
    named = {f"CORTEX_SYNTHESIS_{name}": value for name, value in settings.items()}
    async with start_gateway(CORTEX_GATEWAY_ENGINES='["memory"]', **named) as gateway, gateway.http() as http:
        yield Asking(http, start_gateway)


def local(server: ProseServer, **more: str) -> dict[str, str]:
    return {"OLLAMA_URL": server.url, "OLLAMA_MODEL": MODEL, "LIMIT_S": "10", **more}


def paid(server: ProseServer, **more: str) -> dict[str, str]:
    claude = {"CLAUDE": "true", "CLAUDE_URL": server.url, "CLAUDE_MODEL": MODEL, "CLAUDE_API_KEY": KEY}
    return {**claude, "LIMIT_S": "10", **more}


async def test_a_model_words_the_answer_and_the_stream_has_each_sentence_when_it_is_certain(
    start_gateway: Any, hermes: Hit, ledger: Ledger
) -> None:
    server = ProseServer(write=lambda _: f"{WORDED}. Omar did it [r1]. It is bad. Hermes is stopped [r9].")
    async with running(server), asking(start_gateway, **local(server)) as at:
        reply = await at.until(SIMPLE, WORDED)
        assert [one["path"] for one in reply["receipts"]] == [hermes.path]
        events = []
        stream = at.http.stream("POST", "/ask", json=SIMPLE, headers={"Accept": "text/event-stream"})
        async with stream as response:
            async for line in response.aiter_lines():
                if line.startswith(("event:", "data:")):
                    events.append(line.partition(": ")[2])
        kinds = events[::2]
        assert kinds == ["asking", "engine", "sentence", "answer"]
        assert json.loads(events[5]) == {"text": WORDED}
        assert json.loads(events[7])["answer"] == WORDED
        asked = len(server.asked)
        plain = await at.ask(SIMPLE | {"synthesize": False})
        assert plain["answer"] == MERGED
        assert (await at.ask(SIMPLE | {"mode": "search"}))["answer"] is None
        assert len(server.asked) == asked
        metrics = (await at.http.get("/metrics")).text
    # What was counted is kept when the gateway stops, at the latest.
    [count] = [one for one in ledger.counts if one.purpose == "synthesis"]
    assert (count.input_tokens, count.output_tokens) == (120 * count.requests, 30 * count.requests)
    assert 'cortex_synthesis_total{model="ollama",outcome="written"}' in metrics
    assert 'cortex_synthesis_sentences_total{verdict="invented"}' in metrics
    [material] = {asked.user for asked in server.asked}
    assert json.loads(material)["question"] == SIMPLE["query"]


async def test_whatever_a_model_does_there_is_an_answer(start_gateway: Any, hermes: Hit) -> None:
    server = ProseServer(write=lambda _: f"{WORDED}. And then it goes on and on.")
    manners: list[dict[str, Any]] = [
        {"failures": [HTMLResponse("<html>")]},
        {"failures": [JSONResponse({"error": "model is loading"})]},
        {"failures": [JSONResponse({"error": "slow down"}, 429)]},
        {"failures": [JSONResponse({"error": "boom"}, 500)]},
        {"failures": [JSONResponse({"error": f"model '{MODEL}' not found"}, 404)]},
        {"failures": [RedirectResponse("http://169.254.169.254/")]},
        {"error_after": 9},
        {"cut_after": 9},
        {"write": lambda _: ""},
        {"write": lambda _: "I cannot help with that."},
        {"write": lambda _: "Hermes is fine [r1]. Hermes is gone [r2]."},
        {"write": lambda _: "再见" * 200},
    ]
    async with running(server), asking(start_gateway, **local(server, LIMIT_S="2")) as at:
        for change in manners:
            await at.until(SIMPLE, WORDED)
            before = {name: getattr(server, name) for name in change}
            for name, value in change.items():
                setattr(server, name, value)
            reply = await at.ask(SIMPLE)
            assert reply["answer"] == MERGED, change
            assert reply["receipts"], change
            assert reply["took_ms"] < 8000, change
            for name, value in before.items():
                setattr(server, name, value)
        await at.until(SIMPLE, WORDED)
        server.hold_after, asked = 8, len(server.asked)
        silent = await at.ask(SIMPLE)
        assert silent["answer"] == WORDED, "what was whole when the time was over"
        assert 1500 < silent["took_ms"] < 8000
        assert len(server.asked) == asked + 1
        server.go_on.set()
        server.hold_after, server.write = None, lambda _: f"{WORDED}. " * 3_000
        assert (await at.ask(SIMPLE))["answer"] == WORDED
        await asyncio.wait_for(server.left.wait(), 30)


async def test_who_leaves_ends_the_work_of_the_model(start_gateway: Any, hermes: Hit) -> None:
    server = ProseServer(write=lambda _: f"{WORDED}. " * 9)
    async with running(server), asking(start_gateway, **local(server)) as at:
        await at.until(SIMPLE, WORDED)
        server.left.clear()
        server.hold_after = 8
        for accept in ("application/json", "text/event-stream"):
            server.held.clear()
            task = asyncio.create_task(at.http.post("/ask", json=SIMPLE, headers={"Accept": accept}))
            await asyncio.wait_for(server.held.wait(), 30)
            task.cancel()
            await asyncio.wait_for(server.left.wait(), 30)
            server.left.clear()
        server.hold_after = None
        assert (await at.ask(SIMPLE))["answer"] == WORDED


async def test_a_model_that_sleeps_costs_nothing_and_is_used_when_it_is_awake(start_gateway: Any, hermes: Hit) -> None:
    port = ports.choose()
    server = ProseServer(write=lambda _: f"{WORDED}.")
    settings = {"OLLAMA_URL": f"http://127.0.0.1:{port}", "OLLAMA_MODEL": MODEL}
    async with asking(start_gateway, **settings) as at:
        for _ in range(3):
            reply = await at.ask(SIMPLE)
            assert reply["answer"] == MERGED
            assert reply["took_ms"] < 5000
        async with running(server, port):
            await at.until(SIMPLE, WORDED)
        assert (await at.ask(SIMPLE))["answer"] == MERGED
        before = len(server.asked)
        reply = await at.ask(SIMPLE)
        assert reply["took_ms"] < 5000
        assert len(server.asked) == before


async def test_the_paid_model_gets_hard_questions_and_its_key_is_shown_nowhere(start_gateway: Any, hermes: Hit) -> None:
    server = ProseServer(write=lambda _: f"{WORDED}.", api_key=KEY)
    async with running(server), asking(start_gateway, **paid(server)) as at:
        await at.until(HARD, WORDED)
        assert (await at.ask(SIMPLE))["answer"] == MERGED
        assert {asked.api for asked in server.asked} == {"claude"}
        server.ended = "refusal"
        assert (await at.ask(HARD))["answer"] == MERGED
        server.ended = None
        assert (await at.ask(HARD))["answer"] == WORDED
        server.error_after = 3
        assert (await at.ask(HARD))["answer"] == MERGED
    async with running(ProseServer(api_key="another")) as other, asking(start_gateway, **paid(other)) as at:
        assert (await at.ask(HARD))["answer"] == MERGED
        await eventually(lambda: asyncio.sleep(0, at.starter.log), lambda log: "CLAUDE_API_KEY" in log)
        assert other.asked == []
    assert KEY not in start_gateway.log


async def test_without_its_flag_the_paid_model_is_not_even_connected_to(start_gateway: Any, hermes: Hit) -> None:
    connections = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal connections
        connections += 1

    async with served(app) as url:  # type: ignore[arg-type]
        settings = {"CLAUDE_URL": url, "CLAUDE_MODEL": MODEL, "CLAUDE_API_KEY": KEY}
        async with asking(start_gateway, **settings) as at:
            assert (await at.ask(HARD))["answer"] == MERGED
    assert connections == 0


async def test_the_tokens_of_a_day_end_synthesis_not_answers(start_gateway: Any, hermes: Hit, ledger: Ledger) -> None:
    server = ProseServer(write=lambda _: f"{WORDED}.", usage=(700, 300))
    async with running(server), asking(start_gateway, **local(server, DAILY_TOKENS="3000")) as at:
        await at.until(SIMPLE, WORDED)
        answers = [(await at.ask(SIMPLE))["answer"] for _ in range(6)]
        assert answers[-1] == MERGED
        asked = len(server.asked)
        assert asked <= 3
        assert (await at.ask(SIMPLE))["answer"] == MERGED
        assert len(server.asked) == asked
