"""Files as pages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest import markdown
from cortex_ingest.errors import UnreadablePage
from cortex_ingest.markdown import Document
from cortex_store.assertions import assertions_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "vault"


def page(text: str | bytes, path: str = "notes/Some page.md") -> Document:
    return markdown.read(path, text.encode() if isinstance(text, str) else text)


def test_a_page_with_everything() -> None:
    found = page(
        "---\ntitle: Billing API\ntype: Note\ntags: [service, Payments]\naliases: [billing]\nslug: Billing API\n"
        "created: 2026-04-27\nstatus: active\n---\n\n# Heading\n\nSee [[heba]] #payments #urgent\n"
    )
    assert (found.slug, found.title, found.type) == ("billing-api", "Billing API", "note")
    assert found.tags == ("service", "Payments", "urgent")
    assert found.aliases == ("billing",)
    assert found.created == datetime(2026, 4, 27, tzinfo=UTC)
    assert found.metadata["created"] == "2026-04-27"
    assert found.links == ("heba",)
    assert found.problems == ()
    assert found.body.startswith("\n# Heading")


def test_the_title_is_the_first_heading_else_the_name_of_the_file() -> None:
    assert page("intro\n\n## Two\n\n# The *one*\n").title == "The one"
    assert page("text").title == "Some page"
    assert page("").title == "Some page"


def test_an_empty_page_is_found_by_its_title() -> None:
    assert [passage.text for passage in page("").passages] == ["Some page"]


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [a, b]", ("a", "b")),
        ("tags: a, b", ("a", "b")),
        ("tags: مفهوم، قياس", ("مفهوم", "قياس")),
        ("tags: a b", ("a", "b")),
        ('tags: "#a #b"', ("a", "b")),
        ("tags:\n  - a\n  - B b\n  - 2026", ("a", "B b", "2026")),
        ("tag: a", ("a",)),
        ("tags:", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_are_read_as_people_write_them(written: str, tags: tuple[str, ...]) -> None:
    assert page(f"---\n{written}\n---\nbody").tags == tags


def test_inline_tags_are_no_headings_numbers_addresses_or_code() -> None:
    body = (
        "#one (#two/three) #مشروع-النيل\n\n# Heading #four\n\n#12 a#five http://x/#six `#seven`\n\n```\n#eight\n```\n"
    )
    assert page(body).tags == ("one", "two/three", "مشروع-النيل", "four")


def test_a_foreign_type_is_a_note_and_keeps_its_name() -> None:
    found = page("---\ntype: project\n---\n")
    assert (found.type, found.metadata["original_type"]) == ("note", "project")
    assert page("no frontmatter").type == "note"


def test_values_stay_what_was_typed() -> None:
    fields = page(
        "---\ncountry: no\nat: 12:30\nwhen: 2026-01-01T10:00:00Z\nphone: 0123\ncount: 3\nshare: 1.5\ndone: true\n---\n"
    ).metadata
    assert fields == {
        "country": "no",
        "at": "12:30",
        "when": "2026-01-01T10:00:00Z",
        "phone": "0123",
        "count": 3,
        "share": 1.5,
        "done": True,
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "---\ntitle: Re: the plan: part 2\nstatus: open\n---\nbody",
            {"title": "Re: the plan: part 2", "status": "open"},
        ),
        ("---\nstatus: open\ntags:\n\t- a\n---\nbody", {"status": "open", "tags": ["a"]}),
        ("---\nstatus: open\nrelated: [[a]], [[b]]\n---\nbody", {"status": "open", "related": "[[a]], [[b]]"}),
        ("---\nstatus: open\nowner: @heba\n---\nbody", {"status": "open", "owner": "@heba"}),
        ("---\nstatus: open\nbroken: [a,\n  b\n---\nbody", {"status": "open"}),
        ("---\nstatus: shut\nstatus: open\n---\nbody", {"status": "open"}),
        ("---\n- a\n- b\n---\nbody", {}),
        ("---\njust text\n---\nbody", {}),
    ],
)
def test_broken_frontmatter_keeps_the_body_and_is_noted(text: str, kept: dict[str, object]) -> None:
    found = page(text)
    assert found.metadata == kept
    assert found.body == "body"
    assert len(found.problems) == 1


def test_a_missing_closing_fence_keeps_all_of_the_text() -> None:
    found = page("---\ntitle: Open\n\nbody")
    assert "body" in found.body
    assert len(found.problems) == 1


def test_byte_order_marks_and_line_ends_do_not_matter() -> None:
    windows = page(b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\nbody\r\n")
    assert (windows.title, windows.body, windows.problems) == ("T", "body\n", ())


@pytest.mark.parametrize(
    "text", ["---\n---\nbody", "---\n\n---\nbody", "---\n# comment\n---\nbody", "---\na: 1\n...\nbody"]
)
def test_sparse_frontmatter_is_no_problem(text: str) -> None:
    assert page(text).body == "body"
    assert page(text).problems == ()


def test_aliases_do_not_explode() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n"
        for last, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    found = page(f"---\nstatus: open\n{bomb}---\nbody")
    assert found.metadata["status"] == "open"
    assert len(str(found.metadata)) < 2000
    assert len(found.problems) == 1


def test_deep_nesting_and_long_frontmatter_are_left_out() -> None:
    assert page(f"---\na: {'[' * 5000}\n---\nbody").body == "body"
    assert page(f"---\na: {'x' * 100_000}\n---\nbody").metadata == {}


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.getcwd []", "!!binary aGk=", "!!set {a, b}", "!custom x"])
def test_tagged_values_execute_nothing(tag: str) -> None:
    found = page(f"---\nstatus: open\nodd: {tag}\n---\nbody")
    assert found.metadata["status"] == "open"
    assert isinstance(found.metadata.get("odd", ""), str | dict | list)


def test_what_no_database_stores_is_left_out() -> None:
    assert page('---\nodd: "a\\0b\\ud800c"\n---\nbody').metadata["odd"] == "ab?c"


def test_binary_data_is_no_page_and_broken_text_is_mended() -> None:
    with pytest.raises(UnreadablePage):
        page(b"\x89PNG\x00\x01")
    assert page(b"\xe9t\xe9").body == "\N{REPLACEMENT CHARACTER}t\N{REPLACEMENT CHARACTER}"
    assert len(page(b"\xe9t\xe9").problems) == 1


@given(st.text(), st.text())
def test_any_text_is_a_page_that_keeps_its_body(head: str, body: str) -> None:
    clean = body.replace("\x00", "").replace("\r", "")
    found = page(f"---\n{head}\n---\n{clean}".replace("\x00", ""))
    assert found.body.endswith(clean)
    assert found.passages


@pytest.mark.parametrize("path", sorted(EXAMPLE.rglob("*.md")), ids=lambda path: path.stem)
def test_the_example_vault_is_read_without_problems(path: Path) -> None:
    found = markdown.read(str(path.relative_to(EXAMPLE)), path.read_bytes())
    assert found.problems == ()
    assert found.passages
    assert found.title == found.metadata["title"]
    assert found.created is not None


def test_frontmatter_fields_become_claims_about_the_page() -> None:
    found = page("---\ntitle: Billing API\ntags: [a]\nupdated: 2026-09-14\nstatus: active\nowner: Inês Roldão\n---\n")
    claims = [(claim.subject, claim.attribute, claim.value) for claim in assertions_of(found.title, found.metadata)]
    assert claims == [("Billing API", "status", "active"), ("Billing API", "owner", "Inês Roldão")]
