"""Slugs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest.slugs import default_slugs, is_page, slugify

NAMES = st.text(st.characters(exclude_characters="/\x00"), min_size=1, max_size=12)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".md")


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("people/Heba Zaytoun.md", "heba-zaytoun"),
        ("concepts/انحراف الحرارة.md", "انحراف-الحرارة"),
        ("v2.3 notes.markdown", "v2.3-notes"),
        ("a - b.MD", "a-b"),
        ("snake_case.md", "snake_case"),
        ("   .md", "untitled"),
    ],
)
def test_a_slug_is_the_name_of_the_file(path: str, slug: str) -> None:
    assert default_slugs([path]) == {path: slug}


def test_files_of_one_name_keep_their_folders() -> None:
    assert default_slugs(["a/Notes.md", "b c/notes.md", "other.md"]) == {
        "a/Notes.md": "a/notes",
        "b c/notes.md": "b-c/notes",
        "other.md": "other",
    }


@pytest.mark.parametrize("path", ["a.txt", ".obsidian/a.md", "a/.trash/b.md", ".hidden.md", "README", "a.md.bak"])
def test_other_files_are_no_pages(path: str) -> None:
    assert not is_page(path)


@given(st.text())
def test_a_slug_is_its_own_slug(text: str) -> None:
    slug = slugify(text)
    assert slug
    assert slugify(slug) == slug
    assert not any(char.isspace() for char in slug)
    assert not slug.startswith("/")
    assert not slug.endswith("/")


@given(st.text())
def test_a_slug_can_be_stored(text: str) -> None:
    assert "\x00" not in slugify(text).encode("utf-8").decode()


@given(st.sets(PATHS, max_size=8))
def test_every_page_gets_the_same_slug_in_any_order(paths: set[str]) -> None:
    assert default_slugs(sorted(paths)) == default_slugs(sorted(paths, reverse=True))
    assert set(default_slugs(paths)) == paths
