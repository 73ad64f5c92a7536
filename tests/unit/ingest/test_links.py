"""Links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest import syntax
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
    ],
)
def test_what_is_no_link_to_a_page_is_left_out(body: str) -> None:
    assert links(body) == ()


def test_each_page_is_linked_once_in_order() -> None:
    assert links("[[b]] [[a]] [[b#x]] ![[a]]") == ("b", "a")


@given(st.text(alphabet="[]|#^!()`\\ab\n/.", max_size=60))
def test_any_text_has_links_or_none(body: str) -> None:
    assert all(target.strip() == target != "" for target in links(body))
