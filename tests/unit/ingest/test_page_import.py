"""Files that are handed in."""

from __future__ import annotations

from datetime import date

import pytest

from cortex_contracts.rpc.pages import PageDraft, PageType
from cortex_ingest import markdown, page_import
from cortex_ingest.markdown import Document


def errors(head: str) -> dict[str, str]:
    return errors_of(f"---\n{head}\n---\nbody")


def errors_of(text: str) -> dict[str, str]:
    found = page_import.read("given", text)
    assert isinstance(found, tuple)
    return {error.field: error.message for error in found}


def page(text: str, slug: str = "given") -> Document:
    found = page_import.read(slug, text)
    assert isinstance(found, Document)
    return found


def test_a_file_with_everything() -> None:
    head = "title: Billing API\ntype: person\nslug: Billing API\ntags: [a, 7]\naliases: billing, b"
    found = page(
        f"---\r\n{head}\r\neffective_date: 2026-04-27\r\nsources: [x]\r\nstatus: open\r\n---\r\nbody [[heba]] #c\r\n"
    )
    assert (found.slug, found.title, found.type) == ("billing-api", "Billing API", "person")
    assert (found.tags, found.aliases, found.links) == (("a", "7", "c"), ("billing", "b"), ("heba",))
    assert found.metadata["effective_date"] == "2026-04-27"
    assert found.metadata["sources"] == ["x"]
    assert found.body == "body [[heba]] #c\r\n"


def test_the_given_slug_counts_where_the_file_has_none() -> None:
    assert page("---\ntitle: T\n---\n").slug == "given"
    assert page("no frontmatter").slug == "given"
    assert page("---\nslug: mine\n---\n").slug == "mine"
    assert page("[x](desk.md)", "people/heba").links == ("people/desk",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Heading\n",
        "---\n---\n",
        '{"title": "T"}\nbody',
        "\ufeff---\ntitle: T\n---\n",
        "---\ntype:\ntags: []\n---\n",
    ],
)
def test_what_is_missing_is_no_error(text: str) -> None:
    assert page(text).type == "note"


@pytest.mark.parametrize("written", ["bogus", "7", "[person]", "{a: b}", "people", "''"])
def test_a_wrong_type_is_said(written: str) -> None:
    message = "must be one of: company, person, concept, meeting, deal, source, note"
    assert errors(f"type: {written}") == {"type": message}


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a: b\n---\nbody",
        "---\ntitle: [a\n---\nbody",
        "---\ntitle: {{title}}\n---\nbody",
        "---\n- a\n---\nbody",
        "---\ntext\n---\nbody",
        "---\ntitle: Open\n\nbody",
        '---\n{"title": "T",, }\n---\nbody',
        '{"title": }\nbody',
        "+++\ntitle = \n+++\nbody",
        "---\na: &a [*a]\n---\nbody",
    ],
)
def test_frontmatter_that_is_none_is_said(text: str) -> None:
    assert [*errors_of(text)] == ["frontmatter"]


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("title: [a, b]", ["title"]),
        ("title: {a: b}", ["title"]),
        ("title: ''", ["title"]),
        (f"title: {'x' * 201}", ["title"]),
        ("slug: [a]", ["slug"]),
        ("slug: ///", ["slug"]),
        (f"slug: {'x' * 301}", ["slug"]),
        ("tags: {a: b}", ["tags"]),
        ("tags: 7", ["tags"]),
        ("tags: [null, a, [b]]", ["tags.0", "tags.2"]),
        ("tags: [a: b]", ["tags.0"]),
        (f"tags: [a, {'x' * 101}]", ["tags.1"]),
        (f"tags: {'x' * 101}", ["tags.0"]),
        (f"tags: [{', '.join(map(str, range(101)))}]", ["tags"]),
        ("tag: {a: b}", ["tag"]),
        ("aliases: true", ["aliases"]),
        ("aliases: [{a: b}]", ["aliases.0"]),
        (f"aliases: [{'x' * 301}]", ["aliases.0"]),
        ("effective_date: soon", ["effective_date"]),
        ("effective_date: 2026-02-30", ["effective_date"]),
        ("effective_date: 20260205", ["effective_date"]),
        ("effective_date: [2026-02-05]", ["effective_date"]),
        ("sources: {a: b}", ["sources"]),
        ("sources: [[a]]", ["sources.0"]),
        ("title: a\ntitle: b", ["title"]),
        ("type: bogus\ntitle: []\ntags: [~]", ["type", "title", "tags.0"]),
    ],
)
def test_every_field_that_is_wrong_is_named(head: str, fields: list[str]) -> None:
    assert [*errors(head)] == fields


# Drafts ---------------------------------------------------------------------------------------------------------------


def test_a_draft_is_a_page_with_the_tags_and_links_of_its_body() -> None:
    draft = PageDraft(
        type=PageType.MEETING,
        title="Weekly",
        tags=("Ops", "b"),
        body_markdown="# Notes\r\n\r\nwith [[heba]] and [x](desk.md) #ops #new  \r\n",
        effective_date=date(2026, 4, 27),
        sources=("a, b",),
    )
    found = markdown.compose("people/weekly", draft)
    assert (found.slug, found.title, found.type) == ("people/weekly", "Weekly", "meeting")
    assert found.tags == ("Ops", "b", "new")
    assert found.links == ("heba", "people/desk")
    assert found.metadata == {"effective_date": "2026-04-27", "sources": ["a, b"]}
    assert found.body == draft.body_markdown
    assert found.created is None


def test_a_draft_that_looks_like_frontmatter_is_all_body() -> None:
    found = markdown.compose("a", PageDraft(title="A", body_markdown="---\ntags: [x]\n---\n{{body}}"))
    assert (found.body, found.tags, found.metadata) == ("---\ntags: [x]\n---\n{{body}}", (), {})
    assert markdown.compose("a", PageDraft(title="{{A}}", body_markdown="")).title == "{{A}}"
