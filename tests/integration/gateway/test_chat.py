"""`[brain]` chats with the official client: a gateway process, real NATS, pages and an upstream that the test plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.rpc.pages import QUERY_PAGES, PageResult, QueryPagesReply, QueryPagesRequest
from cortex_contracts.rpc.usage import (
    RECORD_USAGE,
    USAGE,
    RecordUsageRequest,
    UsageRecorded,
    UsageReply,
    UsageRequest,
    UsageTotal,
)
from cortex_infra import ports
from cortex_runtime.bus import Bus
from cortex_testkit.chat_server import MODEL, ChatServer, error, running
from cortex_testkit.nats_server import NatsServer

BRAIN = "[brain]"
KEY = "sk-upstream-secret"
QUESTION = [{"role": "user", "content": "Who owns the Billing API?"}]
Start = Callable[..., AbstractAsyncContextManager[Any]]
Answer = Callable[[QueryPagesRequest], Awaitable[QueryPagesReply]]


def result(slug: str = "inês-roldão", score: float = 1.0, snippet: str = "Inês owns the Billing API.") -> PageResult:
    return PageResult(vault="main", slug=slug, title="Inês Roldão", type="person", score=score, snippet=snippet)


@dataclass
class PlayedPages:
    """What recall knows of pages, and what it was asked."""

    results: tuple[PageResult, ...] = (result(),)
    answer: Answer | None = None
    asked: list[QueryPagesRequest] = field(default_factory=list)

    async def query(self, request: QueryPagesRequest) -> QueryPagesReply:
        self.asked.append(request)
        if self.answer is not None:
            return await self.answer(request)
        return QueryPagesReply(results=self.results, took_ms=1)


@dataclass
class PlayedUsage:
    """The counts that ingest keeps."""

    counts: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    batches: set[str] = field(default_factory=set)
    spent: int = 0

    async def record(self, request: RecordUsageRequest) -> UsageRecorded:
        org = request.principal.org
        if (batch := str(request.batch)) in self.batches:
            return UsageRecorded(recorded=False)
        self.batches.add(batch)
        for one in request.counts:
            kept = self.counts.setdefault((org, one.subject, one.purpose), [0, 0, 0])
            for place, more in enumerate((one.requests, one.input_tokens, one.output_tokens)):
                kept[place] += more
        return UsageRecorded(recorded=True)

    async def usage(self, request: UsageRequest) -> UsageReply:
        total = UsageTotal(
            subject="owner", purpose="chat", requests=1, input_tokens=self.spent, output_tokens=0, model_ms=0
        )
        return UsageReply(totals=(total,))


@asynccontextmanager
async def serving(nats_server: NatsServer, user: str, **handlers: Any) -> AsyncIterator[None]:
    bus = Bus(nats_server.url(user), user, "0.0.1")
    for rpc in (QUERY_PAGES, RECORD_USAGE, USAGE):
        if handler := handlers.get(rpc.verb):
            bus.serve(rpc, handler)
    await bus.open()
    yield
    await bus.close()


@pytest.fixture
async def pages(nats_server: NatsServer) -> AsyncIterator[PlayedPages]:
    played = PlayedPages()
    async with serving(nats_server, "recall", query_pages=played.query):
        yield played


@pytest.fixture
async def usage(nats_server: NatsServer) -> AsyncIterator[PlayedUsage]:
    played = PlayedUsage()
    async with serving(nats_server, "ingest", record_usage=played.record, usage=played.usage):
        yield played


@pytest.fixture(scope="module")
def upstream_port() -> int:
    return ports.choose()


@pytest.fixture
async def upstream(upstream_port: int) -> AsyncIterator[ChatServer]:
    async with running(ChatServer(api_key=KEY), upstream_port) as server:
        yield server
        server.go_on.set()


def settings(url: str, **more: str) -> dict[str, str]:
    return {
        "CORTEX_CHAT_UPSTREAM_URL": url,
        "CORTEX_CHAT_UPSTREAM_MODEL": MODEL,
        "CORTEX_CHAT_UPSTREAM_API_KEY": KEY,
        **more,
    }


@asynccontextmanager
async def chatting(gateway: Any, **options: Any) -> AsyncIterator[AsyncOpenAI]:
    """The official client of a gateway."""
    given = {"max_retries": 0, "api_key": gateway.token, **options}
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=20) as http,
        AsyncOpenAI(base_url=f"{gateway.url}/v1", http_client=http, **given) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def gateway_settings(upstream_port: int) -> dict[str, str]:
    """Of a gateway whose upstream is each test's own."""
    return settings(f"http://127.0.0.1:{upstream_port}")


