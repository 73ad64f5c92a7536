"""Sections 3.5, 3.6 and 6 of the contract: health, numbers, graph and timeline, and what each status code means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from cortex_infra.bootstrap import DATABASE
from cortex_testkit.eventually import eventually

pytestmark = pytest.mark.timeout(360)

HEALTH = ["status", "pages", "links", "embedded_pct", "last_sync", "stale_chunks"]


def says(sentence: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sentence", [sentence], indirect=True)


@says("3.5-health-shape")
async def test_health_has_the_shape_of_the_contract(brain: Any) -> None:
    health = await brain.json("/health")
    assert list(health) == HEALTH
    assert health["status"] in ("ok", "degraded")
    assert health["last_sync"].endswith("Z")
    assert all(type(health[key]) is int for key in ("pages", "links", "embedded_pct", "stale_chunks"))
    assert 0 <= health["embedded_pct"] <= 100


@says("3.5-health-is-200-when-serving")
async def test_health_is_a_200_when_the_pages_are_served(brain: Any) -> None:
    assert (await brain.get("/health")).status_code == 200


@pytest.fixture
async def away(brain: Any) -> AsyncIterator[Any]:
    """The system without the service that reads pages."""
    brain.system.kill("recall")
    yield brain
    await brain.system.restore()
    # The answer that it is away is given again for a second.
    await eventually(lambda: brain.get("/health"), lambda response: response.status_code == 200)


@says("3.5-health-is-503-when-not-serving")
async def test_health_is_a_503_when_the_pages_are_not_served(away: Any) -> None:
    async with away.stranger() as http:
        response = await http.get("/health")
        while response.status_code == 200:  # an answer is given again for a second
            response = await http.get("/health")
    assert response.status_code == 503
    assert list(response.json()) == ["error", "message"]


@says("3.5-health-needs-no-credentials")
async def test_health_needs_no_credentials(brain: Any) -> None:
    async with brain.stranger() as http:
        assert (await http.get("/health")).status_code == 200


@says("3.5-stats-has-the-same-fields-and-breakdowns")
async def test_stats_have_the_fields_of_health_and_counts_by_tag_and_type(brain: Any) -> None:
    stats = await brain.json("/stats")
    assert list(stats)[: len(HEALTH)] == HEALTH
    assert stats["tags"]["founder"] == 2
    assert (stats["types"]["company"], stats["types"]["person"]) == (1, 3)
    assert sum(stats["types"].values()) == stats["pages"]


@says("3.5-stats-needs-credentials")
async def test_stats_need_credentials(brain: Any) -> None:
    async with brain.stranger() as http:
        assert (await http.get("/stats")).status_code == 401


@says("3.6-graph-and-timeline")
async def test_graph_and_timeline_are_served_under_the_reserved_paths(brain: Any) -> None:
    graph = await brain.json("/graph/mill-pond-research", depth=1)
    assert graph["nodes"][0]["slug"] == "mill-pond-research"
    assert {"pete-shimshock", "ada-weir", "water-clock"} <= {one["slug"] for one in graph["nodes"]}
    assert {"source": "pete-shimshock", "target": "ada-weir"} in graph["edges"]
    timeline = await brain.json("/timeline", **{"from": "2026-03-01", "to": "2026-03-31", "type": "meeting"})
    assert [(one["date"], one["slug"]) for one in timeline["entries"]] == [("2026-03-02", "2026-03-02-kickoff")]


@says("5-sweep-catches-orphans")
async def test_passages_without_embeddings_are_counted_and_the_sweep_embeds_them(brain: Any) -> None:
    connection = await asyncpg.connect(brain.system.installation.superuser_dsn, database=DATABASE)
    try:
        orphans = await connection.fetch("UPDATE chunks SET embedded = false RETURNING id")
        await connection.execute("DELETE FROM chunk_vectors")
    finally:
        await connection.close()
    waiting = await eventually(
        lambda: brain.json("/health"), lambda told: told["stale_chunks"] > 0, ignoring=(AssertionError,)
    )
    assert (waiting["stale_chunks"], waiting["embedded_pct"]) == (len(orphans), 0)
    brain.system.kill("ingest")  # the sweep runs every night, and when the service starts
    await brain.system.restore()
    whole = await eventually(
        lambda: brain.json("/health"), lambda told: told["stale_chunks"] == 0, within_s=60, ignoring=(AssertionError,)
    )
    assert whole["embedded_pct"] == 100


@says("6-401-bad-credentials")
async def test_bad_or_no_credentials_are_a_401_everywhere_but_for_health(brain: Any) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-Brain-Key": "wrong"}):
        async with brain.stranger(headers) as http:
            for path in ("/query?q=x", "/search?q=x", "/pages/water-clock", "/stats", "/sync/status", "/timeline"):
                assert (await http.get(path)).status_code == 401
            assert (await http.put("/pages/x", json={})).status_code == 401
            assert (await http.delete("/pages/water-clock")).status_code == 401
            assert (await http.post("/sync")).status_code == 401


@says("6-404-absent")
async def test_an_absent_page_is_a_404(brain: Any) -> None:
    for response in (
        await brain.get("/pages/nope"),
        await brain.http.delete("/pages/nope"),
        await brain.get("/graph/nope"),
    ):
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


@says("6-422-names-the-fields")
async def test_a_422_names_the_fields(brain: Any) -> None:
    response = await brain.put("x", type="bogus", title="", tags=7)
    assert response.status_code == 422
    assert {one["field"] for one in response.json()["fields"]} == {"type", "title", "tags"}


@says("6-5xx-says-when-to-retry")
async def test_without_its_services_it_is_a_503_that_says_when_to_retry_and_it_comes_back(away: Any) -> None:
    response = await away.get("/query", q="brass wheel")
    assert (response.status_code, response.json()["error"]) == (503, "unavailable")
    assert int(response.headers["retry-after"]) >= 1
    await away.system.restore()
    assert (await away.get("/query", q="brass wheel")).status_code == 200


@says("6-403-bad-webhook-signature")
async def test_a_bad_signature_of_a_webhook_is_a_403(brain: Any) -> None:
    assert (await brain.deliver({"ref": "refs/heads/main"}, secret="wrong")).status_code == 403
