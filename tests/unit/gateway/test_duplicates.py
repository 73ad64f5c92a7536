"""Which hits are of one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cortex_contracts.rpc.engine import Hit
from cortex_gateway import duplicates
from cortex_gateway.assertions import Relation
from cortex_gateway.duplicates import confidence, things, united

MEMORY = "memory:8d0c1f9e-3b7a-4c55-9a3e-1d2f3a4b5c6d"
LONG = "The Nile project keeps its orders in PostgreSQL sixteen, which runs on the small machine in the cellar."
ELSEWHERE = "Deployment happens on Tuesdays after lunch; whoever is on call presses the button and watches the graphs."
MakeHit = Callable[..., Hit]


def engines(hits: Sequence[Hit]) -> list[list[str]]:
    """Which engines found each thing together."""
    return sorted(sorted(hit.engine for hit in found) for found in things(hits))


@pytest.mark.parametrize(
    ("path", "other_path", "text", "other_text"),
    [
        (MEMORY, MEMORY, "Hermes is stopped.", "a wholly different rendering"),
        ("memos/7", "memos/7", LONG, ELSEWHERE),
        ("src/a.py#Nile/open", "src/a.py#Nile/open", LONG, "def open(self): ..."),
        ("notes/nile.md", "notes/nile.md", LONG, LONG),
        ("notes/nile.md", "notes/nile.md", LONG, "…" + LONG[20:80] + "…"),
        ("page:main/nile", "projects/Nile.md", LONG, "# Nile\n" + LONG),
        ("notes/nile.md", "notes/nile.md", LONG, "# Nile"),
    ],
    ids=["memory", "memo", "symbol", "file", "part of it", "page and its file", "too short to be a passage"],
)
def test_one_thing_from_two_engines_is_one(
    make_hit: MakeHit, path: str, other_path: str, text: str, other_text: str
) -> None:
    assert engines([make_hit(text, path=path), make_hit(other_text, path=other_path, engine="rag")]) == [
        ["memory", "rag"]
    ]


@pytest.mark.parametrize(
    ("path", "other_path", "text", "other_text"),
    [
        (MEMORY, "memory:00000000-0000-4000-8000-000000000000", LONG, LONG),
        ("", "", LONG, LONG),
        ("notes/nile.md", "notes/nile.md", LONG, ELSEWHERE),
        ("page:main/readme", "vendor/readme.md", LONG, ELSEWHERE),
        ("page:main/readme", "vendor/readme.md", LONG, "# Readme"),
        ("main.go#main", "cmd/server/main.go#main", "func main() { serve() }", "package main: starts the worker"),
        ("a/nile.md", "b/nile.md", LONG, LONG),
    ],
    ids=["memories", "no paths", "two passages", "a name alone", "a name and too little", "symbols", "files"],
)
def test_two_things_stay_two(make_hit: MakeHit, path: str, other_path: str, text: str, other_text: str) -> None:
    assert engines([make_hit(text, path=path), make_hit(other_text, path=other_path, engine="rag")]) == [
        ["memory"],
        ["rag"],
    ]


def test_what_contradicts_is_not_the_same(make_hit: MakeHit) -> None:
    stopped = make_hit("Hermes", path="hermes.md", says=(("Hermes", "status", "stopped"),))
    active = make_hit("Hermes", path="hermes.md", engine="rag", says=(("hermes ", "Status", "active"),))
    assert engines([stopped, active]) == [["memory"], ["rag"]]


def test_texts_that_contradict_are_not_the_same_either(make_hit: MakeHit) -> None:
    stopped = make_hit("Hermes is stopped.", path="hermes.md")
    active = make_hit("Hermes is running.", path="hermes.md", engine="rag")
    assert engines([stopped, active]) == [["memory"], ["rag"]]


def test_one_of_several_values_is_no_contradiction(make_hit: MakeHit) -> None:
    one = make_hit("Nile", path="nile.md", says=(("Nile", "tags", "db"), ("Nile", "tags", "infra")))
    other = make_hit("Nile", path="nile.md", engine="rag", says=(("Nile", "tags", "infra"), ("Nile", "owner", "Ana")))
    (found,) = things([one, other])
    assert {(a.attribute, a.value) for a in united(found)} == {("tags", "db"), ("tags", "infra"), ("owner", "Ana")}


def test_an_engine_that_says_the_same_twice_is_one_engine(make_hit: MakeHit) -> None:
    twice = [make_hit("Hermes  is\nstopped."), make_hit("Hermes is stopped.", relevance=0.2)]
    assert engines(twice) == [["memory", "memory"]]
    assert confidence([make_hit(confidence=0.5), make_hit(confidence=0.4)]) == 0.5


def test_passages_of_one_file_from_one_engine_stay_and_another_engines_goes_to_its_own(make_hit: MakeHit) -> None:
    first = make_hit(LONG, path="n.md", engine="pages")
    second = make_hit(ELSEWHERE, path="n.md", engine="pages")
    other = make_hit(ELSEWHERE[:60], path="n.md", engine="rag")
    found = things([first, second, other])
    assert sorted(tuple(sorted((hit.engine, hit.snippet[:5]) for hit in one)) for one in found) == [
        (("pages", "Deplo"), ("rag", "Deplo")),
        (("pages", "The N"),),
    ]


def test_three_engines_are_three_voices(make_hit: MakeHit) -> None:
    hits = [make_hit(path=MEMORY, engine=engine, confidence=0.5) for engine in ("memory", "cognee", "rag")]
    (found,) = things(hits)
    assert confidence(found) == pytest.approx(1 - 0.5**3)


def test_what_many_passages_of_one_file_may_cost_is_bounded(make_hit: MakeHit, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def reading(*_: object, **__: object) -> Relation:
        nonlocal read
        read += 1
        return Relation.UNRELATED

    monkeypatch.setattr(duplicates, "relation", reading)
    hits = [
        make_hit(f"{LONG} Line {number} of {engine}.", path=f"docs/{name}.md", engine=f"e{engine}")
        for engine in range(8)
        for number in range(40)
        for name in ("nile", "amazon")
    ]
    found = things(hits)
    assert 0 < read <= duplicates.READ
    assert sorted(map(id, hits)) == sorted(id(hit) for one in found for hit in one), "none is lost"
    again = things(reversed(hits))
    assert {frozenset(map(id, one)) for one in found} == {frozenset(map(id, one)) for one in again}


def test_what_was_not_compared_stays_apart(make_hit: MakeHit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "READ", 0)
    one, two = make_hit(LONG, path="notes/nile.md"), make_hit(f"{LONG} Or not.", path="notes/nile.md", engine="rag")
    assert engines([one, two]) == [["memory", "rag"]], "a part needs no reading"
    other = make_hit(f"Here: {LONG[:-1]}, one hears.", path="notes/nile.md", engine="rag")
    assert engines([one, other]) == [["memory"], ["rag"]]
