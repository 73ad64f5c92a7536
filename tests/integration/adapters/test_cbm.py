"""cbm as an engine, over streamable HTTP and stdio, against a server that answers in the shapes of the real one."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters import cbm
from cortex_gateway.adapters.dialect import ToolFailed
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineKind, EngineSource
from cortex_testkit import cbm_server
from cortex_testkit.cbm_server import CbmServer


@asynccontextmanager
async def engine_of(server: CbmServer, project: str = "") -> AsyncIterator[Engine]:
    async with cbm_server.running(server):
        engine = cbm.engine(EngineSource(key="cbm", kind=EngineKind.CBM, url=server.url, project=project))
        await engine.open()
        try:
            yield engine
        finally:
            await engine.close()


def paths(hits: Sequence[Hit]) -> list[str]:
    return [hit.path for hit in hits]


@pytest.mark.parametrize("knows_format", [True, False])
async def test_a_named_symbol_is_found_in_text_tables_and_in_json(knows_format: bool) -> None:
    async with engine_of(CbmServer(knows_format=knows_format)) as engine:
        best = (await engine.search("Where is `HandleOrder`?", 5))[0]
    assert best.path == "cmd/server/main.go#HandleOrder"
    assert best.title == "function HandleOrder in cmd/server/main.go, lines 10-22"
    assert best.snippet.startswith("Function HandleOrder is defined in cmd/server/main.go, lines 10-22")
    assert "book.Place(r)" in best.snippet
    assert best.relevance == pytest.approx(0.9)
    assert best.source_class is SourceClass.RECENT_FILE
    assert best.confidence == 0.9
    assert best.last_seen is not None
    assert datetime.now(UTC) - best.last_seen < timedelta(minutes=1)


@pytest.mark.parametrize("knows_format", [True, False])
async def test_who_calls_a_method_is_answered_by_its_callers(knows_format: bool) -> None:
    async with engine_of(CbmServer(knows_format=knows_format)) as engine:
        hits = await engine.search("Who calls Book.Place?", 5)
    assert paths(hits)[:2] == ["cmd/server/main.go#HandleOrder", "orders/book.go#Book/Place"]
    assert hits[0].snippet.startswith("Function HandleOrder calls Book.Place in cmd/server/main.go")


async def test_what_a_function_calls_is_answered_by_what_it_calls() -> None:
    async with engine_of(CbmServer()) as engine:
        hits = await engine.search("What does `HandleOrder` call?", 5)
    assert paths(hits)[0] == "orders/book.go#Book/Place"
    assert hits[0].snippet.startswith("Function HandleOrder calls Book.Place")


async def test_a_question_without_names_is_searched_by_its_words() -> None:
    server = CbmServer()
    async with engine_of(server) as engine:
        hits = await engine.search("How are orders placed in the book?", 5)
    assert paths(hits)[0] == "orders/book.go#Book/Place"
    assert hits[0].native_score < 0  # the engine's own rank: smaller is better
    assert hits[0].relevance > hits[-1].relevance
    assert any(given.get("query") == "orders placed book" for _, given in server.calls)


async def test_a_question_without_a_word_for_the_index_lists_nothing() -> None:
    server = CbmServer()
    async with engine_of(server) as engine:
        assert await engine.search("ما حالة الطلبات؟", 5) == ()
    assert [name for name, _ in server.calls] == ["list_projects"]


async def test_a_question_about_structure_gets_an_overview_in_sentences() -> None:
    async with engine_of(CbmServer()) as engine:
        hits = await engine.search("What is the architecture of the shop?", 5)
    overview = next(hit for hit in hits if hit.path == "shop#architecture")
    assert "The code of shop is a graph of 120 nodes and 300 edges." in overview.snippet
    assert "Layers: server (layer api, reason has HTTP route definitions); orders" in overview.snippet
    assert "Languages: Go (files 2); C, C++ (files 3)." in overview.snippet
    assert overview.last_seen is None


async def test_the_symbols_of_a_file_are_found_by_its_name() -> None:
    async with engine_of(CbmServer()) as engine:
        hits = await engine.search("what is in book.go?", 5)
    assert set(paths(hits)) == {"orders/book.go#Book", "orders/book.go#Book/Place"}


async def test_a_symbol_whose_lines_hold_something_else_by_now_has_no_date() -> None:
    async with engine_of(CbmServer(changed=True)) as engine:
        best = (await engine.search("Where is `HandleOrder`?", 5))[0]
    assert best.last_seen is None
    assert "moved away" not in best.snippet


async def test_the_only_project_is_used_and_asked_for_once() -> None:
    server = CbmServer()
    async with engine_of(server) as engine:
        await engine.search("`HandleOrder`", 5)
        await engine.search("`Book`", 5)
    assert [name for name, _ in server.calls].count("list_projects") == 1
    assert all(given["project"] == "shop" for name, given in server.calls if name != "list_projects")


async def test_the_configured_project_is_used() -> None:
    server = CbmServer(projects=("shop", "yard"))
    async with engine_of(server, project="yard") as engine:
        await engine.search("`HandleOrder`", 5)
    assert all(given["project"] == "yard" for _, given in server.calls)


@pytest.mark.parametrize(
    ("projects", "sentence"),
    [
        ((), "cbm has indexed no project"),
        (("shop", "yard"), "set the engine's project in CORTEX_ENGINES to one of shop, yard"),
    ],
)
async def test_without_one_project_a_sentence_says_what_to_configure(projects: tuple[str, ...], sentence: str) -> None:
    async with engine_of(CbmServer(projects=projects)) as engine:
        with pytest.raises(ToolFailed, match=sentence):
            await engine.search("`HandleOrder`", 5)


async def test_a_project_that_is_gone_is_an_error_and_the_next_question_finds_the_new_one() -> None:
    server = CbmServer()
    async with engine_of(server) as engine:
        await engine.search("`HandleOrder`", 5)
        server.projects = ("store",)
        with pytest.raises(ToolFailed, match="project not found or not indexed"):
            await engine.search("`HandleOrder`", 5)
        assert await engine.search("`HandleOrder`", 5)


async def test_nothing_that_writes_is_called() -> None:
    server = CbmServer()
    async with engine_of(server) as engine:
        for question in (
            "delete_project",
            "index_repository of the shop",
            "Who calls `manage_adr`?",
            "the architecture",
        ):
            await engine.search(question, 5)
    assert server.written == []


async def test_it_is_asked_over_stdio_as_the_real_one_is() -> None:
    command = (sys.executable, "-m", "cortex_testkit.cbm_server")
    engine = cbm.engine(EngineSource(key="cbm", kind=EngineKind.CBM, command=command))
    await engine.open()
    try:
        assert paths(await engine.search("Who calls Book.Place?", 3))[0] == "cmd/server/main.go#HandleOrder"
        assert await engine.last_ingest() is None
    finally:
        await engine.close()
