"""Section 3.4 of the contract, and what section 5 says about syncs: a real repository, and the real webhook."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(360)


def says(sentence: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sentence", [sentence], indirect=True)


def markdown(title: str, text: str = "Text.", **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\ntitle: {title}\n{lines}---\n\n{text}\n"


@says("3.4-sync-answers-202-queued")
async def test_a_sync_is_queued(brain: Any) -> None:
    before = (await brain.json("/sync/status"))["last_sync"]
    response = await brain.http.post("/sync")
    assert (response.status_code, response.json()) == (202, {"status": "queued"})
    await brain.at_head(before)


@says("3.4-sync-indexes-now")
async def test_a_sync_brings_in_what_the_vault_has(brain: Any) -> None:
    await brain.pushed({"notes/fresh.md": markdown("Fresh")})
    assert (await brain.page("fresh"))["title"] == "Fresh"


@says("3.4-reads-stay-live")
async def test_reads_go_on_during_a_sync(brain: Any) -> None:
    brain.commit({f"bulk/page-{n}.md": markdown(f"Page {n}", f"Bulk number {n}.") for n in range(60)})
    syncing = asyncio.create_task(brain.synced())
    answers = []
    while not syncing.done():
        answers += await asyncio.gather(brain.get("/query", q="brass wheel"), brain.get("/pages/water-clock"))
    await syncing
    assert {one.status_code for one in answers} == {200}
    assert all(one.json().get("results", [{"slug": "water-clock"}])[0]["slug"] == "water-clock" for one in answers)
    await brain.pushed({f"bulk/page-{n}.md": None for n in range(60)})


@says("3.4-status-shape")
async def test_the_status_has_the_shape_of_the_contract(brain: Any) -> None:
    await brain.pushed({"notes/counted.md": markdown("Counted")})
    report = await brain.json("/sync/status")
    assert list(report) == ["last_sync", "last_result", "pages_changed", "errors"]
    assert report["last_sync"].endswith("Z")
    assert (report["last_result"], report["pages_changed"], report["errors"]) == ("ok", 1, [])


@says("3.4-webhook-valid-is-202")
async def test_a_signed_push_is_taken_and_the_pages_follow(brain: Any) -> None:
    before = (await brain.json("/sync/status"))["last_sync"]
    brain.commit({"notes/by-push.md": markdown("By push")})
    assert (await brain.deliver(brain.push_body())).status_code == 202
    await brain.at_head(before)
    assert (await brain.page("by-push"))["title"] == "By push"


@says("3.4-webhook-bad-signature-is-403")
async def test_a_push_with_a_bad_signature_is_refused(brain: Any) -> None:
    assert (await brain.deliver(brain.push_body(), secret="another-secret")).status_code == 403


@says("3.4-webhook-checks-hmac-sha256")
async def test_a_push_is_checked_against_its_signature_over_the_bytes(brain: Any) -> None:
    url = f"{brain.system.url('webhook')}/api/v1/brain/sync/webhook"
    known = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "11111111-1111-4111-8111-111111111111"}
    async with brain.stranger() as http:
        for signature in ({}, {"X-Hub-Signature-256": "sha256=" + "0" * 64}, {"X-Hub-Signature-256": "sha1=00"}):
            response = await http.post(url, json=brain.push_body(), headers=known | signature)
            assert response.status_code == 403


@says("3.4-webhook-is-idempotent")
async def test_a_delivery_that_comes_again_does_nothing_twice(brain: Any) -> None:
    before = (await brain.json("/sync/status"))["last_sync"]
    brain.commit({"notes/redelivered.md": markdown("Redelivered")})
    delivery = "22222222-2222-4222-8222-222222222222"
    answers = [await brain.deliver(brain.push_body(), delivery=delivery) for _ in range(3)]
    assert [one.status_code for one in answers] == [202, 202, 202]
    report = await brain.at_head(before)
    assert report["pages_changed"] == 1
    assert (await brain.page("redelivered"))["title"] == "Redelivered"


@says("5-sync-new-is-indexed")
async def test_a_new_file_is_found(brain: Any) -> None:
    await brain.pushed({"notes/new-one.md": markdown("New one", "The quillwort grows here.")})
    assert await brain.slugs("/query", q="quillwort", limit=1) == ["new-one"]


@says("5-sync-modified-is-parsed-and-embedded-again")
async def test_a_changed_file_is_parsed_and_embedded_again(brain: Any) -> None:
    await brain.pushed({"notes/modified.md": markdown("Before", "The sundew grows here.")})
    await brain.pushed({"notes/modified.md": markdown("After", "The bladderwort grows here.", type="concept")})
    page = await brain.page("modified")
    assert (page["title"], page["type"]) == ("After", "concept")
    assert await brain.slugs("/query", q="bladderwort", limit=1) == ["modified"]
    assert await brain.slugs("/search", q="sundew") == []
    assert (await brain.json("/stats"))["embedded_pct"] == 100


@says("5-sync-deleted-is-removed-with-its-links")
async def test_a_deleted_file_is_removed_and_its_links_are_cleaned(brain: Any) -> None:
    await brain.pushed(
        {
            "notes/leaving.md": markdown("Leaving", "[[staying]]"),
            "notes/staying.md": markdown("Staying", "[[leaving]]"),
        }
    )
    links = (await brain.json("/stats"))["links"]
    await brain.pushed({"notes/leaving.md": None})
    assert (await brain.get("/pages/leaving")).status_code == 404
    assert (await brain.json("/graph/staying"))["edges"] == []
    assert (await brain.json("/stats"))["links"] == links - 2


@says("5-sync-rename-is-delete-and-create")
async def test_a_renamed_file_is_a_page_that_went_and_one_that_came(brain: Any) -> None:
    text = markdown("Renamed", "The same text before and after.")
    await brain.pushed({"notes/old-name.md": text})
    await brain.pushed({"notes/old-name.md": None, "notes/new-name.md": text})
    assert (await brain.get("/pages/old-name")).status_code == 404
    assert (await brain.page("new-name"))["title"] == "Renamed"


@says("5-sync-frontmatter-slug-is-the-identity")
async def test_a_page_with_a_slug_of_its_own_stays_the_same_under_another_name(brain: Any) -> None:
    text = markdown("Fixed", "Text.", slug="fixed-slug")
    await brain.pushed({"notes/first-name.md": text})
    await brain.pushed({"notes/first-name.md": None, "elsewhere/second-name.md": text})
    assert (await brain.page("fixed-slug"))["title"] == "Fixed"
    for other in ("first-name", "second-name"):
        assert (await brain.get(f"/pages/{other}")).status_code == 404


@says("5-sync-failures-are-per-page")
async def test_a_page_that_cannot_be_applied_hinders_no_other(brain: Any) -> None:
    report = await brain.pushed(
        {
            "one/double.md": markdown("One", slug="double"),
            "two/double.md": markdown("Two", slug="double"),
            "notes/beside.md": markdown("Beside"),
        }
    )
    assert report["last_result"] == "partial"
    assert (await brain.page("beside"))["title"] == "Beside"
    await brain.pushed({"two/double.md": None})


@says("5-sync-failures-are-listed")
async def test_failures_are_listed_in_the_status(brain: Any) -> None:
    await brain.pushed({"one/twice.md": markdown("One", slug="twice"), "two/twice.md": markdown("Two", slug="twice")})
    report = await brain.json("/sync/status")
    (error,) = report["errors"]
    assert error["path"] in ("one/twice.md", "two/twice.md")
    assert all(name in error["path"] + error["message"] for name in ("one/twice.md", "two/twice.md"))
    cleared = await brain.pushed({"two/twice.md": None})
    assert (cleared["last_result"], cleared["errors"]) == ("ok", [])


@says("5-index-serves-its-last-good-state")
async def test_while_a_sync_cannot_be_done_what_was_good_is_served(brain: Any) -> None:
    hidden = brain.repository.with_name("hidden")
    brain.repository.rename(hidden)
    try:
        await brain.http.post("/sync")

        async def failed() -> bool:
            return bool((await brain.json("/sync/status"))["last_result"] == "failed")

        async with asyncio.timeout(60):
            while not await failed():
                assert await brain.slugs("/query", q="brass wheel", limit=1) == ["water-clock"]
        assert (await brain.page("water-clock"))["title"] == "Water clock"
    finally:
        hidden.rename(brain.repository)
    brain.commit({"notes/after-the-failure.md": markdown("After")})
    assert (await brain.synced())["last_result"] == "ok"
