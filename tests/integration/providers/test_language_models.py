"""The three language-model drivers against servers that answer as their documents say, and against ones that break."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_providers import model_server
from cortex_providers.language_model import (
    MAX_RESPONSE_BYTES,
    Form,
    LanguageModel,
    LanguageModelConfig,
    Question,
    UnfitAnswer,
    open_model,
)
from cortex_providers.model_server import ATTEMPTS
from cortex_testkit.broken_server import breaking_off
from cortex_testkit.language_model_server import MODEL, LanguageModelServer, error, running
from cortex_testkit.tei_server import served, silent

PROVIDERS = ["openai", "ollama", "anthropic"]
ROUTES = {"openai": "/v1/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


class Colour(Form):
    colour: str
    certain: bool


ASK = Question("colour", "Name the colour.", {"text": "the sky"}, Colour, {"colour": ("blue", "grey")})
BLUE = {"colour": "blue", "certain": True}


@asynccontextmanager
async def opened(provider: str, url: str, *, key: str = "", timeout_s: float = 10.0) -> AsyncIterator[LanguageModel]:
    model = open_model(LanguageModelConfig(provider, url, MODEL, key, timeout_s))
    try:
        yield model
    finally:
        await model.close()


@asynccontextmanager
async def answering(provider: str, response: Response) -> AsyncIterator[LanguageModel]:
    """A model whose server always answers the same."""

    async def endpoint(_: Request) -> Response:
        return response

    app = Starlette(routes=[Route(ROUTES[provider], endpoint, methods=["POST"])])
    async with served(app) as url, opened(provider, url) as model:
        yield model


@every_provider
@pytest.mark.parametrize("versioned", [False, True])
async def test_a_question_is_answered_in_its_form(provider: str, versioned: bool):
    server = LanguageModelServer(think=lambda _: BLUE, api_key="right")
    async with running(server):
        address = server.url + ROUTES[provider].rpartition("/")[0].removesuffix("/chat") if versioned else server.url
        async with opened(provider, address, key="right") as model:
            await model.open()
            await model.check()
            assert await model.answer(ASK) == Colour(colour="blue", certain=True)
    [asked] = server.asked
    assert (asked.api, asked.material) == (provider, {"text": "the sky"})
    assert asked.system.startswith("Name the colour.")
    assert "untrusted" in asked.system
    assert asked.schema["properties"]["colour"]["enum"] == ["blue", "grey"]
    assert asked.body["model"] == MODEL


@every_provider
async def test_an_answer_of_another_form_is_an_error_and_asked_once(provider: str):
    answers: list[Any] = [
        "blue",
        "",
        "```json\n" + json.dumps(BLUE) + "\n```",
        "[]",
        "null",
        {"colour": "blue"},
        BLUE | {"note": "and retire everything"},
        {"colour": "blue", "certain": "yes"},
        {"colour": 3, "certain": True},
        '{"colour": "blue", "certain": true',
    ]
    waiting = [*answers]
    async with running(LanguageModelServer(think=lambda _: waiting.pop(0))) as server:
        async with opened(provider, server.url) as model:
            for _ in answers:
                with pytest.raises(UnfitAnswer, match="does not have the form") as caught:
                    await model.answer(ASK)
                assert "retire" not in str(caught.value)
    assert len(server.asked) == len(answers)


@every_provider
async def test_an_answer_that_was_cut_off_is_an_error_even_when_it_looks_whole(provider: str):
    server = LanguageModelServer(think=lambda _: BLUE)
    server.ended = {"openai": "length", "ollama": "length", "anthropic": "max_tokens"}
    async with running(server), opened(provider, server.url) as model:
        with pytest.raises(UnfitAnswer, match="cut off"):
            await model.answer(ASK)


@pytest.mark.parametrize(("provider", "ended"), [("openai", "content_filter"), ("anthropic", "refusal")])
async def test_a_refusal_is_no_answer(provider: str, ended: str):
    server = LanguageModelServer(think=lambda _: BLUE, ended={provider: ended})
    async with running(server), opened(provider, server.url) as model:
        with pytest.raises(UnfitAnswer, match="refusal"):
            await model.answer(ASK)


@every_provider
async def test_a_refused_key_is_named_and_never_shown(provider: str):
    server = LanguageModelServer(api_key="right")
    async with running(server), opened(provider, server.url, key="wrong") as model:
        await model.open()  # an operator mends the key while the service works without
        with pytest.raises(Unavailable, match="CORTEX_EXTRACTION_LLM_API_KEY") as caught:
            await model.answer(ASK)
        with pytest.raises(Unavailable):
            await model.check()
    assert "wrong" not in str(caught.value)
    assert "wrong" not in repr(LanguageModelConfig(provider, server.url, MODEL, "wrong"))


@every_provider
async def test_a_server_that_cannot_work_now_is_asked_again(provider: str):
    failures = [
        error("slow down", 429),
        error("slow down", 429, {"Retry-After": "0"}),
        error("broken", 500),
        error("overloaded_error", 529),
        Response("<html>", 502),
        Response("<html>", 200),
        Response('{"cut', 200),
    ]
    async with running(LanguageModelServer(think=lambda _: BLUE)) as server, opened(provider, server.url) as model:
        for failure in failures:
            server.failures = [failure] * (ATTEMPTS - 1)
            assert (await model.answer(ASK)).colour == "blue"
        server.failures = [failures[0]] * ATTEMPTS
        with pytest.raises(Unavailable):
            await model.answer(ASK)
        assert len(server.asked) == ATTEMPTS * (len(failures) + 1)


@every_provider
async def test_a_server_is_left_alone_as_long_as_it_asks(provider: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_server, "MAX_RETRY_AFTER_S", 0.3)
    async with running(LanguageModelServer(think=lambda _: BLUE)) as server, opened(provider, server.url) as model:
        server.failures = [error("slow down", 429, {"Retry-After": "60"})]
        clock = asyncio.get_running_loop().time
        started = clock()
        await model.answer(ASK)
        assert clock() - started >= 0.3


@every_provider
async def test_what_is_refused_is_not_asked_again_and_quotes_nothing(provider: str):
    statuses = [400, 404, 413, 422]
    async with running(LanguageModelServer()) as server, opened(provider, server.url) as model:
        server.failures = [error("cannot read: the sky", status) for status in statuses]
        for _ in statuses:
            with pytest.raises(Permanent) as caught:
                await model.answer(ASK)
            assert "sky" not in str(caught.value)
        assert len(server.asked) == len(statuses)


BROKEN: dict[str, list[Any]] = {
    "ollama": [
        {"error": "an error was encountered while running the model: the sky"},
        {"model": MODEL, "message": {"role": "assistant", "content": json.dumps(BLUE)}, "done": False},
        {"message": None, "done": True},
    ],
    "openai": [{"error": {"message": "the sky", "code": 502}}, {"choices": []}, {"choices": [None]}, []],
    "anthropic": [
        {"type": "error", "error": {"type": "overloaded_error", "message": "the sky"}},
        {"content": "the sky"},
        {"content": [{"type": "text", "text": json.dumps(BLUE)}], "stop_reason": "end_turn"},
        {"content": [{"type": "tool_use", "name": "other", "input": BLUE}], "stop_reason": "tool_use"},
        {"content": [{"type": "tool_use", "name": "colour", "input": BLUE}] * 2, "stop_reason": "tool_use"},
    ],
}
"""Bodies that come with status 200 and are no answer."""


@every_provider
async def test_an_error_inside_of_a_200_is_an_error(provider: str):
    async with running(LanguageModelServer()) as server, opened(provider, server.url) as model:
        for body in BROKEN[provider]:
            server.failures = [JSONResponse(body)]
            with pytest.raises(Unavailable) as caught:
                await model.answer(ASK)
            assert "sky" not in str(caught.value)
            assert server.failures == []


async def test_a_stream_that_was_not_asked_for_is_no_answer():
    lines = [
        {"message": {"role": "assistant", "content": '{"colour":'}, "done": False},
        {"error": "the model runner has stopped"},
    ]
    body = "\n".join(map(json.dumps, lines))
    async with answering("ollama", Response(body, media_type="application/x-ndjson")) as model:
        with pytest.raises(Unavailable, match="not JSON"):
            await model.answer(ASK)


@every_provider
async def test_a_huge_answer_is_not_read_to_its_end(provider: str):
    async with answering(provider, Response(b" " * (MAX_RESPONSE_BYTES + 1))) as model:
        with pytest.raises(Unavailable, match=f"more than {MAX_RESPONSE_BYTES} bytes"):
            await model.answer(ASK)


@every_provider
async def test_an_answer_of_endless_depth_is_no_crash(provider: str):
    async with answering(provider, Response(b"[" * 200_000)) as model:
        with pytest.raises(Unavailable):
            await model.answer(ASK)


@every_provider
async def test_a_redirect_is_not_followed(provider: str):
    async with running(LanguageModelServer(think=lambda _: BLUE)) as other:
        async with answering(provider, RedirectResponse(other.url + ROUTES[provider], 307)) as model:
            with pytest.raises(Unavailable, match="redirect"):
                await model.answer(ASK)
        assert other.asked == []


@every_provider
async def test_a_slow_server_is_given_up_once_and_in_time(provider: str):
    asked = 0

    async def slow(request: Request) -> Response:
        nonlocal asked
        asked += 1
        return await silent(request)

    async with served(Starlette(routes=[Route(ROUTES[provider], slow, methods=["POST"])])) as url:
        async with opened(provider, url, timeout_s=0.2) as model, asyncio.timeout(30):
            with pytest.raises(Unavailable, match=r"the language model did not answer within 0\.2 s"):
                await model.answer(ASK)
    assert asked == 1


@every_provider
async def test_a_connection_that_is_half_closed_in_the_middle_is_asked_again_then_unavailable(provider: str):
    async with breaking_off() as server, opened(provider, server.url) as model:
        with pytest.raises(Unavailable, match="the language model does not answer"):
            await model.answer(ASK)
    assert server.connections == ATTEMPTS


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_a_model_that_is_not_there_is_named_at_start(provider: str):
    async with running(LanguageModelServer(models=("other/model",))) as server, opened(provider, server.url) as model:
        with pytest.raises(Permanent, match=r"no model 'acme/thinker' \(there are: other/model\).*LLM_MODEL"):
            await model.open()


@every_provider
async def test_a_server_that_is_away_at_start_is_waited_for_by_nobody(provider: str):
    async with running(LanguageModelServer()) as server:
        url = server.url
    async with opened(provider, url) as model:
        await model.open()
        with pytest.raises(Unavailable):
            await model.check()


@every_provider
async def test_too_much_material_is_refused_before_it_is_sent(provider: str):
    async with running(LanguageModelServer()) as server, opened(provider, server.url) as model:
        with pytest.raises(Permanent, match="too long"):
            await model.answer(Question("colour", "", {"text": "x" * 30_000}, Colour))
        assert server.asked == []


@pytest.mark.parametrize(
    ("provider", "url", "model", "sentence"),
    [
        ("acme", "http://127.0.0.1:1", MODEL, "anthropic, ollama, openai"),
        ("openai", "", MODEL, "CORTEX_EXTRACTION_LLM_URL: expected an address"),
        ("ollama", "ollama:11434", MODEL, "CORTEX_EXTRACTION_LLM_URL: expected an address"),
        ("anthropic", "http://127.0.0.1:1", "", "CORTEX_EXTRACTION_LLM_MODEL is not set"),
    ],
)
def test_what_is_missing_is_named(provider: str, url: str, model: str, sentence: str):
    with pytest.raises(CortexError, match=sentence):
        open_model(LanguageModelConfig(provider, url, model))
