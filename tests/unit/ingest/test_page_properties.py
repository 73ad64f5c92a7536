"""Whatever somebody hands in is read, can be stored, and is found again in its passages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from cortex_contracts.rpc.pages import PageDraft
from cortex_ingest import chunking, links, long_text, markdown, page_import, syntax
from cortex_ingest.errors import UnreadablePage
from cortex_ingest.field_values import MAX_NESTING
from cortex_ingest.markdown import Document

# What has a meaning somewhere in a page; mixed, it makes the odd cases that random characters do not.
PIECES = st.sampled_from(
    [
        *"--- ... +++ ;;; title: type: tags: aliases: slug: created: effective_date: sources: null true ~ 1.10".split(),
        *"2026-01-05 1e999 .inf 9999999999999999999 \\ud800 \\0 {{title}} <%x%> &a *a !!binary - ? : | >".split(),
        *"# ## === ``` ~~~ ` 1. [[ ]] ![[ [ ] ]( ( ) < > { } <!-- --> %% [^1] ^ \\ * _ &amp; %00 %20 ../".split(),
        *"word tag1 كتاب 書籍。 👩\u200d💻 🇪🇬 \" ' , #".split(),
        *("\n", "\r\n", "\r", "\n\n", " ", "  ", "    ", "\t", "\x0b", "\x85", "\u2028", "| a | b |\n|---|---|\n"),
        *("\x00", "\x01", "\ufeff", "\ud800", "\u200d", "\u0301"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=40).map("".join)
PAGES = st.one_of(
    TEXTS,
    TEXTS.map(lambda head: f"---\n{head}"),
    st.tuples(TEXTS, TEXTS).map(lambda two: "---\n{}\n---\n{}".format(*two)),
)
FILES = st.one_of(
    st.binary(max_size=200),
    PAGES.map(lambda text: text.encode("utf-8", "surrogatepass")),
    PAGES.map(lambda text: text.encode("utf-16", "surrogatepass")),
    PAGES.map(lambda text: text.encode("cp1252", "replace")),
)
PATHS = st.lists(st.text(max_size=8), min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
READ_OFTEN = settings(max_examples=150, deadline=None)


def texts_of(value: JsonValue, depth: int = 0) -> Iterator[str]:
    assert depth <= MAX_NESTING
    match value:
        case str():
            yield value
        case float():
            assert math.isfinite(value)
        case list():
            for item in value:
                yield from texts_of(item, depth + 1)
        case dict():
            for key, item in value.items():
                yield key
                yield from texts_of(item, depth + 1)


def assert_storable(page: Document) -> None:
    names = (page.title, page.type, page.slug or "", page.body, *page.tags, *page.aliases, *page.links, *page.problems)
    passages = (text for passage in page.passages for text in (passage.text, *passage.heading_path))
    for text in (*names, *passages, *texts_of(dict(page.metadata))):
        assert "\x00" not in text
        text.encode()
    assert json.loads(json.dumps(page.metadata, allow_nan=False)) == page.metadata
    assert page.title.strip() == page.title != ""
    assert page.passages
    assert all((*page.tags, *page.aliases, *page.links))
    assert all(len(name) <= 300 for name in (page.title, *page.tags, *page.aliases, *page.links))
    assert page.created is None or page.created.tzinfo is not None


def assert_covered(page: Document) -> None:
    """Every word of the body is in a passage."""
    said = {word for passage in page.passages for text in (passage.text, *passage.heading_path) for word in words(text)}
    missing = words(page.body) - said
    assert not missing


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@READ_OFTEN
@given(FILES, PATHS)
def test_any_bytes_are_a_page_that_can_be_stored_or_unreadable(content: bytes, path: str) -> None:
    try:
        page = markdown.read(path, content)
    except UnreadablePage:
        return
    assert_storable(page)
    assert_covered(page)


@READ_OFTEN
@given(PAGES)
def test_the_body_is_the_end_of_the_file_as_it_was_written(text: str) -> None:
    written = text.encode("utf-8", "replace").decode().replace("\x00", "")
    page = markdown.read("a.md", written.encode())
    assert written.endswith(page.body)
    if not page.metadata:
        left = written.removeprefix("\ufeff")[: len(written.removeprefix("\ufeff")) - len(page.body)]
        assert not words(left) or left.startswith(("---", "+++", ";;;"))


@READ_OFTEN
@given(PAGES, st.text(min_size=1, max_size=5))
def test_any_text_handed_in_is_a_page_or_says_what_is_wrong(text: str, slug: str) -> None:
    page = page_import.read(slug, text)
    if isinstance(page, tuple):
        assert page
        assert all(error.field and error.message for error in page)
        return
    assert page.slug
    assert_covered(page)


@READ_OFTEN
@given(TEXTS)
def test_any_draft_is_a_page_that_can_be_stored(body: str) -> None:
    text = body.encode("utf-8", "replace").decode().replace("\x00", "")
    page = markdown.compose("notes/a", PageDraft(title="A", tags=("Tag0", "x"), body_markdown=text))
    assert (page.body, page.tags[:2], page.slug) == (text, ("Tag0", "x"), "notes/a")
    assert_storable(page)
    assert_covered(page)


# Long texts -----------------------------------------------------------------------------------------------------------

ORDINARY = st.lists(
    st.sampled_from(
        (
            "# One\n",
            "## Two *x*\n",
            "### #tag0 three ###\n",
            "text [[a]] and #tag1\n",
            "[to](b.md) and ![[c|d]]\n",
            "```\n# [[no]]\n```\n",
            "`[[no]]` \\[[no]] #tag2\n",
            "| [[e\\|f]] | #tag3 |\n|---|---|\n",
            '[x](<g h.md> "t")\n',
            "%% [[no]] %%\n",
            "- [[h#i]]\n",
            "> [[j^k]] #مشروع\n",
            "a <!-- [[no]] --> b\n",
            "~~~~ py\n#no\n~~~\n~~~~\n",
            "%%\n[[no]]\n\n%%\n",
        )
    ),
    max_size=12,
).map("\n".join)


@READ_OFTEN
@given(ORDINARY)
def test_a_long_text_is_read_as_a_short_one(body: str) -> None:
    short = syntax.parse(body)
    long = long_text.parse(body, syntax.inline)
    assert links.targets(long, "x/y.md") == links.targets(short, "x/y.md")
    assert [*dict.fromkeys(markdown.inline_tags(long))] == [*dict.fromkeys(markdown.inline_tags(short))]
    assert chunking.chunk(body, long) == chunking.chunk(body, short)


@pytest.mark.parametrize(
    "unit", ["word ", "x", "漢字。", "# a\n\nb\n\n", "- a\n", "a\r\n\r\n", "[[a]] #b\n", "```\n", "> ", "["]
)
def test_a_huge_file_is_all_in_a_bounded_number_of_passages(unit: str) -> None:
    size = 300_000
    page = markdown.read("a.md", (unit * (size // len(unit))).encode())
    assert len(page.passages) <= 2 * size / chunking.MAX_CHARS + 1
    assert "".join("".join(passage.text for passage in page.passages).split()) == "".join(page.body.split())


def test_a_long_text_of_headings_is_divided_by_the_upper_ones() -> None:
    body = "".join(f"# Part {part}\n\n" + "## Sub\n\ntext\n\n" * 1_000 for part in range(20))
    page = markdown.read("a.md", body.encode())
    assert {passage.heading_path for passage in page.passages} == {(f"Part {part}",) for part in range(20)}
    assert sum(passage.text.count("## Sub") for passage in page.passages) == 20_000
