"""The ways of the hop against a brute-force reference, over the rows of `remembered`: who reads what, what was true
then, what is asked for; every way is there and none that should not be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import Network, Visibility
from cortex_recall.hot_tier import HotTier
from cortex_recall.ports import Question
from cortex_store.entity_relations import COMMON, PATHS, Path
from cortex_store.memories import Memory
from cortex_store.memory_index import Filter

ResultT = TypeVar("ResultT")


class Row(Protocol):
    org: str
    memory: Memory
    entities: Sequence[Any]


class Remembered(Protocol):
    rows: Sequence[Row]
    granted: Mapping[tuple[str, str], tuple[str, ...]]
    hot_tier: HotTier

    def wait(self, answer: Awaitable[ResultT]) -> ResultT: ...


class Reference:
    """Every way, by looking at every row."""

    def __init__(self, known: Remembered, principal: Principal, namespaces: Sequence[str] | None, narrowed: Filter):
        self._known, self._me, self._namespaces, self._filter = known, principal, namespaces, narrowed
        self._rows = {row.memory.id: row for row in known.rows if row.org == principal.org}
        self._about: dict[str, set[UUID]] = defaultdict(set)
        links: dict[str, int] = defaultdict(int)
        for row in self._rows.values():
            if self._asked(row.memory) and self._lists(row.memory):
                for name in _keys(row):
                    links[name] += 1
                for name in _names(row) if self._found(row.memory) else ():
                    self._about[name].add(row.memory.id)
        for name, count in links.items():
            if count > COMMON:
                self._about.pop(name, None)

    def paths(self, hits: Sequence[UUID], known: Sequence[UUID]) -> list[Path]:
        live = sum(self._counted(row.memory) for row in self._rows.values())
        related: dict[str, set[str]] = defaultdict(set)
        for name, memories in self._about.items():
            for keys in (_keys(self._rows[memory]) for memory in memories):
                if name in keys[:2] and len(keys) > 1:
                    related[name].add(keys[1] if name == keys[0] else keys[0])
        found: set[Path] = set()
        for hit in hits:
            row = self._rows.get(hit)
            if row is None or not self._found(row.memory) or not self._lists(row.memory):
                continue
            for name in _names(row):
                shared = len(self._about.get(name, ()))
                for memory in self._about.get(name, ()):
                    found.add(Path(memory, hit, name, shared, None, None, None, live))
                for other in related.get(name, ()):
                    for memory in self._about.get(other, ()):
                        far = len(self._about[other])
                        found.add(Path(memory, hit, name, shared, "knows", other, far, live))
        return sorted(
            (
                path
                for path in found
                if path.memory not in {*hits, *known} and self._passes(self._rows[path.memory].memory)
            ),
            key=lambda path: (
                max(path.shared, path.other_shared or 0),
                path.other is not None,
                path.other or "",
                path.memory,
                path.hit,
                path.name,
            ),
        )[:PATHS]

    def _lists(self, memory: Memory) -> bool:
        if self._me.readable is None:
            return True
        granted = self._known.granted.get((self._me.org, self._me.subject), ())
        return memory.namespace in (*self._me.readable, *(self._me.writable or ()), *granted)

    def _asked(self, memory: Memory) -> bool:
        return self._namespaces is None or memory.namespace in self._namespaces

    def _found(self, memory: Memory) -> bool:
        """May it be read, and is it true?"""
        if not self._asked(memory) or memory.tier != "hot":
            return False
        if memory.visibility is Visibility.PRIVATE and memory.owner != self._me.subject:
            return False
        if not (memory.visibility is Visibility.GLOBAL or self._lists(memory)):
            return False
        as_of = self._filter.as_of
        if as_of is None:
            return memory.invalid_at is None
        return memory.valid_at <= as_of and (memory.invalid_at is None or memory.invalid_at > as_of)

    def _passes(self, memory: Memory) -> bool:
        asked = self._filter
        return (
            (asked.networks is None or memory.network in asked.networks)
            and (asked.sources is None or memory.source_kind in asked.sources)
            and (asked.since is None or memory.valid_at >= asked.since)
            and (asked.until is None or memory.valid_at < asked.until)
            and (asked.created_since is None or memory.created_at >= asked.created_since)
            and (asked.created_until is None or memory.created_at < asked.created_until)
        )

    def _counted(self, memory: Memory) -> bool:
        everywhere = {r.memory.namespace for r in self._rows.values() if r.memory.visibility is Visibility.GLOBAL}
        searched = self._asked(memory) and (self._lists(memory) or memory.namespace in everywhere)
        return searched and memory.tier == "hot" and memory.invalid_at is None


def _keys(row: Row) -> list[str]:
    return list(dict.fromkeys(named.key for named in row.entities))


def _names(row: Row) -> set[str]:
    """What a memory is about: what its text mentions, and the ends of what it states."""
    keys = _keys(row)
    return {named.key for named in row.entities if named.role == "mention"} | set(keys[:2] if len(keys) > 1 else ())


def _narrowed(values: Sequence[Any]) -> st.SearchStrategy[tuple[Any, ...] | None]:
    some = st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True).map(tuple)
    return st.integers(0, 7).flatmap(lambda number: some if number == 7 else st.none())


principals = st.builds(
    lambda org, subject, lists: Principal(org=org, subject=subject, readable=lists[0], writable=lists[1]),
    st.sampled_from(("mine", "mine", "mine", "mine", "mine", "mine", "other", "empty")),
    st.sampled_from(("ada", "omar", "lina", "guest", "editor", "nobody")),
    st.sampled_from(((None, None), (None, None), ((), ()), (("work", "lab"), ()), (("home",), ("attic",)))),
)


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_the_hop_finds_every_way_that_there_is(remembered: Remembered, data: st.DataObject) -> None:
    rows = [row.memory for row in remembered.rows]
    ids = st.sampled_from([memory.id for memory in rows])
    named = st.sampled_from([row.memory.id for row in remembered.rows if _names(row)])

    def moment(rarely: int = 11) -> st.SearchStrategy[datetime | None]:
        exact = st.sampled_from(rows).flatmap(lambda m: st.sampled_from((m.valid_at, m.created_at, m.invalid_at)))
        step = st.sampled_from((timedelta(), timedelta(microseconds=1), timedelta(days=-40)))
        found = st.builds(lambda at, by: at if at is None else at + by, exact, step)
        return st.integers(0, rarely).flatmap(lambda number: found if number == rarely else st.none())

    narrowed = Filter(
        networks=data.draw(_narrowed(list(Network))),
        sources=data.draw(_narrowed(("chat", "mail", "nowhere"))),
        since=data.draw(moment()),
        until=data.draw(moment()),
        created_since=data.draw(moment()),
        created_until=data.draw(moment()),
        as_of=data.draw(moment(rarely=2)),
    )
    principal, namespaces = data.draw(principals), data.draw(_narrowed(("work", "home", "lab", "attic", "unknown")))
    hits = data.draw(st.lists(named, min_size=1, max_size=8, unique=True))
    known = data.draw(st.lists(ids, max_size=20, unique=True))

    expected = Reference(remembered, principal, namespaces, narrowed).paths(hits, known)
    assert _found(remembered, principal, namespaces, narrowed, hits, known) == expected


@pytest.mark.parametrize("subject", ["ada", "nobody"])
def test_the_ways_of_every_season(remembered: Remembered, subject: str) -> None:
    principal = Principal(org="mine", subject=subject)
    hits = [row.memory.id for row in remembered.rows if row.org == "mine" and _names(row)][::5]
    lengths = set()
    for days in range(0, 1_800, 90):
        narrowed = Filter(as_of=datetime(2023, 11, 1, tzinfo=UTC) + timedelta(days=days))
        expected = Reference(remembered, principal, None, narrowed).paths(hits, [])
        assert _found(remembered, principal, None, narrowed, hits, []) == expected
        lengths.add(len(expected))
    assert len(lengths) > 3, "what was true then differs"


def _found(
    remembered: Remembered,
    principal: Principal,
    namespaces: tuple[str, ...] | None,
    narrowed: Filter,
    hits: Sequence[UUID],
    known: Sequence[UUID],
) -> list[Path]:
    async def asked() -> tuple[Path, ...]:
        question = Question("", None, None, namespaces, (), None, narrowed, 50, 0)
        async with remembered.hot_tier.reading(principal) as reading:
            return await reading.hop(question, hits, known)

    return list(remembered.wait(asked()))
