"""What goes cold, and what goes together."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pgvector import HalfVector, SparseVector

from cortex_contracts.messages.memory import MemoryType, Network
from cortex_sleep.demotion import Candidate, Rules, batches, is_due
from cortex_sleep.hot_memories import HALF_HEADER, SPARSE_HEADER, swapped

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAY = timedelta(days=1)
NOISE = Candidate(
    id=UUID(int=1),
    network=Network.EXPERIENCE,
    memory_type=MemoryType.EPISODIC,
    importance=0.4,
    created_at=NOW - 365 * DAY,
    valid_at=NOW - 365 * DAY,
    invalid_at=None,
    used=0,
    last_used_at=None,
    size_bytes=100,
)
RULES = Rules()


def test_noise_goes_after_months_and_what_matters_or_is_used_stays() -> None:
    assert is_due(NOISE, NOW, RULES)
    assert not is_due(replace(NOISE, valid_at=NOW - 60 * DAY), NOW, RULES)
    assert not is_due(replace(NOISE, importance=0.9), NOW, RULES)
    assert not is_due(replace(NOISE, used=1, last_used_at=NOW - 7 * DAY), NOW, RULES)


def test_what_is_true_and_no_episode_stays_however_old() -> None:
    ancient = replace(NOISE, importance=0.0, valid_at=NOW - 9000 * DAY)
    assert is_due(ancient, NOW, RULES)
    assert is_due(replace(ancient, memory_type=MemoryType.WORKING), NOW, RULES)
    for kept in (
        replace(ancient, network=Network.FACT),
        replace(ancient, memory_type=MemoryType.SEMANTIC),
        replace(ancient, memory_type=MemoryType.PROCEDURAL),
    ):
        assert not is_due(kept, NOW, RULES)
        assert is_due(replace(kept, invalid_at=NOW - 31 * DAY), NOW, RULES)


def test_what_ended_or_came_lately_stays() -> None:
    assert not is_due(replace(NOISE, invalid_at=NOW - 29 * DAY), NOW, RULES)
    assert is_due(replace(NOISE, invalid_at=NOW - 30 * DAY), NOW, RULES)
    imported = replace(NOISE, created_at=NOW - DAY)
    assert not is_due(imported, NOW, RULES)
    assert not is_due(replace(imported, invalid_at=NOW - 300 * DAY), NOW, RULES)
    assert is_due(imported, NOW, Rules.of_days(30, 0, 0.2))


@given(
    st.floats(0, 1),
    st.integers(0, 50),
    st.integers(0, 4000),
    st.integers(0, 4000),
    st.none() | st.integers(-10, 4000),
    st.integers(0, 1000),
)
@settings(max_examples=200, deadline=None)
def test_once_due_it_stays_due_and_less_worth_is_due_before(
    importance: float, used: int, age: int, learned: int, ended: int | None, later: int
) -> None:
    memory = replace(
        NOISE,
        importance=importance,
        used=used,
        valid_at=NOW - age * DAY,
        created_at=NOW - learned * DAY,
        last_used_at=NOW - min(age, 100) * DAY if used else None,
        invalid_at=None if ended is None else NOW - ended * DAY,
    )
    if is_due(memory, NOW, RULES):
        assert is_due(memory, NOW + later * DAY, RULES)
        assert is_due(replace(memory, importance=importance / 2), NOW, RULES)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 300)), max_size=60), st.integers(1, 9), st.integers(1, 500)
)
@settings(max_examples=100, deadline=None)
def test_batches_hold_everything_once_in_order_of_time_and_within_their_bounds(
    drawn: list[tuple[int, int]], rows: int, size: int
) -> None:
    memories = [
        replace(NOISE, id=UUID(int=number), valid_at=NOW - day * DAY, size_bytes=each)
        for number, (day, each) in enumerate(drawn)
    ]
    made = list(batches(memories, rows, size))
    flat = [one for batch in made for one in batch]
    assert flat == sorted(memories, key=lambda one: (one.valid_at, one.id))
    assert all(batch for batch in made)
    assert all(len(batch) <= rows for batch in made)
    assert all(len(batch) == 1 or sum(one.size_bytes for one in batch) <= size for batch in made)


@given(st.lists(st.dictionaries(st.integers(0, 999_999_999), st.floats(0.5, 1.875, width=32), max_size=5), max_size=4))
@settings(max_examples=50, deadline=None)
def test_vectors_as_pgvector_sends_them_become_little_endian(drawn: list[dict[int, float]]) -> None:
    sent = [SparseVector(each, 1_000_000_000).to_binary()[SPARSE_HEADER:] for each in drawn]
    for each, numbers in zip(drawn, swapped(sent, 4), strict=True):
        half = len(numbers) // 2
        assert np.frombuffer(numbers[:half], "<i4").tolist() == sorted(each)
        assert np.frombuffer(numbers[half:], "<f4").tolist() == [each[index] for index in sorted(each)]
    values = np.linspace(-1, 1, 5, dtype=np.float32)
    [halves] = swapped([HalfVector(values).to_binary()[HALF_HEADER:]], 2)
    assert np.frombuffer(halves, "<f2").tolist() == values.astype(np.float16).tolist()
