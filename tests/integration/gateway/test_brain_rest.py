"""The REST face of pages over real NATS, with both services played: what is asked, and what their errors become."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Message
from cortex_contracts.rpc import pages as rpc
from cortex_contracts.rpc.ingest import PageProblem, SyncProgress, SyncStatus
from cortex_contracts.rpc.pages import (
    MAX_PAGE_CHARS,
    BrainStatus,
    FieldError,
    GraphEdge,
    GraphNode,
    GraphReply,
    PageDeleted,
    PageDraft,
    PageReply,
    PageResult,
    PageType,
    PageView,
    PageWritten,
    QueryPagesReply,
    SyncQueued,
    SyncStates,
    TimelineEntry,
    TimelineReply,
)
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing

PATH = "/api/v1/brain"
THEN = datetime(2026, 11, 30, 11, 31, tzinfo=timezone(timedelta(hours=2)))
TYPES = "company, person, concept, meeting, deal, source, note"
BODY = {"type": "note", "title": "Plan", "tags": ["a"], "body_markdown": "# Plan\r\n\n[[other]]  \n"}
MARKDOWN = "---\ntitle: Plan\n---\n\nنص\n"


def view(slug: str, **fields: Any) -> PageView:
    known = {"vault": "main", "type": PageType.NOTE, "title": "Plan", "body_markdown": "x"}
    return PageView(**(known | {"slug": slug, "created": THEN, "updated": THEN} | fields))


@dataclass
class PlayedPages:
    """Both services as the gateway sees them: what was asked, and answers that the test decides."""

    asked: list[Any] = field(default_factory=list)
    answers: dict[str, Message] = field(default_factory=dict)
    pages: dict[str, PageView] = field(default_factory=dict)
    fails: CortexError | Exception | None = None

    async def answer(self, name: str, request: Message) -> Any:
        self.asked.append(request)
        if self.fails:
            raise self.fails
        return self.answers[name]

    async def page(self, request: rpc.PageRequest) -> PageReply:
        self.asked.append(request)
        if self.fails:
            raise self.fails
        return PageReply(page=self.pages.get(request.slug))

    async def put(self, request: rpc.PutPageRequest) -> PageWritten:
        self.asked.append(request)
        if self.fails:
            raise self.fails
        fields = dict(request.page)
        self.pages[request.slug] = view(request.slug, **fields)
        return PageWritten(page=self.pages[request.slug], created=True)

    async def delete(self, request: rpc.PageRequest) -> PageDeleted:
        self.asked.append(request)
        if self.fails:
            raise self.fails
        return PageDeleted(deleted=self.pages.pop(request.slug, None) is not None)


ANSWERED = (
    rpc.QUERY_PAGES,
    rpc.BRAIN_STATUS,
    rpc.GRAPH,
    rpc.TIMELINE,
    rpc.IMPORT_PAGE,
    rpc.SYNC,
    rpc.SYNC_STATES,
)


@pytest.fixture
async def pages(nats_server: NatsServer) -> AsyncIterator[PlayedPages]:
    pages = PlayedPages(
        answers={
            "query_pages": QueryPagesReply(results=(), took_ms=1.0),
            "brain_status": BrainStatus(pages=3, links=2, chunks=3, stale_chunks=1, tags={"a": 2}, types={"note": 3}),
            "graph": GraphReply(found=False),
            "timeline": TimelineReply(entries=()),
            "import_page": PageWritten(page=view("plan")),
            "sync": SyncQueued(vaults=("main",)),
            "sync_states": SyncStates(vaults=()),
        }
    )
    async with playing(
        nats_server,
        *((one, partial(pages.answer, one.verb)) for one in ANSWERED),
        (rpc.PAGE, pages.page),
        (rpc.PUT_PAGE, pages.put),
        (rpc.DELETE_PAGE, pages.delete),
    ):
        yield pages


# Questions ------------------------------------------------------------------------------------------------------------


async def test_results_have_the_keys_of_the_contract_and_no_others(gateway: Any, pages: PlayedPages) -> None:
    found = PageResult(
        vault="main", slug="a", title="A", type=PageType.PERSON, score=1.0, snippet="…", highlights=("A",)
    )
    pages.answers["query_pages"] = QueryPagesReply(results=(found,), took_ms=1.0, stages={"words": 1.0}, degraded="no")
    async with gateway.http() as http:
        for path in ("query", "search"):
            body = (await http.get(f"{PATH}/{path}", params={"q": "who"})).json()
            assert body.keys() == {"results", "took_ms"}
            assert type(body["took_ms"]) is int
            assert body["results"] == [
                {"slug": "a", "title": "A", "type": "person", "score": 1.0, "snippet": "…", "highlights": ["A"]}
            ]
    assert [one.search for one in pages.asked] == ["hybrid", "lexical"]
    assert [one.limit for one in pages.asked] == [5, 10]


@pytest.mark.parametrize(
    ("query", "types", "tags"),
    [
        ("type=person,tags=leadership", ["person"], ["leadership"]),
        ("type=person,company&tags=a,b", ["person", "company"], ["a", "b"]),
        ("type=Person&type=company&tags=a&tags=b,a", ["person", "company"], ["a", "b"]),
        ("tags=a,type=person", ["person"], ["a"]),
        ("type=person%2Ctags%3Da,b", ["person"], ["a", "b"]),
        ("type=bogus,person", ["person"], []),
        ("type=bogus", [], []),
        ("type=,&tags=%20,", [], []),
        ("tags=" + "x" * 300 + ",%00", [], []),
        ("tags=%D9%82%D8%B1%D8%A7%D8%B1", [], ["قرار"]),
        ("tags=a=b", [], ["a=b"]),
    ],
)
async def test_filters_are_lists_and_what_is_unknown_narrows_nothing(
    gateway: Any, pages: PlayedPages, query: str, types: list[str], tags: list[str]
) -> None:
    async with gateway.http() as http:
        for path in ("query", "search"):
            response = await http.get(f"{PATH}/{path}?q=who&{query}")
            assert response.status_code == 200, response.text
            assert (list(pages.asked[-1].types), list(pages.asked[-1].tags)) == (types, tags)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", ["q"]),
        ("q=", ["q"]),
        ("q=%20%0A", ["q"]),
        ("q=a%00b", ["q"]),
        ("q=" + "x" * 2001, ["q"]),
        ("q=x&limit=0", ["limit"]),
        ("q=x&limit=51", ["limit"]),
        ("q=x&limit=many", ["limit"]),
        ("q=x&vault=No Token", ["vault"]),
    ],
)
async def test_what_cannot_be_asked_is_a_422_that_names_the_parameter(
    gateway: Any, pages: PlayedPages, query: str, fields: list[str]
) -> None:
    async with gateway.http() as http:
        for path in ("query", "search"):
            response = await http.get(f"{PATH}/{path}?{query}")
            assert (response.status_code, response.json()["error"]) == (422, "validation_failed")
            assert [one["field"] for one in response.json()["fields"]] == fields
    assert pages.asked == []


async def test_a_query_takes_twenty_at_most_and_a_search_fifty(gateway: Any, pages: PlayedPages) -> None:
    async with gateway.http() as http:
        for path, limit, status in (("query", 20, 200), ("query", 21, 422), ("search", 50, 200), ("search", 51, 422)):
            response = await http.get(f"{PATH}/{path}", params={"q": "x" * 2000, "limit": limit})
            assert response.status_code == status


# Pages ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "slug"),
    [
        ("plan", "plan"),
        ("a/b/c", "a/b/c"),
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("%D9%82%D8%B1%D8%A7%D8%B1/%F0%9F%98%80", "قرار/😀"),
        ("a%20b+c", "a b+c"),
        ("x/import", "x/import"),
        ("..%2F..%2Fetc", "../../etc"),
        ("a%3Fb%23c", "a?b#c"),
    ],
)
async def test_a_slug_is_percent_decoded_once_on_every_route(
    gateway: Any, pages: PlayedPages, written: str, slug: str
) -> None:
    async with gateway.http() as http:
        url = f"{gateway.url}{PATH}/pages/{written}"
        assert (await http.put(url, json=BODY)).json()["slug"] == slug
        assert (await http.get(url)).json()["slug"] == slug
        assert (await http.post(f"{url}/import", content="x", headers={"Content-Type": "text/markdown"})).is_success
        assert (await http.get(f"{gateway.url}{PATH}/graph/{written}")).status_code == 404
        assert (await http.delete(url)).status_code == 204
        assert (await http.delete(url)).status_code == 404
    assert {one.slug for one in pages.asked} == {slug}


@pytest.mark.parametrize("slug", ["", "%00", "a%09b", "a%7Fb", "%C2%85", "x" * 301, "%20", "%2F"])
async def test_what_no_slug_can_be_is_not_found_when_read_and_a_wrong_field_when_written(
    gateway: Any, pages: PlayedPages, slug: str
) -> None:
    async with gateway.http() as http:
        url = f"{gateway.url}{PATH}/pages/{slug}"
        for response in (await http.get(url), await http.delete(url), await http.get(f"{PATH}/graph/{slug}")):
            assert (response.status_code, response.json()["error"]) == (404, "not_found")
        response = await http.put(url, json=BODY)
        assert (response.status_code, response.json()["fields"][0]["field"]) == (422, "slug")
        response = await http.post(f"{url}/import", content="x", headers={"Content-Type": "text/markdown"})
        assert response.status_code == 422
    assert pages.asked == []


async def test_bytes_that_are_no_utf8_and_line_ends_in_a_path_are_no_page(gateway: Any, pages: PlayedPages) -> None:
    async with gateway.http() as http:
        for slug in ("%FF%FE", "a%0Ab", "%0D%0A"):
            assert (await http.get(f"{gateway.url}{PATH}/pages/{slug}")).status_code == 404


async def test_a_page_has_the_keys_of_the_contract_and_others_only_when_it_has_them(
    gateway: Any, pages: PlayedPages
) -> None:
    pages.pages["plain"] = view("plain", metadata={"status": "open"}, path="plain.md", aliases=("p",))
    pages.pages["dated"] = view("dated", effective_date=date(2026, 9, 22), sources=("mail:1",), tags=("a",))
    async with gateway.http() as http:
        plain = (await http.get(f"{PATH}/pages/plain")).json()
        assert plain == {
            "slug": "plain",
            "type": "note",
            "title": "Plan",
            "created": "2026-11-30T09:31:00Z",
            "updated": "2026-11-30T09:31:00Z",
            "tags": [],
            "body_markdown": "x",
            "links_out": [],
        }
        dated = (await http.get(f"{PATH}/pages/dated")).json()
        assert dated.keys() - plain.keys() == {"effective_date", "sources"}
        assert (dated["effective_date"], dated["sources"]) == ("2026-09-22", ["mail:1"])
        missing = await http.get(f"{PATH}/pages/nope")
        assert (missing.status_code, missing.json()) == (
            404,
            {"error": "not_found", "message": "there is no such page"},
        )


async def test_a_put_sends_the_body_as_it_is_and_the_path_wins_over_a_slug_in_it(
    gateway: Any, pages: PlayedPages
) -> None:
    more = {"slug": "other", "effective_date": "2026-09-22", "sources": ["mail:1"]}
    async with gateway.http() as http:
        response = await http.put(f"{PATH}/pages/plan", json=BODY | more, params={"vault": "work"})
        assert (response.status_code, response.json()["slug"]) == (200, "plan")
        assert response.json()["body_markdown"] == BODY["body_markdown"]
        assert (await http.put(f"{PATH}/pages/plan", json=BODY | {"effective_date": None})).status_code == 200
    request = pages.asked[0]
    assert (request.slug, request.vault) == ("plan", "work")
    assert request.page == PageDraft(
        type=PageType.NOTE,
        title="Plan",
        tags=("a",),
        body_markdown=str(BODY["body_markdown"]),
        effective_date=date(2026, 9, 22),
        sources=("mail:1",),
    )


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"type": "bogus"}, [("type", f"must be one of: {TYPES}")]),
        ({"type": None}, [("type", f"must be one of: {TYPES}")]),
        ({"type": 7}, [("type", f"must be one of: {TYPES}")]),
        ({"title": ""}, [("title", "String should have at least 1 character")]),
        ({"body": "misspelt"}, [("body", "Extra inputs are not permitted")]),
        ({"created": "2026-01-01"}, [("created", "Extra inputs are not permitted")]),
        ({"tags": "a, b"}, [("tags", "Input should be a valid tuple")]),
        ({"tags": ["a", 1]}, [("tags.1", "Input should be a valid string")]),
        ({"effective_date": 5}, [("effective_date", "expected a day as YYYY-MM-DD")]),
        ({"effective_date": "2026-09-22T00:00:00"}, [("effective_date", "expected a day as YYYY-MM-DD")]),
        ({"effective_date": "2026-02-30"}, [("effective_date", "expected a day as YYYY-MM-DD")]),
    ],
)
async def test_a_wrong_field_of_a_page_is_named(
    gateway: Any, pages: PlayedPages, changed: dict[str, Any], fields: list[tuple[str, str]]
) -> None:
    async with gateway.http() as http:
        response = await http.put(f"{PATH}/pages/plan", json=BODY | changed)
    expected = [{"field": name, "message": message} for name, message in fields]
    assert (response.status_code, response.json()) == (422, {"error": "validation_failed", "fields": expected})
    assert pages.asked == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"title": ' + b"9" * 5000 + b"}"],
    ids=["empty", "cut", "list", "null", "text", "bytes", "deep", "long number"],
)
async def test_what_is_no_json_object_is_a_422(gateway: Any, pages: PlayedPages, content: bytes) -> None:
    async with gateway.http() as http:
        headers = {"Content-Type": "application/json"}
        response = await http.put(f"{PATH}/pages/plan", content=content, headers=headers)
    assert (response.status_code, response.json()["error"]) == (422, "validation_failed")
    assert pages.asked == []


async def test_text_that_utf8_cannot_hold_is_a_wrong_field(gateway: Any, pages: PlayedPages) -> None:
    async with gateway.http() as http:
        content = json.dumps(BODY | {"title": "\ud800"}).encode()
        headers = {"Content-Type": "application/json"}
        response = await http.put(f"{PATH}/pages/plan", content=content, headers=headers)
    assert (response.status_code, [one["field"] for one in response.json()["fields"]]) == (422, ["title"])


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "text/markdown", ""])
async def test_a_put_of_another_type_is_a_415(gateway: Any, pages: PlayedPages, media_type: str) -> None:
    async with gateway.http() as http:
        response = await http.put(
            f"{PATH}/pages/plan", content=json.dumps(BODY), headers={"Content-Type": media_type} if media_type else {}
        )
    assert (response.status_code, response.json()["error"]) == (415, "unsupported_media_type")
    assert pages.asked == []


@pytest.mark.parametrize(
    "sent",
    [
        {"content": MARKDOWN, "headers": {"Content-Type": "text/markdown"}},
        {"content": MARKDOWN, "headers": {"Content-Type": "Text/Markdown; charset=utf-8"}},
        {"files": {"file": ("plan.md", MARKDOWN, "text/markdown")}},
        {"files": {"anything": ("plan.md", MARKDOWN)}},
        {"files": {"file": (None, MARKDOWN)}},
    ],
)
async def test_markdown_is_imported_as_a_body_or_as_a_form(
    gateway: Any, pages: PlayedPages, sent: dict[str, Any]
) -> None:
    async with gateway.http() as http:
        response = await http.post(f"{PATH}/pages/a/b/import", **sent)
    assert (response.status_code, response.json()["slug"]) == (200, "plan")
    (request,) = pages.asked
    assert (request.slug, request.markdown) == ("a/b", MARKDOWN)


@pytest.mark.parametrize(
    ("sent", "status", "named"),
    [
        ({"json": {}}, 415, None),
        ({"content": b"x", "headers": {"Content-Type": "text/html"}}, 415, None),
        ({"content": b"x"}, 415, None),
        ({"content": b"\xff", "headers": {"Content-Type": "text/markdown"}}, 422, "body"),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 422, "body"),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=y; charset=idna"}}, 415, None),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=y"}}, 422, "body"),
        ({"files": {"other": (None, "text")}}, 422, "file"),
        ({"files": [("file", ("a.md", "a")), ("more", ("b.md", "b"))]}, 422, "body"),
    ],
)
async def test_what_cannot_be_imported_says_why(
    gateway: Any, pages: PlayedPages, sent: dict[str, Any], status: int, named: str | None
) -> None:
    async with gateway.http() as http:
        response = await http.post(f"{PATH}/pages/plan/import", **sent)
    assert response.status_code == status, response.text
    if named:
        assert [one["field"] for one in response.json()["fields"]] == [named]
    assert pages.asked == []


async def test_errors_of_an_import_are_the_fields_of_a_422(gateway: Any, pages: PlayedPages) -> None:
    pages.answers["import_page"] = PageWritten(errors=(FieldError(field="tags", message="expected a list"),))
    async with gateway.http() as http:
        response = await http.post(
            f"{PATH}/pages/plan/import", content=MARKDOWN, headers={"Content-Type": "text/markdown"}
        )
    expected = {"error": "validation_failed", "fields": [{"field": "tags", "message": "expected a list"}]}
    assert (response.status_code, response.json()) == (422, expected)


async def test_a_page_of_the_greatest_length_is_taken_in_any_form_and_a_longer_one_is_too_large(
    gateway: Any, pages: PlayedPages
) -> None:
    async with gateway.http() as http:
        headers = {"Content-Type": "application/json"}
        escaped = json.dumps(BODY | {"body_markdown": "ق" * MAX_PAGE_CHARS}, ensure_ascii=True)
        response = await http.put(f"{PATH}/pages/plan", content=escaped, headers=headers)
        assert response.status_code == 200
        for response in (
            await http.put(f"{PATH}/pages/plan", json=BODY | {"body_markdown": "x" * (MAX_PAGE_CHARS + 1)}),
            await http.put(f"{PATH}/pages/plan", json=BODY | {"body_markdown": "x" * (4 << 20)}),
            # Four bytes for each character are more than a message holds.
            await http.put(f"{PATH}/pages/plan", json=BODY | {"body_markdown": "😀" * MAX_PAGE_CHARS}),
            await http.post(
                f"{PATH}/pages/plan/import",
                content="x" * (MAX_PAGE_CHARS + 1),
                headers={"Content-Type": "text/markdown"},
            ),
        ):
            assert (response.status_code, response.json()["error"]) == (413, "too_large")
    assert len(pages.asked) == 1


# Syncs, health, graph and timeline -----------------------------------------------------------------------------------


def state(vault: str, result: str | None, **fields: Any) -> SyncStatus:
    known = {"vault": vault, "synced_commit": "c0ffee" if result else None, "last_result": result}
    return SyncStatus(**(known | {"last_sync": THEN if result else None} | fields))


async def test_a_sync_is_queued_and_its_vault_is_passed_on(gateway: Any, pages: PlayedPages) -> None:
    async with gateway.http() as http:
        for params in ({}, {"vault": "work"}):
            response = await http.post(f"{PATH}/sync", params=params)
            assert (response.status_code, response.json()) == (202, {"status": "queued"})
            await http.get(f"{PATH}/sync/status", params=params)
        pages.fails = Permanent("there is no vault nope", code=ErrorCode.NOT_FOUND)
        assert (await http.post(f"{PATH}/sync", params={"vault": "nope"})).status_code == 404
    assert [one.vault for one in pages.asked[:4]] == [None, None, "work", "work"]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], (None, None, 0, [])),
        ([state("main", None)], (None, None, 0, [])),
        (
            [state("main", "partial", pages_changed=3, errors=(PageProblem(path="a.md", message="no"),))],
            ("2026-11-30T09:31:00Z", "partial", 3, [{"vault": "main", "path": "a.md", "message": "no"}]),
        ),
        (
            [
                state("main", "ok", pages_changed=3, last_sync=datetime(2026, 12, 1, tzinfo=UTC)),
                state("team", None),
                state("work", "failed", pages_changed=4, errors=(PageProblem(path="b", message="gone"),)),
            ],
            ("2026-12-01T00:00:00Z", "failed", 7, [{"vault": "work", "path": "b", "message": "gone"}]),
        ),
    ],
)
async def test_the_sync_status_is_the_latest_moment_the_worst_result_and_everything_else_of_all(
    gateway: Any, pages: PlayedPages, states: list[SyncStatus], expected: tuple[Any, ...]
) -> None:
    pages.answers["sync_states"] = SyncStates(vaults=tuple(states))
    async with gateway.http() as http:
        report = (await http.get(f"{PATH}/sync/status")).json()
    vaults = report.pop("vaults", [])
    assert tuple(report.values()) == expected
    assert list(report) == ["last_sync", "last_result", "pages_changed", "errors"]
    assert [one["vault"] for one in vaults] == ([one.vault for one in states] if len(states) > 1 else [])


async def test_the_sync_status_of_one_vault_tells_the_commit_that_its_pages_equal(
    gateway: Any, pages: PlayedPages
) -> None:
    pages.answers["sync_states"] = SyncStates(vaults=(state("main", "ok"),))
    async with gateway.http() as http:
        (vault,) = (await http.get(f"{PATH}/sync/status", params={"vault": "main"})).json()["vaults"]
    assert (vault["state"], vault["commit"], vault["progress"]) == ("ok", "c0ffee", None)


async def test_while_a_sync_runs_its_status_shows_how_far_it_is(gateway: Any, pages: PlayedPages) -> None:
    running = SyncProgress(commit="beef", done=20, total=2000, started_at=THEN)
    pages.answers["sync_states"] = SyncStates(vaults=(state("main", "ok", pages_changed=1, progress=running),))
    async with gateway.http() as http:
        report = (await http.get(f"{PATH}/sync/status")).json()
    assert report["vaults"] == [
        {
            "vault": "main",
            "state": "running",
            "commit": "c0ffee",
            "last_sync": "2026-11-30T09:31:00Z",
            "pages_changed": 1,
            "progress": {"commit": "beef", "done": 20, "total": 2000, "started_at": "2026-11-30T09:31:00Z"},
        }
    ]


async def test_the_health_of_pages_is_open_cheap_and_says_when_they_are_not_served(
    start_gateway: Any, pages: PlayedPages
) -> None:
    async with start_gateway() as gateway, gateway.http(None) as http:
        answers = [await http.get(f"{PATH}/health") for _ in range(20)]
        assert {one.status_code for one in answers} == {200}
        assert answers[0].json() == {
            "status": "ok",
            "pages": 3,
            "links": 2,
            "embedded_pct": 66,
            "last_sync": None,
            "stale_chunks": 1,
        }
        assert (await http.head(f"{PATH}/health")).status_code == 200
        # Twenty requests on one connection take a fraction of a second; two counts if they fell on its edge.
        assert len(pages.asked) <= 2
        assert {(one.principal.org, one.principal.subject, one.details) for one in pages.asked} == {
            ("local", "gateway", False)
        }
        stats = await http.get(f"{PATH}/stats")
        assert stats.status_code == 401


async def test_stats_are_the_health_of_what_the_caller_may_read_with_tags_types_and_usage(
    gateway: Any, pages: PlayedPages
) -> None:
    status = BrainStatus(
        pages=0, links=0, chunks=0, stale_chunks=0, last_sync=THEN, degraded=("no embedder",), tags={}, types={}
    )
    pages.answers["brain_status"] = status
    async with gateway.http() as http:
        stats = (await http.get(f"{PATH}/stats")).json()
    assert stats.pop("usage") is None  # nobody serves it here
    assert stats == {
        "status": "degraded",
        "pages": 0,
        "links": 0,
        "embedded_pct": 100,
        "last_sync": "2026-11-30T09:31:00Z",
        "stale_chunks": 0,
        "tags": {},
        "types": {},
    }
    (asked,) = [one for one in pages.asked if one.principal.subject == "owner"]
    assert asked.details


async def test_a_graph_and_a_timeline_are_passed_on(gateway: Any, pages: PlayedPages) -> None:
    nodes = tuple(
        GraphNode(slug=slug, title=slug.upper(), type=PageType.NOTE, distance=n) for n, slug in enumerate("ab")
    )
    pages.answers["graph"] = GraphReply(found=True, nodes=nodes, edges=(GraphEdge(source="a", target="b"),))
    entry = TimelineEntry(date=date(2026, 9, 22), slug="a", title="A", type=PageType.MEETING)
    pages.answers["timeline"] = TimelineReply(entries=(entry,))
    async with gateway.http() as http:
        graph = (await http.get(f"{PATH}/graph/a", params={"depth": 2})).json()
        assert graph["edges"] == [{"source": "a", "target": "b"}]
        assert graph["nodes"][1] == {"slug": "b", "title": "B", "type": "note", "distance": 1}
        params = {"from": "2026-01-01", "to": "2026-12-31", "type": "meeting,bogus"}
        timeline = (await http.get(f"{PATH}/timeline", params=params)).json()
        assert timeline == {"entries": [{"date": "2026-09-22", "slug": "a", "title": "A", "type": "meeting"}]}
        for wrong in ({"from": "yesterday"}, {"from": "2026-02-01", "to": "2026-01-01"}, {"from": "20260101"}):
            response = await http.get(f"{PATH}/timeline", params=wrong)
            assert [one["field"] for one in response.json()["fields"]] == ["from"]
        for depth in (0, 5):
            assert (await http.get(f"{PATH}/graph/a", params={"depth": depth})).status_code == 422
    asked = [(one.depth,) if hasattr(one, "depth") else (one.start, one.end, one.types) for one in pages.asked]
    assert asked == [(2,), (date(2026, 1, 1), date(2026, 12, 31), ("meeting",))]


# Errors, methods and the document ------------------------------------------------------------------------------------

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/query?q=x", {}),
    ("GET", "/search?q=x", {}),
    ("GET", "/pages/plan", {}),
    ("PUT", "/pages/plan", {"json": BODY}),
    ("DELETE", "/pages/plan", {}),
    ("POST", "/pages/plan/import", {"content": MARKDOWN, "headers": {"Content-Type": "text/markdown"}}),
    ("GET", "/graph/plan", {}),
    ("GET", "/timeline", {}),
    ("POST", "/sync", {}),
    ("GET", "/sync/status", {}),
    ("GET", "/stats", {}),
]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Permanent("the vault work is not yours", code=ErrorCode.FORBIDDEN), 403, "forbidden"),
        (Permanent("there is no vault work", code=ErrorCode.NOT_FOUND), 404, "not_found"),
        (Unavailable("the database does not answer"), 503, "unavailable"),
        (RuntimeError("SELECT secret"), 500, "internal"),
    ],
)
async def test_an_error_of_a_service_is_a_status_with_its_sentence_and_a_bug_tells_nothing(
    gateway: Any, pages: PlayedPages, error: Exception, status: int, code: str
) -> None:
    pages.fails = error
    async with gateway.http() as http:
        for method, path, sent in CALLS:
            response = await http.request(method, f"{PATH}{path}", **sent)
            assert (response.status_code, response.json()["error"]) == (status, code), path
            assert ("SELECT" in response.text) is False
            assert ("retry-after" in response.headers) is (status == 503)


async def test_without_its_services_every_route_says_so_at_once_with_the_seconds_to_wait(start_gateway: Any) -> None:
    async with start_gateway() as gateway, gateway.http() as http:
        for method, path, sent in [*CALLS, ("GET", "/health", {})]:
            response = await http.request(method, f"{PATH}{path}", **sent)
            assert (response.status_code, response.json()["error"]) == (503, "unavailable"), path
            assert int(response.headers["retry-after"]) >= 1


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_nothing_but_health_is_served_without_credentials(
    gateway: Any, pages: PlayedPages, token: str | None
) -> None:
    async with gateway.http(token) as http:
        for method, path, sent in CALLS:
            response = await http.request(method, f"{PATH}{path}", **sent)
            assert (response.status_code, response.json()["error"]) == (401, "unauthorized"), path
            assert "www-authenticate" in response.headers
        for method in ("PUT", "POST", "DELETE"):
            assert (await http.request(method, f"{PATH}/health")).status_code == 401
    assert pages.asked == []


async def test_every_call_goes_as_the_principal_of_the_credentials_whatever_the_client_says(
    gateway: Any, pages: PlayedPages
) -> None:
    lies = {"X-Org": "stranger", "X-Principal": "mallory"}
    async with gateway.http() as http:
        for method, path, sent in CALLS:
            headers = lies | sent.get("headers", {})
            await http.request(method, f"{PATH}{path}", **(sent | {"headers": headers, "params": None}))
        wrong = BODY | {"principal": {"org": "stranger", "subject": "mallory"}}
        assert (await http.put(f"{PATH}/pages/plan", json=wrong)).status_code == 422
    assert {(one.principal.org, one.principal.subject) for one in pages.asked} == {("local", "owner")}


async def test_other_methods_are_answered_as_http_expects(gateway: Any, pages: PlayedPages) -> None:
    pages.pages["plan"] = view("plan")
    async with gateway.http() as http:
        whole, head = await http.get(f"{PATH}/pages/plan"), await http.head(f"{PATH}/pages/plan")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
        assert (await http.head(f"{PATH}/pages/nope")).status_code == 404
        refused = await http.patch(f"{PATH}/pages/plan", json={})
        assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed")
        assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}
        told = await http.options(f"{PATH}/sync")
        assert (told.status_code, told.headers["allow"]) == (204, "POST, OPTIONS")
        assert (await http.options(f"{PATH}/nope")).status_code == 404


async def test_the_openapi_document_describes_every_route_with_examples_that_hold(gateway: Any) -> None:
    async with gateway.http() as http:
        assert (await http.get("/")).json()["links"]["brain"] == PATH
        document = (await http.get("/openapi.json")).json()
    operations = {
        (method, path.removeprefix(PATH)): operation
        for path, item in document["paths"].items()
        if path.startswith(PATH)
        for method, operation in item.items()
    }
    assert operations.keys() == {
        ("get", "/query"),
        ("get", "/search"),
        ("get", "/pages/{slug}"),
        ("put", "/pages/{slug}"),
        ("delete", "/pages/{slug}"),
        ("post", "/pages/{slug}/import"),
        ("post", "/sync"),
        ("get", "/sync/status"),
        ("get", "/health"),
        ("get", "/stats"),
        ("get", "/graph/{slug}"),
        ("get", "/timeline"),
    }
    schemes = document["components"]["securitySchemes"]
    assert {(one["type"], one.get("scheme"), one.get("name")) for one in schemes.values()} == {
        ("http", "bearer", None),
        ("apiKey", None, "X-Brain-Key"),
    }
    for (method, path), operation in operations.items():
        assert operation["summary"]
        assert operation["description"]
        for parameter in operation.get("parameters", ()):
            assert parameter.get("examples") or parameter["schema"].get("examples"), (path, parameter["name"])
        answers = operation["responses"]
        expected = {"503"} if path == "/health" else {"401", "403", "422", "429", "503", "504"}
        expected |= {"404"} if "{slug}" in path or "sync" in path else set()
        expected |= {"413", "415"} if method == "put" or path.endswith("import") else set()
        assert expected <= answers.keys(), path
        assert len({"200", "202", "204"} & answers.keys()) == 1
        assert bool(operation.get("security")) is (path != "/health")
        for status, answer in answers.items():
            assert status == "204" or answer["content"]["application/json"]["example"], (path, status)
            assert ("Retry-After" in answer.get("headers", {})) is (status in ("429", "503"))


async def test_every_slug_that_a_page_can_have_comes_back_as_it_was_written(gateway: Any, pages: PlayedPages) -> None:
    async with gateway.http() as http:
        for slug in ("a", "a/b", "ا/ب", "naïve", "a%b", "a;b=c", "a b", "import", "a/import", "日本", "x" * 300):
            url = f"{gateway.url}{PATH}/pages/{quote(slug, safe='')}"
            assert (await http.put(url, json=BODY)).json()["slug"] == slug
            assert (await http.get(url)).json()["slug"] == slug