@pytest.fixture
async def client(gateway: Any) -> AsyncIterator[AsyncOpenAI]:
    async with chatting(gateway) as client:
        yield client


async def chat(client: AsyncOpenAI, **more: Any) -> Any:
    """One chat; what it is about matters to few tests."""
    return await client.chat.completions.create(**{"model": BRAIN, "messages": QUESTION, **more})


async def raw_chat(client: AsyncOpenAI, **more: Any) -> Any:
    """One chat with its headers."""
    return await client.chat.completions.with_raw_response.create(**{"model": BRAIN, "messages": QUESTION, **more})


def system_of(upstream: ChatServer) -> str:
    message = upstream.asked[-1].body["messages"][0]
    assert message["role"] == "system"
    return str(message["content"])


async def test_the_pages_about_the_question_go_before_it_and_the_answer_comes_back(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    pages.results = (result(), result("weak", 0.39, "beside the point"))
    raw = await raw_chat(client)
    completion = raw.parse()
    assert (completion.choices[0].message.content, completion.model) == ("Inês owns it.", MODEL)
    (asked,) = pages.asked
    assert (asked.query, asked.limit, asked.principal.org, asked.principal.subject) == (
        "Who owns the Billing API?", 5, "local", "owner",
    )  # fmt: skip
    assert "Inês owns the Billing API." in system_of(upstream)
    assert "untrusted" in system_of(upstream)
    assert "beside the point" not in json.dumps(upstream.asked[-1].body)
    assert upstream.asked[-1].body == {"model": MODEL, "messages": [upstream.asked[-1].body["messages"][0], *QUESTION]}
    assert unquote(raw.headers["x-cortex-context"]) == "inês-roldão"
    assert "x-cortex-miss" not in raw.headers


async def test_everything_else_of_a_request_passes_unchanged_and_the_callers_credentials_do_not(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages, gateway: Any
) -> None:
    more: dict[str, Any] = {
        "temperature": 0.25,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_object"},
        "seed": 2**60 + 1,
        "user": "نجتمع 🧪",
    }
    messages = [{"role": "system", "content": "Be short."}, *QUESTION]
    await chat(client, messages=messages, extra_body={"unknown": [None, {}]}, **more)
    (asked,) = upstream.asked
    sent = {name: value for name, value in asked.body.items() if name not in ("model", "messages")}
    assert sent == {**more, "unknown": [None, {}]}
    assert asked.body["messages"][0]["content"].endswith("</notes>\n\nBe short.")
    assert asked.body["messages"][1:] == QUESTION
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert gateway.token not in json.dumps(asked.headers)


async def test_a_stream_comes_through_byte_by_byte_as_it_is_made(
    gateway: Any, upstream: ChatServer, pages: PlayedPages
) -> None:
    upstream.hold_after = 2
    body = {"model": BRAIN, "messages": QUESTION, "stream": True, "stream_options": {"include_usage": True}}
    async with gateway.http() as http, http.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert unquote(response.headers["x-cortex-context"]) == "inês-roldão"
        pieces = response.aiter_raw()
        came = b""
        while came.count(b"\n\n") < 2:  # before the upstream has said the rest
            came += await anext(pieces)
        assert not upstream.go_on.is_set()
        upstream.go_on.set()
        async for piece in pieces:
            came += piece
    assert came == b"".join(upstream.sent)
    assert came.endswith(b"data: [DONE]\n\n")
    assert upstream.asked[-1].body["stream_options"] == {"include_usage": True}


async def test_the_official_client_reads_a_stream(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    stream = await chat(client, stream=True)
    words = [chunk.choices[0].delta.content async for chunk in stream]
    assert words == ["Inês ", "owns ", "it.", None]


async def test_tool_calls_pass_in_both_directions(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "atlas"}'}}
    upstream.message = {"role": "assistant", "content": None, "tool_calls": [call]}
    completion = await chat(client)
    assert [made.model_dump(exclude_none=True) for made in completion.choices[0].message.tool_calls] == [call]
    history = [*QUESTION, upstream.message, {"role": "tool", "tool_call_id": "call_1", "content": "it is there"}]
    await chat(client, messages=history)
    assert upstream.asked[-1].body["messages"][1:] == history
    assert pages.asked[-1].query == "Who owns the Billing API?"


async def test_text_parts_are_the_question_and_images_pass(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    parts = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * (2 << 20)}},
        {"type": "text", "text": "this?"},
    ]
    await chat(client, messages=[{"role": "user", "content": parts}])
    assert pages.asked[-1].query == "What is\nthis?"
    assert upstream.asked[-1].body["messages"][1]["content"] == parts


