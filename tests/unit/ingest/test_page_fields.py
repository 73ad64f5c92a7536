"""The fields of a page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cortex_ingest import markdown
from cortex_ingest.markdown import Document


def page(head: str, body: str = "") -> Document:
    return markdown.read("notes/Some page.md", f"---\n{head}\n---\n{body}".encode())


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [a, b]", ("a", "b")),
        ("tags: a, b", ("a", "b")),
        ("tags: a; b", ("a", "b")),
        ("tags: مفهوم، قياس", ("مفهوم", "قياس")),
        ("tags: 概念、研究", ("概念", "研究")),
        ("tags: a b", ("a", "b")),
        ('tags: "#a #b"', ("a", "b")),
        ("tags: #a #b", ("a", "b")),
        ("tags: [#a, #b]", ("a", "b")),
        ("tags: [#a #b]", ("a", "b")),
        ("tags:\n  - a\n  - {{tag}}\n  - b c", ("a", "b c")),
        ("tags:\n  - #a\n  - #b", ("a", "b")),
        ("tags:\n  - a\n  - B b\n  - 2026", ("a", "B b", "2026")),
        ("tags: [2026-01-05, true, 1.5]", ("2026-01-05", "true", "1.5")),
        ("tags: |\n  a\n  b c", ("a", "b c")),
        ("tags: [null]", ()),
        ("tags: [a, '', ~]", ("a",)),
        ("tags: [[a, [b]], c]", ("a", "b", "c")),
        ("tags: [[a]]", ("a",)),
        ("tags: {a: b, c: , d: [e]}", ("a: b", "c", "d", "e")),
        ("tags: [topic: ai]", ("topic: ai",)),
        ("tags: [a, {{tag}}]", ("a",)),
        ("tags: ['👩‍💻', 🇪🇬]", ("👩‍💻", "🇪🇬")),
        ("tag: a\nTAGS: [b, A]", ("b", "A")),
        ("tags: 7", ("7",)),
        ("tags: false", ("false",)),
        ("tags:", ()),
    ],
)
def test_tags_are_read_as_people_write_them(written: str, tags: tuple[str, ...]) -> None:
    assert page(written).tags == tags


@pytest.mark.parametrize(
    ("written", "aliases"),
    [
        ("aliases: [a, B b, 007, 7, null, true, 2026-01-05]", ("a", "B b", "007", "7", "true", "2026-01-05")),
        ("aliases: Heba Zaytoun, هبة", ("Heba Zaytoun", "هبة")),
        ("aliases: 7", ("7",)),
        ("alias: Heba Zaytoun", ("Heba Zaytoun",)),
        ("aliases:\n  - The plan: part 2\n  - [a, [b]]", ("The plan: part 2", "a", "b")),
        ("aliases: [[a]], [[b]]", ("a", "b")),
        ("aliases: [null]", ()),
        ("aliases: {}", ()),
        ("aliases: ''", ()),
    ],
)
def test_aliases_are_read_as_people_write_them(written: str, aliases: tuple[str, ...]) -> None:
    assert page(written).aliases == aliases


def test_a_name_is_kept_once_as_it_was_written_first() -> None:
    assert page("tags: [Draft, b]", "#B #draft #c").tags == ("Draft", "b", "c")


def test_names_that_nobody_could_find_are_left_out_and_noted() -> None:
    found = page(f"tags: [a, {'b' * 101}]\naliases: [{'c' * 301}]")
    assert (found.tags, found.aliases) == (("a",), ())
    assert len(found.problems) == 2
    assert found.metadata["tags"] == ["a", "b" * 101]


def test_ten_thousand_tags_are_a_problem_of_the_page_only() -> None:
    found = page("title: T", " ".join(f"#t{number}" for number in range(10_000)))
    assert len(found.tags) == 1_000
    assert found.problems == ("expected at most 1000 tags, got 10000; the first ones count",)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("title: 2026-01-05", "2026-01-05"),
        ("title: 2026", "2026"),
        ("title: 007", "007"),
        ("title: 1.10", "1.10"),
        ("title: true", "true"),
        ("title: True", "True"),
        ("title: no", "no"),
        ("title: 12:30", "12:30"),
        ("title: #1 priority", "#1 priority"),
        ("title: > quoted  ", "> quoted"),
        ("title: Re: the plan", "Re: the plan"),
        ("title: |\n  two\n  lines", "two lines"),
        ("Title: 👩‍💻 🇪🇬", "👩‍💻 🇪🇬"),
        ("title: انحراف الحرارة", "انحراف الحرارة"),
        ("title: {{title}}", "Some page"),
        ("title: <% tp.file.title %>", "Some page"),
        ("title: Using {{mustache}} well", "Using {{mustache}} well"),
        ("title:", "Some page"),
        ("title: null", "Some page"),
        ("title: [a, b]", "Some page"),
        ("title: {a: b}", "Some page"),
    ],
)
def test_a_title_is_what_was_typed(written: str, title: str) -> None:
    assert page(written).title == title


@pytest.mark.parametrize(
    ("written", "slug"),
    [
        ("slug: Billing API", "billing-api"),
        ("slug: /people//Heba/", "people/heba"),
        ("slug: ../../etc/passwd", "etc/passwd"),
        ("slug: 2026-01-05", "2026-01-05"),
        ("slug: 2026", "2026"),
        ("slug: هبة", "هبة"),
        ("slug: {{slug}}", None),
        ("slug: ///", None),
        ("slug: ..", None),
        ("slug:", None),
        ("slug: [a, b]", None),
    ],
)
def test_a_slug_is_one_or_none(written: str, slug: str | None) -> None:
    assert page(written).slug == slug


@pytest.mark.parametrize("written", ["Person", "person", " PERSON ", "[person]", "'[[person]]'"])
def test_a_type_of_ours_is_known_however_it_is_written(written: str) -> None:
    found = page(f"type: {written}")
    assert found.type == ("note" if "'" in written else "person")


@pytest.mark.parametrize("written", ["project", "2026", "[a, b]", "{a: b}", "true", "{{type}}", "people"])
def test_another_type_is_a_note_that_keeps_it(written: str) -> None:
    found = page(f"type: {written}")
    assert found.type == "note"
    assert found.metadata["original_type"] == found.metadata["type"]
    assert found.problems == ()


@pytest.mark.parametrize("written", ["", "type:", "type: ''", "type: null", "type: []"])
def test_a_page_without_a_type_is_a_note(written: str) -> None:
    found = page(written)
    assert found.type == "note"
    assert "original_type" not in found.metadata


@pytest.mark.parametrize(
    ("written", "created"),
    [
        ("created: 2026-04-27", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: 2026-04-27T10:30:00+02:00", datetime(2026, 4, 27, 8, 30, tzinfo=UTC)),
        ("created: 2026-04-27 10:30", datetime(2026, 4, 27, 10, 30, tzinfo=UTC)),
        ("created: 2026/4/7", datetime(2026, 4, 7, tzinfo=UTC)),
        ("created: 20260427", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: 27 April 2026", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: Apr 27, 2026", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: '[[2026-04-27]]'", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: [[2026-04-27]]", datetime(2026, 4, 27, tzinfo=UTC)),
        ("date: 2026-04-27", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: soon\ndate: 2026-04-27", datetime(2026, 4, 27, tzinfo=UTC)),
        ("created: 0001-01-01T00:00:00+14:00", None),
        ("created: {{date}}", None),
        ("created: 2026", None),
        ("created: 27/04/2026", None),
        ("created: [2026-04-27, 2026-04-28]", None),
        ("created: true", None),
    ],
)
def test_the_day_of_a_page_is_read_where_it_can_be(written: str, created: datetime | None) -> None:
    found = page(written)
    assert found.created == created
    assert found.problems == ()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-04-27", {"effective_date": "2026-04-27"}),
        ("2026/4/27", {"effective_date": "2026-04-27", "original_effective_date": "2026/4/27"}),
        (
            "2026-04-27T23:00:00-05:00",
            {"effective_date": "2026-04-27", "original_effective_date": "2026-04-27T23:00:00-05:00"},
        ),
        ("soon", {"original_effective_date": "soon"}),
        ("[]", {"original_effective_date": []}),
        ("", {"effective_date": None}),
    ],
)
def test_an_effective_date_is_a_day_or_missing(written: str, kept: dict[str, object]) -> None:
    found = page(f"effective_date: {written}")
    assert found.metadata == kept
    assert len(found.problems) == ("original_effective_date" in kept and "effective_date" not in kept)


@pytest.mark.parametrize(
    ("written", "sources"),
    [
        ("[a, 7, null]", ["a", "7"]),
        ("https://example.org/?a=1,2", ["https://example.org/?a=1,2"]),
        ("|\n  a, b\n  c", ["a, b", "c"]),
        ("[title: A]", ["title: A"]),
        ("{a: [b]}", ["a", "b"]),
    ],
)
def test_sources_are_a_list_of_texts(written: str, sources: list[str]) -> None:
    found = page(f"sources: {written}")
    assert found.metadata["sources"] == sources
