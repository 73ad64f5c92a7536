"""The engine `inbox` against a server that answers as Memos does, old and new, and against ones that break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.json_api import MAX_RESPONSE_BYTES
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineSource
from cortex_testkit.broken_server import breaking_off
from cortex_testkit.memos_server import MemosServer, memo, running
from cortex_testkit.tei_server import served, silent

SECRET = "memos_pat_0123456789"
MEMOS = (
    memo("crane1", "# The crane\nThe harbour crane is stopped since Monday. #yard", "2026-11-25T10:00:00Z"),
    memo("night1", "night shift: two people", "2026-11-26T10:00:00Z"),
    memo("old1", "the crane was painted", "2026-01-02T10:00:00Z"),
    memo("gone1", "the crane, archived", state="ARCHIVED"),
    memo("ar1", "رافعة الميناء متوقفة منذ الأحد", "2026-11-24T10:00:00Z"),
)


@asynccontextmanager
async def opened(url: str, **source: Any) -> AsyncIterator[Engine]:
    engine = kinds.engine(EngineSource.model_validate({"key": "inbox", "url": url, **source}))
    try:
        await engine.open()
        yield engine
    finally:
        await engine.close()


@pytest.mark.parametrize("path", ["", "/", "/api/v1"])
async def test_notes_that_share_words_with_the_question_are_found(path: str):
    async with running(MemosServer(MEMOS, token=SECRET)) as server:
        async with opened(server.url + path, token=SECRET) as engine:
            await engine.check()
            best, other = await engine.search("Is the harbour crane stopped?", 5)
            [arabic] = await engine.search("هل رافعة الميناء متوقفة؟", 5)
            assert await engine.last_ingest() == datetime(2026, 11, 26, 10, tzinfo=UTC)
            assert await engine.search("zebra", 5) == []
    assert (best.title, best.path) == ("The crane", "memos/crane1")
    assert "stopped since Monday" in best.snippet
    assert best.last_seen == datetime(2026, 11, 25, 10, tzinfo=UTC)
    assert best.source_class is SourceClass.RECENT_FILE
    assert best.relevance > 0.7
    assert other.path == "memos/old1"
    assert other.relevance < best.relevance / 2
    assert arabic.path == "memos/ar1"


@pytest.mark.parametrize(
    "question",
    [
        'crane" || true || "',
        'crane") || true || content.contains("',
        "crane\\\" || true || \\\"",
        "crane\n|| true",
        "crane'''\"\"\" \x00 \u2028",
        "crane 100% _ %",
    ],
)  # fmt: skip
async def test_a_question_is_only_words_to_the_filter(question: str):
    server = MemosServer((*MEMOS, memo("sheep", "sheep graze")))
    async with running(server), opened(server.url) as engine:
        found = await engine.search(question, 9)
    assert {hit.path for hit in found} <= {"memos/crane1", "memos/old1"}
    assert found
    assert all("filter" in request for request in server.requests[1:])


async def test_the_note_that_holds_all_words_is_found_behind_many_newer_ones_that_hold_one():
    many = [memo(f"n{number}", "crane, again", f"2026-11-28T10:{number % 60:02}:00Z") for number in range(80)]
    server = MemosServer([*many, *MEMOS], page=20)  # so that the pages that are followed hold 60
    async with running(server), opened(server.url, limit_s=20) as engine:
        assert (await engine.search("harbour crane stopped", 3))[0].path == "memos/crane1"
    assert len(server.requests) <= 1 + 1 + 3


async def test_pages_are_followed_as_far_as_is_worth_it():
    server = MemosServer([memo(f"n{n}", f"crane number {n}") for n in range(40)], page=15)
    async with running(server), opened(server.url) as engine:
        assert len(await engine.search("crane", 100)) == 40
        server.circular = True
        assert len(await engine.search("crane", 100)) == 15


async def test_a_server_of_before_the_filters_and_fields_of_today_is_read_as_well():
    old = [
        {"name": "memos/101", "uid": "aB3", "rowStatus": "NORMAL", "displayTime": "2024-05-01T10:00:00Z",
         "content": "the crane is green", "resources": []},
        {"id": 7, "content": "a crane", "createdTs": 1_714_557_600},
        {"name": "memos/8", "rowStatus": "ARCHIVED", "content": "crane of old"},
        {"content": None},
        {"snippet": "crane, in short"},
    ]  # fmt: skip
    server = MemosServer(old, filters=False, orders=False)
    async with running(server), opened(server.url) as engine:
        found = {hit.path: hit for hit in await engine.search("crane", 9)}
        assert set(found) == {"memos/aB3", "memos/7", "memos/"}
        assert found["memos/aB3"].last_seen == datetime(2024, 5, 1, 10, tzinfo=UTC)
        assert found["memos/7"].last_seen == datetime(2024, 5, 1, 10, tzinfo=UTC)
        asked = len(server.requests)
        await engine.search("crane", 9)
    assert len(server.requests) == asked + 1  # it does not try again what the server does not know
    assert "filter" not in server.requests[-1]


async def test_the_newest_notes_of_such_a_server_are_looked_through():
    many = [memo(f"n{number}", "sheep", f"2026-11-28T10:{number % 60:02}:00Z") for number in range(400)]
    async with running(MemosServer([*many, *MEMOS], filters=False)) as server, opened(server.url) as engine:
        assert {hit.path for hit in await engine.search("crane", 9)} == {"memos/crane1", "memos/old1"}


async def test_all_spellings_of_an_arabic_word_are_looked_for():
    notes = [memo("written", "كتبها أحمد أمس"), memo("plain", "كتبها احمد امس")]
    async with running(MemosServer(notes)) as server, opened(server.url) as engine:
        for question in ("أحمد", "احمد"):
            assert {hit.path for hit in await engine.search(question, 9)} == {"memos/written", "memos/plain"}


async def test_a_filter_that_the_server_fails_on_is_left_out_this_once():
    server = MemosServer(MEMOS)
    async with running(server), opened(server.url) as engine:
        server.failures = [JSONResponse({"code": 13, "message": "internal"}, 500)]
        assert await engine.search("crane", 5)
        await engine.search("crane", 5)
    assert "filter" in server.requests[-1]


@pytest.mark.parametrize(
    ("failure", "kind", "sentence"),
    [
        (JSONResponse({"code": 16, "message": "bad crane"}, 401), Unavailable, r"token with 401 \(UNAUTHENTICATED\)"),
        (JSONResponse({"code": 7, "message": "crane"}, 403), Unavailable, r"403 \(PERMISSION_DENIED\)"),
        (JSONResponse({"code": 8, "message": "crane"}, 429), Unavailable, "429"),
        (HTMLResponse("<h1>crane</h1>"), Unavailable, "not JSON: check CORTEX_INBOX_URL"),
        (JSONResponse(["crane"]), Unavailable, "no list of memos"),
        (RedirectResponse("http://127.0.0.1:1/crane", 302), Unavailable, "redirect"),
        (Response(b" " * (MAX_RESPONSE_BYTES + 1)), Unavailable, "more than"),
        (Response(b"[" * 100_000), Unavailable, "not JSON"),
    ],
)
async def test_what_goes_wrong_is_one_sentence_without_a_word_of_anybody(
    failure: Response, kind: type[CortexError], sentence: str
):
    server = MemosServer(MEMOS, token=SECRET)
    async with running(server), opened(server.url, token=SECRET) as engine:
        server.failures = [failure] * 2
        with pytest.raises(kind, match=sentence) as caught:
            await engine.search("crane", 5)
        assert "crane" not in str(caught.value)
        assert SECRET not in str(caught.value)
        server.failures = []
        assert await engine.search("crane", 5)


async def test_a_wrong_token_is_noticed_when_it_is_opened():
    async with running(MemosServer(MEMOS, token=SECRET)) as server:
        with pytest.raises(Unavailable, match="refused the token"):
            async with opened(server.url, token="wrong"):
                pass


async def test_an_address_of_something_else_is_no_inbox():
    async with served(Starlette()) as url:
        with pytest.raises(CortexError, match="404"):
            async with opened(url):
                pass


async def test_servers_that_hang_break_off_or_are_away_are_unavailable_and_leave_nothing_open():
    app = Starlette(routes=[Route("/api/v1/memos", silent)])
    async with served(app) as url, asyncio.timeout(30):
        with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s"):
            async with opened(url, limit_s=0.2):
                pass
    async with breaking_off() as broken:
        with pytest.raises(Unavailable):
            async with opened(broken.url):
                pass
    async with running(MemosServer(MEMOS)) as server, opened(server.url) as engine:
        assert await engine.search("crane", 5)
        await engine.close()
        with pytest.raises(Unavailable, match="not connected"):
            await engine.search("crane", 5)
        await engine.open()
        assert await engine.search("crane", 5)


async def test_an_address_with_more_than_a_place_is_refused_without_showing_it():
    with pytest.raises(Permanent) as caught:
        kinds.engine(EngineSource.model_validate({"key": "inbox", "url": "http://127.0.0.1:1/?k=hidden"}))
    assert "hidden" not in str(caught.value)