async def misses(gateway: Any) -> dict[str, float]:
    async with gateway.http(None) as http:
        lines = (await http.get("/metrics")).text.splitlines()
    found = [line.rsplit(" ", 1) for line in lines if line.startswith("cortex_chat_contexts_total{")]
    return {line.split('"')[1]: float(number) for line, number in found}


async def without_context(client: AsyncOpenAI, upstream: ChatServer, **more: Any) -> str:
    """Chat, and tell why there was no context."""
    messages = more.pop("messages", QUESTION)
    raw = await raw_chat(client, messages=messages, **more)
    assert raw.parse().choices[0].message.content == "Inês owns it."
    assert upstream.asked[-1].body["messages"] == messages
    assert "x-cortex-context" not in raw.headers
    return str(raw.headers["x-cortex-miss"])


async def test_with_recall_stopped_the_chat_answers_and_the_miss_is_logged_and_counted(
    upstream: ChatServer, usage: PlayedUsage, start_gateway: Any
) -> None:
    async with start_gateway(**settings(upstream.url, CORTEX_ORG="acme")) as gateway, chatting(gateway) as client:
        assert await without_context(client, upstream) == "unavailable"
        assert await misses(gateway) == {"unavailable": 1.0}
        await asyncio.to_thread(gateway.stop)  # what was counted is sent at the latest then
    lines = [json.loads(line) for line in start_gateway.log.splitlines() if "chat without context" in line]
    assert [(line["reason"], line["level"]) for line in lines] == [("unavailable", "warning")]
    assert "Billing" not in start_gateway.log
    kept = {key: counts for key, counts in usage.counts.items() if key[0] == "acme"}
    assert kept == {("acme", "owner", "chat"): [1, 40, 9], ("acme", "owner", "chat_miss"): [1, 0, 0]}


async def test_a_recall_that_is_too_slow_costs_its_limit_and_no_more(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages
) -> None:
    over = asyncio.Event()

    async def sleep(_: QueryPagesRequest) -> QueryPagesReply:
        await over.wait()
        return QueryPagesReply(results=(result(),), took_ms=1)

    pages.answer = sleep
    async with (
        start_gateway(**settings(f"{upstream.url}/v1/", CORTEX_CHAT_QUERY_LIMIT_S="0.2")) as gateway,
        chatting(gateway) as client,
    ):
        assert await without_context(client, upstream) == "timeout"
        over.set()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Permanent("not for you", code=ErrorCode.FORBIDDEN), "forbidden"),
        (RuntimeError("a bug with secret text"), "internal"),
    ],
)
async def test_a_recall_that_fails_is_a_miss(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages, failure: Exception, reason: str
) -> None:
    async def fail(_: QueryPagesRequest) -> QueryPagesReply:
        raise failure

    pages.answer = fail
    assert await without_context(client, upstream) == reason


