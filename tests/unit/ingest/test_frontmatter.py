"""Frontmatter as people write it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from cortex_ingest import frontmatter
from cortex_ingest.field_values import MAX_CHARS, InvalidFrontmatter
from cortex_ingest.frontmatter import Frontmatter


def fields_of(head: str) -> dict[str, object]:
    found = frontmatter.split(f"---\n{head}\n---\nbody")
    assert found.body == "body"
    return dict(found.fields)


def as_text(text: str) -> str:
    """What is noted about a text that is all body."""
    found = frontmatter.split(text)
    assert (found.fields, found.body) == ({}, text)
    return " ".join(found.problems)


def test_values_stay_what_was_typed() -> None:
    typed = (
        "country: no\nat: 12:30\nwhen: 2026-01-01T10:00:00Z\nday: 2026-01-05\nphone: 0123\nversion: 1.10\nname: Null\n"
    )
    typed += "on: On\nbig: 12345678901234567890\nhex: 0x1F\nsum: +5\nhuge: 1e999\nnot: .nan\nshout: True"
    kept = {"country": "no", "at": "12:30", "when": "2026-01-01T10:00:00Z", "day": "2026-01-05", "phone": "0123"}
    kept |= {"version": "1.10", "name": "Null", "on": "On", "big": "12345678901234567890", "hex": "0x1F", "sum": "+5"}
    kept |= {"huge": "1e999", "not": ".nan", "shout": "True"}
    assert fields_of(typed) == kept


def test_what_json_spells_so_is_no_text() -> None:
    typed = 'count: 3\nless: -3\nshare: 1.5\ndone: true\nnothing: null\nempty:\ntilde: ~\ntext: "3"\ntagged: !!str 3'
    kept = {"count": 3, "less": -3, "share": 1.5, "done": True, "nothing": None, "empty": None, "tilde": None}
    assert fields_of(typed) == {**kept, "text": "3", "tagged": "3"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter_and_those_of_the_body_stay(end: str) -> None:
    text = end.join(["---", "title: T", "note: |", "  one", "  two", "--- ", "body  ", "", "end"])
    found = frontmatter.split(text)
    assert found.fields == {"title": "T", "note": "one\ntwo\n"}
    assert found.body == end.join(["body  ", "", "end"])
    assert found.problems == ()


@pytest.mark.parametrize(
    "text", ["---\n---\nbody", "---\n\n---\nbody", "---\n# note\n---\nbody", "---\na: 1\n...\nbody"]
)
def test_sparse_frontmatter_is_no_problem(text: str) -> None:
    found = frontmatter.split(text)
    assert (found.body, found.problems) == ("body", ())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('---\n{"title": "T", "n": [1, 1.50, null]}\n---\nbody', {"title": "T", "n": [1, "1.50", None]}),
        ('---\n{\n\t"title": "a: b",\n\t"tags": ["x"]\n}\n---\nbody', {"title": "a: b", "tags": ["x"]}),
        ("---\n{title: T, tags: [x],}\n---\nbody", {"title": "T", "tags": ["x"]}),
        ('---\n{"title": "\\ud83d\\ude00 \\u0000\\ud800"}\n---\nbody', {"title": "😀 \ufffd\ufffd"}),
        (';;;\n{"title": "T"}\n;;;\nbody', {"title": "T"}),
        ('{"title": "T", "id": 12345678901234567890}\nbody', {"title": "T", "id": "12345678901234567890"}),
        ('{\r\n  "title": "T",\r\n  "odd": NaN\r\n}\r\nbody', {"title": "T", "odd": "NaN"}),
        ('+++\ntitle = "T"\nday = 2026-01-05\n+++\nbody', {"title": "T", "day": "2026-01-05"}),
        ("+++\n[more]\nn = inf\n+++\nbody", {"more": {"n": "inf"}}),
    ],
)
def test_json_and_toml_are_frontmatter_too(text: str, kept: Mapping[str, JsonValue]) -> None:
    assert frontmatter.split(text) == Frontmatter(kept, "body")


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "T"} is JSON',
        "{{title}}\nbody",
        "{}\nbody",
        "{ a }",
        "---",
        "----\na: b\n---\n",
        "",
        "\n---\na: b\n---\n",
    ],
)
def test_other_beginnings_are_body(text: str) -> None:
    assert as_text(text) == ""


@pytest.mark.parametrize("text", ["---\n\nA line across the page.\n", "---\n# Heading\n\ntext", "+++\n\nmore"])
def test_a_line_across_the_page_opens_nothing(text: str) -> None:
    assert as_text(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ntitle: Open\n\nbody", "no closing ---"),
        ('---\r\n"my title": Open\r\nbody', "no closing ---"),
        ("+++\ntitle = 1\n", "no closing +++"),
        ("---\ntitle: Open\n\n# Heading\n\nSome prose.\n\n---\n\nmore", "not valid YAML"),
        ("---\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> b\n---\nbody", "not valid YAML"),
        ("---\n- a\n- b\n---\nbody", "it is a list"),
        ("---\njust text\n---\nbody", "it is text"),
        ("---\n? [a]\n: b\n---\nbody", "no text"),
        ("+++\ntitle =\n+++\nbody", "not valid TOML"),
        ('{"title": oops}\nbody', "not valid JSON"),
        ('---\n{"title": "T"}\nmore: x\n---\nbody', "not valid YAML"),
        (f"---\na: {'x' * MAX_CHARS}\n---\nbody", "longer than"),
        (f"+++\na = {'[' * 100}{']' * 100}\n+++\n", "too deeply nested"),
        (f'{{"a": {"[" * 100}{"]" * 100}}}\n', "too deeply nested"),
        (f'{{"a": {"[" * 100_000}', "too deeply nested"),
    ],
)
def test_what_cannot_be_read_stays_in_the_body_and_is_noted(text: str, problem: str) -> None:
    assert problem in as_text(text)


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        ("title: Re: the plan: part 2\nstatus: open", {"title": "Re: the plan: part 2", "status": "open"}),
        ("title: > quoted  \nstatus: open  ", {"title": "> quoted", "status": "open"}),
        ("status: open\ntags:\n\t- a\n\t- b", {"status": "open", "tags": ["a", "b"]}),
        ("status: open\nrelated: [[a]], [[b]]", {"status": "open", "related": "[[a]], [[b]]"}),
        ("owner: @heba\n📅 day: %d\n2026: `x`", {"owner": "@heba", "📅 day": "%d", "2026": "`x`"}),
        ("status: open\nbroken: [a,\n  b", {"status": "open", "broken": "[a,\n  b"}),
        ('"quoted key": v\nodd: "a\\ud800b"', {"quoted key": "v", "odd": '"a\\ud800b"'}),
        ("odd: \x01\nlead: *nobody\nstatus: open", {"odd": "\x01", "lead": "*nobody", "status": "open"}),
        (f"deep: {'[' * 5000}\nstatus: open", {"deep": "[" * 5000, "status": "open"}),
        (f"deep:\n {'- ' * 5000}\nstatus: open", {"deep": ("- " * 5000).strip(), "status": "open"}),
        (f"deep: {'[' * 40}{']' * 40}\nstatus: open", {"deep": "[" * 40 + "]" * 40, "status": "open"}),
    ],
)
def test_fields_that_are_no_yaml_are_kept_as_typed_and_noted(head: str, kept: dict[str, object]) -> None:
    assert fields_of(head) == kept
    assert len(frontmatter.split(f"---\n{head}\n---\n").problems) == 1


def test_the_note_says_where_and_what() -> None:
    [problem] = frontmatter.split("---\nstatus: open\ntitle: a: b\n---\n").problems
    assert "in line 3" in problem
    assert problem.endswith("kept as typed: title")


def test_a_template_is_no_problem() -> None:
    head = '---\ntitle: {{title}}\nday: <% tp.date.now("Y: M") %>\ntags: [a, {{tag}}]\nstatus: open\n---\n'
    found = frontmatter.split(head)
    kept = {"title": "{{title}}", "day": '<% tp.date.now("Y: M") %>', "tags": "[a, {{tag}}]", "status": "open"}
    assert found == Frontmatter(kept, "")


def test_a_field_that_is_there_twice_is_noted_and_the_last_one_counts() -> None:
    found = frontmatter.split("---\nstatus: shut\nstatus: open\n---\nbody")
    assert (found.fields, found.duplicates) == ({"status": "open"}, ("status",))
    assert found.problems == ("the field status is there twice; the last one counts",)


def test_hashtags_are_no_comments() -> None:
    head = "tags: #one #two\nlist:\n  - #a\n  -   #b c\nplain: # a comment\nhalf: x # another"
    assert fields_of(head) == {"tags": "#one #two", "list": ["#a", "#b c"], "plain": None, "half": "x"}


def test_anchors_that_people_use_are_followed() -> None:
    assert fields_of("base: &b [x, y]\nother: *b\n<<: *b") == {
        "base": ["x", "y"],
        "other": ["x", "y"],
        "<<": ["x", "y"],
    }


def test_aliases_do_not_explode() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n"
        for last, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    kept = fields_of(f"status: open\n{bomb}me: &me [*me]")
    assert kept["status"] == "open"
    assert len(json.dumps(kept)) < 2_000
    merged = "a: &a {x: 1}\n" + "".join(
        f"{b}: &{b}\n  !!merge <<: [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert len(json.dumps(fields_of(merged))) < 20_000


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.getcwd []", "!!binary aGk=", "!!set {a, b}", "!custom x"])
def test_tagged_values_execute_nothing(tag: str) -> None:
    found = frontmatter.split(f"---\nstatus: open\nodd: {tag}\n---\nbody")
    assert found.fields["status"] == "open"
    assert found.fields["odd"] in ([], "aGk=", {"a": None, "b": None}, "x")
    assert found.problems == ()


def test_a_long_frontmatter_is_read_quickly() -> None:
    started = time.process_time()
    fields = fields_of("tags:\n" + "".join(f"  - tag{number}\n" for number in range(9_000)))
    assert len(fields["tags"]) == 9_000  # type: ignore[arg-type]
    assert time.process_time() - started < 5


@pytest.mark.parametrize("text", ["---\na: b: c\n---\n", "---\n- a\n---\n", "---\na: b\n", "---\na: {{b}}\n---\n"])
def test_strict_reading_refuses_what_lenient_reading_mends(text: str) -> None:
    with pytest.raises(InvalidFrontmatter):
        frontmatter.read(text)
