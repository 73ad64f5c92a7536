"""Links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest import markdown, syntax
from cortex_ingest.links import targets


def links(body: str, path: str = "notes/today.md") -> tuple[str, ...]:
    return targets(syntax.parse(body), path)


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("[[heba]]", "heba"),
        ("[[heba|Heba Zaytoun]]", "heba"),
        ("[[heba#Background]]", "heba"),
        ("[[heba^1a2b]]", "heba"),
        ("[[heba#^1a2b|there]]", "heba"),
        ("![[heba]]", "heba"),
        ("[[people/heba.md]]", "people/heba"),
        ("[[انحراف-الحرارة|الحرارة]]", "انحراف-الحرارة"),
        ("[[a_b_c]] and *[[a_b_c]]*", "a_b_c"),
        ("[[release v2.3]]", "release v2.3"),
        ("| t |\n|---|\n| [[heba\\|Heba]] |", "heba"),
        ("> - [[heba]]", "heba"),
        ("# About [[heba]]", "heba"),
        ("[text](heba.md)", "notes/heba"),
        ("[text](../people/heba.md#desk)", "people/heba"),
        ("[text](/people/heba.md)", "people/heba"),
        ("[text](Heba%20Zaytoun.md)", "notes/Heba Zaytoun"),
        ("[text](<Heba Zaytoun.md>)", "notes/Heba Zaytoun"),
        ("[text][1]\n\n[1]: heba.md", "notes/heba"),
        ("[text](people/heba)", "people/heba"),
        ("[text](./heba)", "notes/heba"),
        ("[text](../people/heba)", "people/heba"),
        ("[text](/people//./heba)", "people/heba"),
        ("[text](heba.md 'a title')", "notes/heba"),
        ('[text](<heba (old).md> "a title")', "notes/heba (old)"),
        ("[text](heba_(old).md)", "notes/heba_(old)"),
        ("[نص](هبة.md)", "notes/هبة"),
        ("[text](%D9%87%D8%A8%D8%A9.md)", "notes/هبة"),
        ("[text](a%00b.md)", "notes/a\ufffdb"),
        ("![text][1] [x][1]\n\n[1]: heba.md", "notes/heba"),
        ("[[./heba]]", "notes/heba"),
        ("[[../people/heba|x]]", "people/heba"),
        ("[[/people/heba]]", "people/heba"),
        ("[[people/heba/]]", "people/heba"),
        ("[[heba\\|Heba]]", "heba"),
        ("[[ heba ]]", "heba"),
        ("[[👩\u200d💻 team]]", "👩\u200d💻 team"),
        ("text[^1]\n\n[^1]: see [[heba]]", "heba"),
        ("> [!note] [[heba]]", "heba"),
        ("%% a %% [[heba]] %% b %%", "heba"),
        ("%%\n\n[[heba]]", "heba"),
        ("a <!-- b --> [[heba]]", "heba"),
    ],
)
def test_a_link_names_its_page(body: str, target: str) -> None:
    assert links(body) == (target,)


@pytest.mark.parametrize(
    "body",
    [
        "`[[heba]]`",
        "```\n[[heba]]\n```",
        "    [[heba]]",
        "\\[[heba]]",
        "[[#heading]]",
        "[[^block]]",
        "[[]]",
        "[[ ]]",
        "![[photo.png]]",
        "![photo](photo.png)",
        "[file](report.pdf)",
        "[web](https://example.org/heba.md)",
        "[mail](mailto:heba@example.org)",
        "[same](#desk)",
        "[outside](../../../etc/passwd.md)",
        "[[not\nclosed]]",
        "%% [[heba]] %%",
        "%%\n[[heba]]\n\n[x](heba.md)\n%%",
        "text\n%%\n[[heba]]\n%%",
        "<!-- [[heba]] -->",
        "<!--\n\n[[heba]]\n\n-->",
        "a <!-- [[heba]] --> b",
        "~~~\n[[heba]]\n~~~",
        "`` ` [[heba]] ``",
        "[[../../heba]]",
        f"[[{'x' * 301}]]",
        "[x](javascript:alert)",
        "[x](//example.org/heba)",
        "[x](<>)",
    ],
)
def test_what_is_no_link_to_a_page_is_left_out(body: str) -> None:
    assert links(body) == ()


def test_wikilinks_in_the_frontmatter_are_links_after_those_of_the_text() -> None:
    head = 'up: "[[a|A]]"\nnear:\n  - "see [[b#x]] and [[../c]]"\n  - {deep: "[[a]]"}\nnew: "[[{{title}}]]"\nplain: a'
    found = markdown.read("notes/today.md", f"---\n{head}\n---\n[[d]] [[b]]".encode())
    assert found.links == ("d", "b", "a", "c")


def test_each_page_is_linked_once_in_order() -> None:
    assert links("[[b]] [[a]] [[b#x]] ![[a]]") == ("b", "a")


@given(st.text(alphabet="[]|#^!()`\\ab\n/.", max_size=60))
def test_any_text_has_links_or_none(body: str) -> None:
    assert all(target.strip() == target != "" for target in links(body))
