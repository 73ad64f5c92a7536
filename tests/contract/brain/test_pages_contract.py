"""Section 3.2 of the contract: pages; and what it says about writes in sections 4 and 5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(360)

KEYS = ["slug", "type", "title", "created", "updated", "tags", "body_markdown", "links_out"]
TYPES = ("company", "person", "concept", "meeting", "deal", "source", "note")


def says(sentence: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sentence", [sentence], indirect=True)


@says("3.2-get-full-page")
async def test_a_page_has_the_keys_of_the_contract(brain: Any) -> None:
    page = await brain.page("water-clock")
    assert list(page) == KEYS
    assert (page["slug"], page["type"], page["title"]) == ("water-clock", "concept", "Water clock")
    assert (page["tags"], page["links_out"]) == (["instrument"], ["omar-haddad"])
    assert page["body_markdown"].strip().startswith("# Water clock")
    assert page["created"].endswith("Z")


@says("3.2-get-absent-is-404")
async def test_an_absent_page_is_a_404(brain: Any) -> None:
    assert (await brain.get("/pages/nope")).status_code == 404


@says("3.2-put-creates-and-replaces")
async def test_a_put_creates_a_page_and_replaces_it(brain: Any) -> None:
    assert (await brain.put("upserted", body_markdown="First.")).status_code == 200
    assert (await brain.put("upserted", body_markdown="Second.", tags=["b"])).status_code == 200
    page = await brain.page("upserted")
    assert (page["body_markdown"], page["tags"]) == ("Second.", ["b"])


@says("3.2-put-takes-these-fields")
async def test_a_put_takes_the_fields_of_the_contract_and_the_page_has_them(brain: Any) -> None:
    fields = {
        "type": "meeting",
        "title": "A call",
        "tags": ["a", "قرار"],
        "body_markdown": "# A call\r\n\r\n[[water-clock]]  \n",
        "effective_date": "2026-09-22",
        "sources": ["mail:7", "calendar"],
    }
    stored = (await brain.put("with-everything", **fields)).json()
    assert {key: stored[key] for key in fields} == fields
    assert stored["links_out"] == ["water-clock"]
    assert await brain.page("with-everything") == stored


@says("3.2-put-answers-the-stored-page")
async def test_a_put_answers_200_with_the_stored_page(brain: Any) -> None:
    response = await brain.put("told-back")
    assert response.status_code == 200
    assert list(response.json()) == KEYS
    assert response.json() == await brain.page("told-back")


@says("3.2-path-slug-wins")
async def test_the_slug_of_the_path_wins_over_one_in_the_body(brain: Any) -> None:
    response = await brain.put("the-path", slug="the-body", body_markdown="---\nslug: the-text\n---\nx")
    assert response.json()["slug"] == "the-path"
    for other in ("the-body", "the-text"):
        assert (await brain.get(f"/pages/{other}")).status_code == 404


@says("3.2-put-re-embeds")
async def test_a_put_is_embedded_again(brain: Any, unique: Callable[[], str]) -> None:
    old, new = unique(), unique()
    await brain.put("re-embedded", title="Embedded", body_markdown=f"The {old} stands in the hall.")
    assert await brain.slugs("/query", q=old, limit=1) == ["re-embedded"]
    await brain.put("re-embedded", title="Embedded", body_markdown=f"The {new} stands in the hall.")
    assert await brain.slugs("/query", q=new, limit=1) == ["re-embedded"]
    assert await brain.slugs("/search", q=old) == []
    health = await brain.json("/stats")
    assert (health["embedded_pct"], health["stale_chunks"]) == (100, 0)


@says("3.2-delete-is-204")
async def test_a_delete_is_a_204_without_a_body_and_the_page_is_gone(brain: Any) -> None:
    await brain.put("short-lived")
    response = await brain.http.delete("/pages/short-lived")
    assert (response.status_code, response.content) == (204, b"")
    assert (await brain.get("/pages/short-lived")).status_code == 404


@says("3.2-delete-absent-is-404")
async def test_a_delete_of_an_absent_page_is_a_404(brain: Any) -> None:
    assert (await brain.http.delete("/pages/nope")).status_code == 404


@says("3.2-delete-cleans-links")
async def test_a_delete_cleans_the_links_in_both_directions(brain: Any) -> None:
    before = (await brain.json("/stats"))["links"]
    await brain.put("hub", body_markdown="[[spoke]] and [[water-clock]]")
    await brain.put("spoke", body_markdown="[[hub]]")
    assert {one["slug"] for one in (await brain.json("/graph/spoke"))["nodes"]} == {"spoke", "hub"}
    assert (await brain.json("/stats"))["links"] == before + 3
    await brain.http.delete("/pages/hub")
    graph = await brain.json("/graph/spoke")
    assert ([one["slug"] for one in graph["nodes"]], graph["edges"]) == (["spoke"], [])
    assert "hub" not in {one["slug"] for one in (await brain.json("/graph/water-clock"))["nodes"]}
    assert (await brain.page("spoke"))["links_out"] == ["hub"]  # as written: there is none any more
    await brain.http.delete("/pages/spoke")
    assert (await brain.json("/stats"))["links"] == before


@says("3.2-import-takes-markdown")
async def test_markdown_is_imported(brain: Any) -> None:
    response = await brain.import_page("imported", "---\ntitle: Imported\ntype: source\n---\n\nText.\n")
    assert response.status_code == 200
    assert list(response.json()) == KEYS
    assert response.json() == await brain.page("imported")


@says("3.2-import-takes-multipart")
async def test_a_form_with_a_file_is_imported(brain: Any) -> None:
    markdown = "---\ntitle: From a form\n---\n\nنص.\n"
    response = await brain.http.post("/pages/form/import", files={"file": ("form.md", markdown, "text/markdown")})
    assert (response.status_code, response.json()["title"]) == (200, "From a form")


@says("3.2-import-parses-frontmatter")
async def test_the_frontmatter_of_an_import_is_parsed(brain: Any) -> None:
    text = "---\ntitle: Parsed\ntype: deal\ntags: [a, b]\n---\n\n# Parsed\n\n[[water-clock]]\n"
    page = (await brain.import_page("parsed", text)).json()
    assert (page["title"], page["type"], page["tags"]) == ("Parsed", "deal", ["a", "b"])
    assert page["links_out"] == ["water-clock"]
    assert "type: deal" not in page["body_markdown"]


@says("3.2-import-frontmatter-slug-wins")
async def test_the_slug_of_the_frontmatter_wins(brain: Any) -> None:
    response = await brain.import_page("by-path", "---\nslug: by-frontmatter\ntitle: T\n---\n\nText.\n")
    assert response.json()["slug"] == "by-frontmatter"
    assert (await brain.get("/pages/by-path")).status_code == 404


@says("3.2-import-path-slug-is-the-fallback")
async def test_the_slug_of_the_path_is_the_fallback(brain: Any) -> None:
    assert (await brain.import_page("fallback", "---\ntitle: T\n---\n\nText.\n")).json()["slug"] == "fallback"
    assert (await brain.import_page("without", "Only text.\n")).json()["slug"] == "without"


@says("3.2-import-invalid-frontmatter-is-422")
async def test_invalid_frontmatter_is_a_422_with_the_fields(brain: Any) -> None:
    response = await brain.import_page("invalid", "---\ntitle: T\ntype: bogus\ntags: {a: 1}\n---\n\nText.\n")
    assert (response.status_code, response.json()["error"]) == (422, "validation_failed")
    assert {one["field"] for one in response.json()["fields"]} == {"type", "tags"}
    broken = await brain.import_page("invalid", "---\ntitle: [\n---\n\nText.\n")
    assert (broken.status_code, broken.json()["error"]) == (422, "validation_failed")
    assert broken.json()["fields"]
    assert (await brain.get("/pages/invalid")).status_code == 404


@says("3.2-validation-errors-shape")
async def test_a_validation_error_has_the_shape_and_the_words_of_the_contract(brain: Any) -> None:
    response = await brain.put("wrong", type="bogus")
    message = "must be one of: company, person, concept, meeting, deal, source, note"
    assert response.status_code == 422
    assert response.json() == {"error": "validation_failed", "fields": [{"field": "type", "message": message}]}


@says("3.2-all-422s-have-that-shape")
async def test_every_422_has_that_shape(brain: Any) -> None:
    refusals = [
        await brain.put("wrong", extra=1),
        await brain.get("/query"),
        await brain.get("/search", q=""),
        await brain.get("/timeline", **{"from": "x"}),
        await brain.get("/graph/water-clock", depth=9),
        await brain.import_page("wrong", "---\ntype: bogus\n---\n"),
        await brain.http.put("/pages/x", content=b"{", headers={"Content-Type": "application/json"}),
        await brain.http.post("/sync", params={"vault": "No Vault"}),
    ]
    for response in refusals:
        assert response.status_code == 422
        assert list(response.json()) == ["error", "fields"]
        assert response.json()["error"] == "validation_failed"
        assert response.json()["fields"]
        assert all(list(one) == ["field", "message"] for one in response.json()["fields"])


@says("3.2-types-are-these-seven")
async def test_a_page_is_of_one_of_seven_types(brain: Any) -> None:
    for kind in TYPES:
        assert (await brain.put(f"of-type-{kind}", type=kind)).json()["type"] == kind
    for kind in TYPES:
        await brain.http.delete(f"/pages/of-type-{kind}")


@says("4-write-is-queryable")
async def test_what_was_written_is_found_at_once(brain: Any, unique: Callable[[], str]) -> None:
    word = unique()
    await brain.put("meeting-notes", type="meeting", body_markdown=f"We agreed on the {word} for the spring.")
    assert await brain.slugs("/query", q=word, limit=1) == ["meeting-notes"]
    assert await brain.slugs("/query", q=f"what did we agree on for the {word}", limit=1) == ["meeting-notes"]


@says("5-embed-on-write-put")
async def test_a_put_has_answered_only_when_its_passages_are_embedded(brain: Any) -> None:
    await brain.put("embedded-at-once", body_markdown="\n\n".join(f"## Part {n}\n\nText {n}." for n in range(12)))
    stats = await brain.json("/stats")
    assert (stats["stale_chunks"], stats["embedded_pct"]) == (0, 100)
    await brain.http.delete("/pages/embedded-at-once")


@says("5-embed-on-write-import")
async def test_an_import_has_answered_only_when_its_passages_are_embedded(brain: Any) -> None:
    body = "\n\n".join(f"## Teil {n}\n\nText {n}." for n in range(12))
    await brain.import_page("imported-at-once", f"---\ntitle: Teile\n---\n\n{body}")
    stats = await brain.json("/stats")
    assert (stats["stale_chunks"], stats["embedded_pct"]) == (0, 100)
    await brain.http.delete("/pages/imported-at-once")