async def test_nothing_found_nothing_good_enough_and_nothing_asked_are_misses(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    pages.results = ()
    assert await without_context(client, upstream) == "empty"
    pages.results = (result(score=0.39999),)
    assert await without_context(client, upstream) == "empty"
    pages.results = (result(),)
    assert await without_context(client, upstream, messages=[{"role": "user", "content": "  "}]) == "no_text"
    assert await without_context(client, upstream, messages=[{"role": "system", "content": "Say hi."}]) == "no_text"
    assert len(pages.asked) == 2


async def test_what_the_upstream_refuses_comes_back_in_its_words(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages
) -> None:
    upstream.refusals = [error("slow down", 429, "rate_limit_exceeded", {"Retry-After": "17", "Set-Cookie": "a=b"})]
    with pytest.raises(openai.RateLimitError, match="slow down") as limited:
        await chat(client)
    assert limited.value.response.headers["retry-after"] == "17"
    assert "set-cookie" not in limited.value.response.headers
    assert limited.value.response.headers["x-cortex-context"]
    upstream.refusals = [error("temperature: expected at most 2", 400, "invalid_value")]
    with pytest.raises(openai.BadRequestError, match="temperature") as bad:
        await chat(client, stream=True)
    assert bad.value.code == "invalid_value"


@pytest.mark.parametrize("status", [401, 403])
async def test_credentials_that_the_upstream_refuses_are_not_the_callers(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages, status: int
) -> None:
    upstream.refusals = [error(f"Incorrect API key provided: {KEY}", status, "invalid_api_key")]
    with pytest.raises(openai.InternalServerError, match="CORTEX_CHAT_UPSTREAM_API_KEY") as caught:
        await chat(client)
    assert (caught.value.status_code, caught.value.code) == (502, "upstream_credentials")
    assert KEY not in caught.value.response.text


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (PlainTextResponse("<html>busy</html>", 503, {"Retry-After": "3"}), 503),
        (PlainTextResponse("no such page", 404), 502),
        (RedirectResponse("http://169.254.169.254/latest"), 502),
        (PlainTextResponse("welcome", 200), 502),
    ],
)
async def test_an_upstream_that_speaks_no_chat_is_an_error_of_the_server(
    client: AsyncOpenAI, upstream: ChatServer, pages: PlayedPages, answer: Response, status: int
) -> None:
    upstream.refusals = [answer]
    with pytest.raises(openai.InternalServerError) as caught:
        await chat(client)
    assert caught.value.status_code == status
    assert caught.value.type == "server_error"
    assert "169.254" not in caught.value.response.text
    assert caught.value.response.headers.get("retry-after") == answer.headers.get("retry-after")


async def test_an_upstream_that_is_away_is_502(start_gateway: Start, pages: PlayedPages) -> None:
    async with (
        start_gateway(**settings(f"http://127.0.0.1:{ports.choose()}")) as gateway,
        chatting(gateway) as client,
    ):
        with pytest.raises(openai.InternalServerError, match="does not answer") as caught:
            await chat(client)
        assert caught.value.status_code == 502


async def test_an_upstream_that_is_too_slow_is_504(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages
) -> None:
    upstream.hold_after = 0
    async with (
        start_gateway(**settings(upstream.url, CORTEX_CHAT_TIMEOUT_S="0.9")) as gateway,
        chatting(gateway) as client,
    ):
        with pytest.raises(openai.InternalServerError, match=r"within 0\.9 s") as caught:
            await chat(client)
        assert (caught.value.status_code, caught.value.code) == (504, "upstream_timeout")
        async with asyncio.timeout(30):
            await upstream.left.wait()


