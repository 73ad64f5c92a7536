"""Slugs."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest.slugs import MAX_LENGTH, UNTITLED, default_slugs, is_page, slugify
from cortex_ingest.slugs import given as given_slug

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
        ("e\u0301te\u0301.md", "été"),
        ("ÉTÉ.md", "été"),
        ("> quote .md", ">-quote"),
        ("👩\u200d💻 🇪🇬.md", "👩\u200d💻-🇪🇬"),
        ("書籍 一覧.md", "書籍-一覧"),
        ("שלום עולם.md", "שלום-עולם"),
        ("100% sure?.md", "100%-sure?"),
        ("...md", "untitled"),
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


def test_files_that_differ_in_nothing_that_counts_want_the_same_slug() -> None:
    twins = ["a/a b.md", "a/A-b.md", "a/a-b.md", "a/a  B.markdown"]
    assert set(default_slugs(twins).values()) == {"a/a-b"}
    assert set(default_slugs(["e\u0301.md", "é.md", "É.md"]).values()) == {"é"}


def test_what_is_left_of_nothing_is_no_slug() -> None:
    assert given_slug(" /./../ ") is None
    assert given_slug("") is None


@given(st.one_of(st.text(), st.text("a ./-\u0301Éß\u200d", max_size=700)))
def test_a_slug_is_its_own_slug_and_fits_an_address(text: str) -> None:
    slug = slugify(text)
    assert slugify(slug) == slug == given_slug(slug)
    assert 0 < len(slug) <= MAX_LENGTH
    assert not any(char.isspace() or char in "\x00\x7f" for char in slug)
    assert not {"", ".", ".."} & set(slug.split("/"))
    assert unquote(quote(slug, safe="")) == slug


@given(st.text(), st.text())
def test_case_spaces_and_normalisation_make_no_difference(one: str, two: str) -> None:
    text = f"{one} {two}"
    assert slugify(unicodedata.normalize("NFD", text)) == slugify(unicodedata.normalize("NFC", text))
    assert slugify(f"{one}  {two} ") == slugify(text)


@given(st.sets(PATHS, max_size=8))
def test_every_page_gets_the_same_slug_in_any_order(paths: set[str]) -> None:
    found = default_slugs(paths)
    assert default_slugs(sorted(paths)) == default_slugs(sorted(paths, reverse=True)) == found
    assert set(found) == paths


@given(st.sets(PATHS, max_size=8))
def test_only_paths_that_are_the_same_slug_themselves_share_one(paths: set[str]) -> None:
    whole = {path: slugify(path.removesuffix(".md")) for path in paths}
    for one, slug in default_slugs(paths).items():
        twins = [other for other in paths if other != one and default_slugs(paths)[other] == slug]
        assert all(whole[other] == whole[one] or UNTITLED in (slug, *slug.split("/")) for other in twins)
