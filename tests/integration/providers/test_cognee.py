"""The Cognee engine against a server that answers as its document says, and against ones that break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_extraction.relations import Relation
from cortex_providers import engine as engines
from cortex_providers.cognee import MAX_RESPONSE_BYTES
from cortex_providers.engine import BuiltinEngine, Engine, EngineConfig, EngineText
from cortex_providers.model_server import ATTEMPTS
from cortex_testkit.broken_server import breaking_off
from cortex_testkit.cognee_server import CogneeServer, running
from cortex_testkit.tei_server import served, silent

TEXTS = [
    EngineText("we keep sessions in valkey since 2026-03-01, says ada lund"),
    EngineText("سجل المدفوعات في valkey"),
]
EDGES = [("ada lund", "keeps_sessions_in", "valkey"), ("valkey", "is_a", "database"), ("المدفوعات", "uses", "valkey")]
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"


@asynccontextmanager
async def opened(url: str, *, token: str = "", timeout_s: float = 10.0) -> AsyncIterator[Engine]:
    engine = engines.open_engine("cognee", EngineConfig(url, token, timeout_s))
    try:
        yield engine
    finally:
        await engine.close()


@pytest.mark.parametrize("access_control", [True, False])
async def test_each_text_gets_what_the_graph_finds_in_it_and_nothing_stays_there(access_control: bool):
    async with running(CogneeServer(edges=EDGES, access_control=access_control)) as server:
        async with opened(f"{server.url}/api/v1" if access_control else server.url) as engine:
            await engine.open()
            await engine.check()
            first, second = await engine.extract(TEXTS)
            assert await engine.extract([]) == []
    assert {one.key for one in first.entities} == {"2026-03-01", "ada lund", "valkey"}
    assert Relation("ada lund", "keeps_sessions_in", "valkey") in first.relations
    assert {one.key for one in second.entities} >= {"المدفوعات", "valkey"}
    assert Relation("المدفوعات", "uses", "valkey") in second.relations
    assert server.datasets == {}
    assert [route for route, _ in server.requests] == ["add", "cognify", "search", "search"]
    assert server.requests[0][1] == [one.text for one in TEXTS]
    name = server.requests[1][1]["datasets"]
    assert [body["datasets"] for route, body in server.requests if route == "search"] == [name, name]


@pytest.mark.parametrize("token", [JWT, "an-api-key"])
async def test_a_token_goes_where_its_form_belongs(token: str):
    server = CogneeServer(bearer=token) if token is JWT else CogneeServer(api_key=token)
    async with running(server):
        async with opened(server.url, token=token) as engine:
            await engine.extract(TEXTS)
        for other in ("", "wrong", "a.b.c"):
            async with opened(server.url, token=other) as engine:
                with pytest.raises(Unavailable, match="Cognee refused the key in CORTEX_COGNEE_API_TOKEN") as caught:
                    await engine.extract(TEXTS)
                with pytest.raises(Unavailable):
                    await engine.check()
                assert not other or other not in str(caught.value)


@pytest.mark.parametrize("status", ["PipelineRunErrored", "PipelineRunStarted", "PipelineRunYield"])
async def test_a_run_that_did_not_complete_is_no_answer_and_leaves_nothing(status: str):
    for server in (CogneeServer(cognify_status=status), CogneeServer(add_status=status)):
        async with running(server), opened(server.url) as engine:
            with pytest.raises(Unavailable, match=status):
                await engine.extract(TEXTS)
        assert server.datasets == {}


async def test_work_that_was_done_already_is_done():
    server = CogneeServer(edges=EDGES, add_status="PipelineRunAlreadyCompleted")
    async with running(server), opened(server.url) as engine:
        assert (await engine.extract(TEXTS[:1]))[0].relations


@pytest.mark.parametrize(
    ("route", "failure", "kind", "sentence"),
    [
        ("add", JSONResponse({"error": "Either of my secret …", "detail": None}, 400), Permanent, "400"),
        ("add", JSONResponse({"detail": [{"loc": ["body", "data"]}], "body": "my secret"}, 400), Permanent, "data"),
        ("cognify", JSONResponse({"detail": "my secret [OntologyNotFound]"}, 409), Permanent, "OntologyNotFound"),
        (
            "search",
            JSONResponse({"detail": "my secret [DatasetNotFoundError]"}, 404),
            Permanent,
            "DatasetNotFoundError",
        ),
        ("search", JSONResponse({"error": "errored", "detail": "my secret"}, 420), Permanent, "420"),
        ("search", JSONResponse({"answer": "my secret"}), Unavailable, "not a list"),
        ("search", RedirectResponse("http://127.0.0.1:1/my-secret", 307), Unavailable, "redirect"),
        ("search", Response(b" " * (MAX_RESPONSE_BYTES + 1)), Unavailable, "more than"),
        ("cognify", Response(b"[" * 200_000), Unavailable, "not JSON"),
    ],
)
async def test_a_refusal_is_one_sentence_without_what_was_sent(
    route: str, failure: Response, kind: type[CortexError], sentence: str
):
    async with running(CogneeServer(failures={route: [failure] * ATTEMPTS})) as server, opened(server.url) as engine:
        with pytest.raises(kind, match=sentence) as caught:
            await engine.extract(TEXTS)
    assert "secret" not in str(caught.value)
    assert server.datasets == {}


async def test_a_server_that_cannot_work_now_is_asked_again():
    busy = [
        JSONResponse({"detail": "slow down"}, 429, {"Retry-After": "0"}),
        JSONResponse({"error": "Pipeline run errored", "detail": "x"}, 500),
    ]
    server = CogneeServer(edges=EDGES, failures={route: [*busy] for route in ("add", "cognify", "search")})
    async with running(server), opened(server.url) as engine:
        assert len(await engine.extract(TEXTS)) == 2
        server.failures = {"cognify": [Response("<html>", 503)] * ATTEMPTS}
        with pytest.raises(Unavailable, match="Cognee answered 503"):
            await engine.extract(TEXTS)
    assert server.datasets == {}


async def test_a_dataset_that_cannot_be_deleted_does_not_cost_the_answer():
    failures = {"datasets": [JSONResponse({"detail": "no [PermissionDeniedError]"}, 403)]}
    async with running(CogneeServer(edges=EDGES, failures=failures)) as server, opened(server.url) as engine:
        assert (await engine.extract(TEXTS[:1]))[0].relations
    assert len(server.datasets) == 1  # the log names it


async def test_a_slow_server_is_given_up_in_time():
    app = Starlette(routes=[Route("/api/v1/{rest:path}", silent, methods=["GET", "POST", "DELETE"])])
    async with served(app) as url, opened(url, timeout_s=0.2) as engine, asyncio.timeout(30):
        with pytest.raises(Unavailable, match=r"Cognee did not answer within 0\.2 s"):
            await engine.extract(TEXTS)


async def test_a_connection_that_breaks_in_the_middle_is_no_answer():
    async with breaking_off() as server, opened(server.url) as engine:
        with pytest.raises(Unavailable, match="Cognee does not answer"):
            await engine.extract(TEXTS)


async def test_a_list_of_a_server_that_answers_otherwise_is_read_where_it_can_be():
    async def accepted(_: Request) -> Response:
        return JSONResponse(None)

    async def results(_: Request) -> Response:
        deep: object = "Node: ada lund"
        for _level in range(50):
            deep = [deep]
        return JSONResponse([{"search_result": {"context": ["Node: valkey"]}}, 3, None, deep])

    routes = [
        Route("/api/v1/search", results, methods=["POST"]),
        Route("/api/v1/{rest:path}", accepted, methods=["GET", "POST", "DELETE"]),
    ]
    async with served(Starlette(routes=routes)) as url, opened(url) as engine:
        [found] = await engine.extract(TEXTS[:1])
    assert {one.key for one in found.entities} == {"2026-03-01", "valkey"}


async def test_the_built_in_engine_reads_at_once():
    engine = engines.open_engine("builtin", EngineConfig())
    assert engine.local
    assert await engine.extract(TEXTS) == await BuiltinEngine().extract(TEXTS)
    with pytest.raises(Permanent, match=r"no engine driver 'acme'.*builtin, cognee.*CORTEX_ENGINE_DRIVER"):
        engines.open_engine("acme", EngineConfig())
    with pytest.raises(Permanent, match="CORTEX_COGNEE_API_URL: expected an address"):
        engines.open_engine("cognee", EngineConfig())