async def test_a_stream_that_breaks_off_ends_with_an_error_and_without_its_torn_event(
    client: AsyncOpenAI, gateway: Any, upstream: ChatServer, pages: PlayedPages
) -> None:
    upstream.cut_after = 2
    stream = await chat(client, stream=True)
    words = [(await anext(stream)).choices[0].delta.content for _ in range(2)]
    assert words == ["Inês ", "owns "]
    with pytest.raises(openai.APIError, match="broke off its answer"):
        await anext(stream)
    body = {"model": BRAIN, "messages": QUESTION, "stream": True}
    async with gateway.http() as http:
        came = (await http.post("/v1/chat/completions", json=body)).content
    told = came.removeprefix(b"".join(upstream.sent))
    assert json.loads(told.removeprefix(b"data: "))["error"]["code"] == "upstream_unreachable"
    assert b"[DONE]" not in came


@pytest.mark.parametrize("stream", [True, False])
async def test_when_the_client_leaves_the_upstream_is_left(
    gateway: Any, upstream: ChatServer, pages: PlayedPages, stream: bool
) -> None:
    upstream.hold_after = 1
    body = {"model": BRAIN, "messages": QUESTION, "stream": stream}

    async def ask() -> None:
        async with gateway.http() as http, http.stream("POST", "/v1/chat/completions", json=body) as response:
            await response.aread()

    asking = asyncio.create_task(ask())
    async with asyncio.timeout(30):
        await upstream.held.wait()
        asking.cancel()
        await upstream.left.wait()
    await asyncio.gather(asking, return_exceptions=True)


async def test_a_gateway_that_stops_ends_its_streams_and_leaves_the_upstream(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages
) -> None:
    upstream.hold_after = 1
    async with start_gateway(**settings(upstream.url)) as gateway, chatting(gateway) as client, asyncio.timeout(20):
        stream = await chat(client, stream=True)
        await anext(stream)
        await upstream.held.wait()
        assert await asyncio.to_thread(gateway.stop) == 0
        with suppress(openai.APIError):  # "broke off", when there was still time to say it
            assert [chunk async for chunk in stream] == []
        await upstream.left.wait()


async def test_an_unconfigured_gateway_names_the_setting(start_gateway: Start) -> None:
    async with start_gateway() as gateway, chatting(gateway) as client:
        with pytest.raises(openai.NotFoundError, match="CORTEX_CHAT_UPSTREAM_URL") as caught:
            await chat(client)
        assert caught.value.code == "model_not_found"
        assert [model.id async for model in client.models.list()] == []


async def test_only_models_that_are_listed_pass_and_they_have_no_context(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages
) -> None:
    async with (
        start_gateway(**settings(upstream.url, CORTEX_CHAT_MODELS="acme/big, acme/small")) as gateway,
        chatting(gateway) as client,
    ):
        raw = await raw_chat(client, model="acme/big")
        assert upstream.asked[-1].body == {"model": "acme/big", "messages": QUESTION}
        assert not {"x-cortex-context", "x-cortex-miss"} & set(raw.headers)
        assert pages.asked == []
        with pytest.raises(openai.NotFoundError) as caught:
            await chat(client, model=MODEL)
        assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
        assert len(upstream.asked) == 1
        assert [model.id async for model in client.models.list()] == [BRAIN, "acme/big", "acme/small"]


