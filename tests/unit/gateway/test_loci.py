"""Which paths of two engines name one thing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.loci import Likeness, locus
from cortex_store.slugs import slugify

MEMORY = "8d0c1f9e-3b7a-4c55-9a3e-1d2f3a4b5c6d"


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        (f"memory:{MEMORY}", f"memory:{MEMORY.upper()}", Likeness.CERTAIN),
        (f"memory:{MEMORY}", MEMORY, Likeness.CERTAIN),
        (f"memory:{MEMORY}", f"memory:{MEMORY[:-1]}e", Likeness.NONE),
        ("memory:1", "memory:1", Likeness.CERTAIN),
        ("memos/7", "memos:7", Likeness.CERTAIN),
        ("memos/7", "memos/8", Likeness.NONE),
        ("memos/7", f"memory:{MEMORY}", Likeness.NONE),
        ("https://wiki/a", "https://wiki/a/", Likeness.CERTAIN),
        ("https://wiki/a", "https://wiki/b", Likeness.NONE),
        ("page:main/projects/nile", "projects/Nile.md", Likeness.CERTAIN),
        ("page:main/projects/nile", "main/projects/nile.md", Likeness.CERTAIN),
        ("page:main/nile-plan", "Nile Plan.md", Likeness.CERTAIN),
        ("page:main/nile-plan", "projects/Nile Plan.md", Likeness.LIKELY),
        ("page:main/nile", "/srv/vaults/main/nile.md", Likeness.LIKELY),
        ("page:main/nile", "projects/blue-nile.md", Likeness.NONE),
        ("page:main/nile", "page:other/nile", Likeness.NONE),
        ("page:main/nile", "page:main/nile", Likeness.CERTAIN),
        ("page:main/nile", "nile.py", Likeness.NONE),
        ("docs/a.md", "./docs/a.md", Likeness.CERTAIN),
        ("docs\\a.md", "docs/a.md", Likeness.CERTAIN),
        ("docs/a.md", "/home/x/docs/a.md", Likeness.LIKELY),
        ("docs/a.md", "other/a.md", Likeness.NONE),
        ("src/Makefile", "src/makefile", Likeness.NONE),
        ("src/a.py#Nile/open", "src/a.py#Nile/open", Likeness.CERTAIN),
        ("src/a.py#Nile/open", "src/a.py#Nile/close", Likeness.NONE),
        ("src/a.py#Nile", "src/a.py", Likeness.NONE),
        ("src/a.py#main", "/repo/src/a.py#main", Likeness.LIKELY),
        ("main.go#main", "cmd/server/main.go#main", Likeness.LIKELY),
        ("", "", Likeness.NONE),
        ("", "a.md", Likeness.NONE),
    ],
)
def test_likeness_of_two_paths(one: str, other: str, likeness: Likeness) -> None:
    assert locus(one).likeness(locus(other)) is likeness
    assert locus(other).likeness(locus(one)) is likeness


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="aB/.:#-\\ m\n\u0645", max_size=20), st.text(alphabet="aB/.:#-\\ m\n", max_size=20))
def test_likeness_is_symmetric_and_a_path_is_like_itself(one: str, other: str) -> None:
    assert locus(one).likeness(locus(other)) is locus(other).likeness(locus(one))
    itself = locus(one).likeness(locus(one))
    assert itself is (Likeness.CERTAIN if locus(one).name else Likeness.NONE)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="aB1_-./ m\u0645", max_size=20))
def test_a_page_is_found_under_the_slug_that_its_file_gets(name: str) -> None:
    slug = slugify(name)
    assert locus(f"{name}.md").name in (slug, slugify(name.strip("/ ").removeprefix("./")))
    assert locus(f"page:main/{slug}").likeness(locus(f"{slug}.md")) is Likeness.CERTAIN
