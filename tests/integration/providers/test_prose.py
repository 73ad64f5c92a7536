"""Prose of Ollama and Claude as it comes, from servers that answer as their documents say and from ones that do not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_providers.prose import Ending, Prompt, Prose, ProseConfig, ProseWriter, Refused
from cortex_providers.prose_claude import ClaudeWriter
from cortex_providers.prose_ollama import OllamaWriter
from cortex_testkit.broken_server import breaking_off
from cortex_testkit.prose_server import MODEL, ProseServer, running
from cortex_testkit.tei_server import served, silent

KEY = "sk-ant-the-key-of-the-test"
WRITERS: dict[str, Callable[[ProseConfig], ProseWriter]] = {"ollama": OllamaWriter, "claude": ClaudeWriter}
ROUTES = {"ollama": "/api/chat", "claude": "/v1/messages"}
TEXT = "Inês besitzt «Billing» [r1]. هرمز متوقف [r2]."
PROMPT = Prompt("Answer.", '{"question": "Who?"}', 64)
every_writer = pytest.mark.parametrize("api", WRITERS)


def writer_of(api: str, url: str, *, timeout_s: float = 10.0) -> ProseWriter:
    return WRITERS[api](ProseConfig(url, MODEL, "CORTEX_SYNTHESIS_TEST", KEY if api == "claude" else "", timeout_s))


@asynccontextmanager
async def opened(api: str, url: str, *, timeout_s: float = 10.0) -> AsyncIterator[ProseWriter]:
    writer = writer_of(api, url, timeout_s=timeout_s)
    try:
        yield writer
    finally:
        await writer.close()


@asynccontextmanager
async def answering(api: str, endpoint: Callable[[Request], Any]) -> AsyncIterator[ProseWriter]:
    app = Starlette(routes=[Route(ROUTES[api], endpoint, methods=["POST"])])
    async with served(app) as url, opened(api, url) as writer:
        yield writer


def always(response: Response) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        return response

    return endpoint


async def all_of(writer: ProseWriter, limit_s: float = 10.0) -> tuple[str, Prose]:
    async with writer.write(PROMPT, limit_s) as prose:
        return "".join([piece async for piece in prose.pieces]), prose


@every_writer
@pytest.mark.parametrize("versioned", [False, True])
async def test_prose_comes_in_pieces_with_its_ending_and_its_tokens(api: str, versioned: bool) -> None:
    async with running(ProseServer(write=lambda _: TEXT, api_key=KEY if api == "claude" else "")) as server:
        url = server.url + ROUTES[api].rpartition("/")[0] if versioned else server.url
        async with opened(api, url) as writer:
            await writer.check()
            async with writer.write(PROMPT, 10.0) as prose:
                pieces = [piece async for piece in prose.pieces]
    assert "".join(pieces) == TEXT
    assert len(pieces) > 3
    assert (prose.ending, prose.input_tokens, prose.output_tokens) == (Ending.DONE, 120, 30)
    [asked] = server.asked
    assert (asked.api, asked.system, asked.user) == (api, PROMPT.system, PROMPT.user)
    assert asked.body["model"] == MODEL
    limit = asked.body["max_tokens"] if api == "claude" else asked.body["options"]["num_predict"]
    assert limit == PROMPT.max_tokens


@every_writer
async def test_an_answer_that_was_cut_off_says_so(api: str) -> None:
    ended = "max_tokens" if api == "claude" else "length"
    async with running(ProseServer(write=lambda _: TEXT, ended=ended)) as server, opened(api, server.url) as writer:
        said, prose = await all_of(writer)
    assert (said, prose.ending) == (TEXT, Ending.LENGTH)


async def test_a_refusal_in_the_middle_is_no_answer() -> None:
    async with running(ProseServer(write=lambda _: TEXT, ended="refusal")) as server:
        async with opened("claude", server.url) as writer:
            with pytest.raises(Refused):
                await all_of(writer)


@every_writer
async def test_tokens_that_are_not_told_are_none(api: str) -> None:
    async with running(ProseServer(write=lambda _: TEXT, usage=None)) as server, opened(api, server.url) as writer:
        _, prose = await all_of(writer)
    assert (prose.input_tokens, prose.output_tokens) == (None, None)


@every_writer
@pytest.mark.parametrize("after", [0, 2])
async def test_an_error_in_the_middle_of_a_good_status_is_an_error(api: str, after: int) -> None:
    server = ProseServer(write=lambda _: TEXT, error_after=after)
    async with running(server), opened(api, server.url) as writer:
        with pytest.raises(Unavailable, match="failed in the middle") as caught:
            await all_of(writer)
    assert "CUDA" not in str(caught.value)


@every_writer
async def test_a_stream_that_breaks_off_is_an_error(api: str) -> None:
    async with running(ProseServer(write=lambda _: TEXT, cut_after=2)) as server, opened(api, server.url) as writer:
        with pytest.raises(Unavailable, match="broke off"):
            await all_of(writer)
    async with breaking_off() as broken, opened(api, broken.url) as writer:
        with pytest.raises(Unavailable):
            await all_of(writer)


@every_writer
async def test_a_stream_that_ends_without_its_end_is_an_error(api: str) -> None:
    line = {
        "ollama": b'{"message":{"role":"assistant","content":"Half"},"done":false}\n',
        "claude": b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Half"}}\n\n',
    }[api]
    async with running(ProseServer(lines=lambda _: [line])) as server, opened(api, server.url) as writer:
        with pytest.raises(Unavailable, match="broke off"):
            await all_of(writer)


@every_writer
async def test_an_end_without_a_last_newline_is_an_end(api: str) -> None:
    line = {
        "ollama": b'{"message":{"role":"assistant","content":"Whole"},"done":true,"done_reason":"stop"}',
        "claude": b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
    }[api]
    async with running(ProseServer(lines=lambda _: [line])) as server, opened(api, server.url) as writer:
        assert (await all_of(writer))[1].ending is Ending.DONE


@every_writer
async def test_silence_in_the_middle_is_an_error_after_the_time_limit(api: str) -> None:
    async with running(ProseServer(write=lambda _: TEXT, hold_after=2)) as server:
        async with opened(api, server.url, timeout_s=0.2) as writer:
            with pytest.raises(Unavailable) as caught:
                await all_of(writer)
        assert caught.value.code is ErrorCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(server.left.wait(), 30)


@every_writer
async def test_a_server_that_never_answers_is_an_error_after_the_time_limit(api: str) -> None:
    async with served(Starlette(routes=[Route(ROUTES[api], silent, methods=["POST"])])) as url:
        async with opened(api, url, timeout_s=0.2) as writer:
            with pytest.raises(Unavailable):
                await all_of(writer)


@every_writer
async def test_leaving_ends_the_work_of_the_server(api: str) -> None:
    async with running(ProseServer(write=lambda _: TEXT * 50, hold_after=30)) as server:
        async with opened(api, server.url) as writer:
            async with writer.write(PROMPT, 10.0) as prose:
                async for _ in prose.pieces:
                    break
            await asyncio.wait_for(server.left.wait(), 30)


@every_writer
async def test_an_endless_answer_ends(api: str) -> None:
    async def endless(_: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            while True:
                yield b'{"message":{"content":"a"},"done":false}\n' if api == "ollama" else b": ping\n\n" * 100
                await asyncio.sleep(0)

        return StreamingResponse(pieces())

    async with answering(api, endless) as writer:
        with pytest.raises(Unavailable, match=r"more than|did not end"):
            await all_of(writer, 0.5)


NONSENSE = (
    b"<html><body>Welcome</body></html>",
    b"\xff\xfe\x00",
    b"[]\n",
    b"null\n",
    b'{"error":"model is loading"}\n',
    b'{"message": 7, "done": false}\n',
    b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":7}}\n',
    b"[" * 60_000 + b"\n",
    b"a" * 200_000,
    b'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
    b"",
)


@every_writer
async def test_what_is_no_stream_of_the_api_is_an_error(api: str) -> None:
    async with running(ProseServer(failures=list(map(HTMLResponse, NONSENSE)))) as server:
        async with opened(api, server.url) as writer:
            for _ in NONSENSE:
                with pytest.raises(Unavailable) as caught:
                    await all_of(writer)
                assert "loading" not in str(caught.value)


REFUSALS: tuple[tuple[int, type[CortexError], str], ...] = (
    (429, Unavailable, "answered 429"),
    (500, Unavailable, "answered 500"),
    (529, Unavailable, "answered 529"),
    (401, Unavailable, "refused the key in CORTEX_SYNTHESIS_TEST_API_KEY"),
    (404, Permanent, "has no model"),
    (400, Permanent, "refused the request with 400"),
)


@every_writer
async def test_a_refusal_is_told_without_its_body(api: str) -> None:
    body = {"error": {"message": f"bad key {KEY}", "type": "x"}}
    async with running(ProseServer(failures=[JSONResponse(body, status) for status, *_ in REFUSALS])) as server:
        async with opened(api, server.url) as writer:
            for _, error, says in REFUSALS:
                with pytest.raises(error, match=says) as caught:
                    await all_of(writer)
                assert KEY not in repr(caught.value)


@every_writer
async def test_a_redirect_is_not_followed(api: str) -> None:
    async with running(ProseServer(write=lambda _: TEXT)) as elsewhere:
        target = elsewhere.url + ROUTES[api]
        async with answering(api, always(RedirectResponse(target, 307))) as writer:
            with pytest.raises(Unavailable, match="redirect"):
                await all_of(writer)
    assert elsewhere.asked == []


async def test_a_check_finds_the_model_missing_and_a_wake_loads_it() -> None:
    async with running(ProseServer(models=("other",))) as server, opened("ollama", server.url) as writer:
        with pytest.raises(Permanent, match="has no model 'acme/writer'"):
            await writer.check()
        server.models = (f"{MODEL}:latest",)
        await writer.wake()
        assert server.loaded == 1
        server.failures = [JSONResponse({"error": "out of memory"})]
        with pytest.raises(Unavailable):
            await writer.wake()
        for nonsense in (HTMLResponse("<html>"), JSONResponse([]), JSONResponse({"models": [1]})):
            server.tags = nonsense
            with pytest.raises(Unavailable):
                await writer.check()


async def test_a_check_finds_the_key_refused() -> None:
    async with running(ProseServer(api_key="another")) as server, opened("claude", server.url) as writer:
        for ask in (writer.check, writer.wake, lambda: all_of(writer)):
            with pytest.raises(Unavailable, match="refused the key") as caught:
                await ask()
            assert KEY not in repr(caught.value)


async def test_a_server_without_a_list_of_models_can_stand_in_for_claude_and_not_for_ollama() -> None:
    async with served(Starlette()) as url:
        async with opened("claude", url) as writer:
            await writer.check()
        async with opened("ollama", url) as writer:
            with pytest.raises(Unavailable):
                await writer.check()


@every_writer
@pytest.mark.parametrize(
    ("url", "model", "named"),
    [
        ("ftp://h", "m", "CORTEX_SYNTHESIS_TEST_URL"),
        ("http://user:secret@h", "m", "CORTEX_SYNTHESIS_TEST_URL"),
        ("http://h", "", "CORTEX_SYNTHESIS_TEST_MODEL"),
    ],
)
def test_what_cannot_be_a_writer_names_its_setting(api: str, url: str, model: str, named: str) -> None:
    with pytest.raises(Permanent, match=named) as refused:
        WRITERS[api](ProseConfig(url, model, "CORTEX_SYNTHESIS_TEST", KEY))
    assert "secret" not in refused.value.message
    assert KEY not in repr(ProseConfig(url, model, "CORTEX_SYNTHESIS_TEST", KEY))