@pytest.mark.parametrize(
    ("body", "status", "param", "code"),
    [
        (b"{", 400, None, "invalid_json"),
        (b"\xff", 400, None, "invalid_json"),
        (b"[]", 400, None, "invalid_json"),
        (b'{"model": "[brain]", "messages": [], "temperature": NaN}', 400, None, "invalid_json"),
        (b"[" * 100_000, 400, None, "invalid_json"),
        (b'{"model": "[brain]", "messages": [], "temperature": 1e999}', 400, None, "invalid_json"),
        (b"{}", 422, "model", "missing_required_parameter"),
        (b'{"model": 1, "messages": []}', 422, "model", "invalid_value"),
        (b'{"model": "[brain]"}', 422, "messages", "missing_required_parameter"),
        (b'{"model": "[brain]", "messages": []}', 422, "messages", "invalid_value"),
        (b'{"model": "[brain]", "messages": ["hi"]}', 422, "messages[0]", "invalid_value"),
        (b'{"model": "[brain]", "messages": [{"content": "hi"}]}', 422, "messages[0]", "invalid_value"),
        (b'{"model": "", "messages": [{"role": "user"}]}', 404, "model", "model_not_found"),
    ],
)
async def test_wrong_requests_are_refused_in_openais_form(
    gateway: Any, body: bytes, status: int, param: str | None, code: str
) -> None:
    async with gateway.http() as http:
        response = await http.post("/v1/chat/completions", content=body)
    told = response.json()["error"]
    assert (response.status_code, told["param"], told["code"]) == (status, param, code)
    assert told["type"] == "invalid_request_error"
    assert told["message"]


async def test_refusals_before_the_chat_have_openais_form_too(gateway: Any) -> None:
    async with chatting(gateway, api_key="wrong") as client:
        with pytest.raises(openai.AuthenticationError, match="expected valid credentials") as caught:
            await client.models.list()
        assert (caught.value.code, caught.value.type) == ("unauthorized", "invalid_request_error")
        assert caught.value.response.headers["www-authenticate"].startswith("Bearer")
    async with chatting(gateway) as client:
        with pytest.raises(openai.NotFoundError):
            await client.files.list()
        with pytest.raises(openai.APIStatusError) as large:
            await chat(client, messages=[{"role": "user", "content": "x" * (16 << 20)}])
        assert (large.value.status_code, large.value.code) == (413, "too_large")
    async with gateway.http("wrong") as http:
        assert (await http.get("/")).json()["error"] == "unauthorized"


async def test_tokens_are_counted_as_the_upstream_tells_them_or_by_length(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages, usage: PlayedUsage
) -> None:
    async with start_gateway(**settings(upstream.url, CORTEX_ORG="acme")) as gateway, chatting(gateway) as client:
        await chat(client)
        assert [chunk async for chunk in await chat(client, stream=True)]
        await asyncio.to_thread(gateway.stop)
    texts = "".join(one["content"] for one in upstream.asked[-1].body["messages"]).encode()
    assert usage.counts["acme", "owner", "chat"] == [
        2,
        40 + -(-len(texts) // 4),
        9 + -(-len("Inês owns it.".encode()) // 4),
    ]


async def test_who_leaves_before_the_answer_is_counted_for_what_was_sent(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages, usage: PlayedUsage
) -> None:
    upstream.hold_after = 0
    async with start_gateway(**settings(upstream.url, CORTEX_ORG="acme")) as gateway, chatting(gateway) as client:
        asking = asyncio.create_task(chat(client))
        async with asyncio.timeout(30):
            await upstream.held.wait()
            asking.cancel()
            await upstream.left.wait()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.to_thread(gateway.stop)
    texts = "".join(one["content"] for one in upstream.asked[-1].body["messages"]).encode()
    assert usage.counts["acme", "owner", "chat"] == [1, -(-len(texts) // 4), 0]


async def test_the_tokens_of_a_day_end_and_come_back_at_midnight(
    start_gateway: Start, upstream: ChatServer, pages: PlayedPages, usage: PlayedUsage
) -> None:
    usage.spent = 90
    async with (
        start_gateway(**settings(upstream.url, CORTEX_CHAT_DAILY_TOKENS="100")) as gateway,
        chatting(gateway, max_retries=2) as client,
    ):
        await chat(client)
        usage.spent = 100
        with pytest.raises(openai.RateLimitError) as caught:
            await chat(client)
        assert (caught.value.type, caught.value.code) == ("insufficient_quota", "daily_tokens_spent")
        assert 0 < int(caught.value.response.headers["retry-after"]) <= 86_400
    assert len(upstream.asked) == 1
