"""Files as pages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cortex_ingest import markdown
from cortex_ingest.chunking import Passage
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


def test_inline_tags_are_no_headings_numbers_addresses_or_code() -> None:
    body = (
        "#one (#two/three) #مشروع-النيل\n\n# Heading #four\n\n#12 a#five http://x/#six `#seven`\n\n```\n#eight\n```\n"
        "\n%% #nine %% <!-- #ten -->\n\n%%\n#eleven\n\n%%\n\n<!--\n#twelve\n-->\n"
    )
    assert page(body).tags == ("one", "two/three", "مشروع-النيل", "four")


@pytest.mark.parametrize("tag", ["हिन्दी", "日本語", "مُهِمّ", "🎉", "👩\u200d💻", "🇪🇬", "a_b-c/d", "1a", "می\u200cخواهم"])
@pytest.mark.parametrize(
    "around", ["#{}", "x #{}, y", "**#{}**", "(#{})", "#{}。", "#{}؟", "- [ ] #{}/\n", "> #{}.", "|#{}|\n|-|"]
)
def test_a_tag_is_a_word_of_any_script_or_an_emoji(around: str, tag: str) -> None:
    assert page(around.format(tag)).tags == (tag,)


@pytest.mark.parametrize(
    "body", ["#", "# a", "#12", "#-/_", "a#b", "\\#a", "#" + "x" * 101, "##a", "&#39;", "[a](#b)", "[[a#b]]"]
)
def test_other_signs_are_no_tags(body: str) -> None:
    assert page(body).tags == ()


def test_the_body_is_stored_as_it_was_written() -> None:
    windows = page(b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n> one  \r\n\ttwo \rthree\n\r\n")
    assert (windows.title, windows.body, windows.problems) == ("T", "> one  \r\n\ttwo \rthree\n\r\n", ())
    assert [passage.text for passage in windows.passages] == ["> one  \n\ttwo \nthree"]


def test_a_title_is_no_quoted_heading_and_no_template() -> None:
    assert page("> # Quoted\n").title == "Some page"
    assert page("# {{title}}\n").title == "Some page"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("notes/e\u0301te\u0301.md", "été"),
        ("> quote .md", "> quote"),
        ("👩\u200d💻 team.md", "👩\u200d💻 team"),
        ("notes/v2.3 notes.markdown", "v2.3 notes"),
        ("notes/ .md", "untitled"),
    ],
)
def test_the_name_of_a_file_is_a_title(path: str, title: str) -> None:
    assert page("", path).title == title
    assert page("", path).passages == (Passage((), title),)


def test_a_nul_is_replaced_and_noted() -> None:
    found = page(b"---\ntitle: a\x00b\n---\nbo\x00dy")
    assert (found.title, found.body) == ("a\ufffdb", "bo\ufffddy")
    assert found.problems == ("expected text, got 2 NUL characters; replaced by \ufffd",)


def test_many_links_are_all_kept() -> None:
    body = "\n".join(f"- [[page {number}]]" for number in range(20_000))
    assert len(page(body).links) == 20_000


@pytest.mark.parametrize("body", ["- " * 20_000, ">" * 20_000, "[" * 20_000, "*a **b " * 5_000, "<b " * 10_000])
def test_what_nests_deeply_is_text(body: str) -> None:
    assert "".join("".join(passage.text for passage in page(body).passages).split()) == "".join(body.split())


def test_binary_data_is_no_page() -> None:
    with pytest.raises(UnreadablePage):
        page(b"\x89PNG\x00\x01")


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
