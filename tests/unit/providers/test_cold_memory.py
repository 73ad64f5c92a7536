"""The checksum of a cold memory depends on every field of it, and on nothing else."""

from __future__ import annotations

import itertools
import random
from dataclasses import Field, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_providers.cold_memory import (
    ColdEntity,
    ColdMemory,
    ColdOccurrence,
    ColdRelation,
    checksum,
    combined,
    month_of,
    without,
)
from cortex_providers.cold_store import BatchProof
from cortex_testkit.cold_memories import cold_memory

FULL = cold_memory(14)
OTHER: dict[type, Any] = {
    UUID: UUID(int=1),
    str: "another",
    int: 77,
    float: 0.123,
    datetime: datetime(2001, 2, 3, tzinfo=UTC),
    bytes: b"\0\0\0\0",
    tuple: (),
}


@pytest.mark.parametrize("field", fields(ColdMemory), ids=lambda field: str(field.name))
def test_every_field_counts(field: Field[Any]) -> None:
    memory = replace(FULL, invalid_at=FULL.valid_at, superseded_by=UUID(int=3))
    value = getattr(memory, field.name)
    others = [OTHER[type(value)]]
    if "None" in str(field.type):
        others.append(None)
    if isinstance(value, tuple):
        others.append((*value, *value))
    assert value not in others
    checksums = [checksum(memory), *(checksum(replace(memory, **{field.name: other})) for other in others)]
    assert len(set(checksums)) == len(checksums)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("occurrences", ColdOccurrence(UUID(int=9), "chat", "r", "s", 1, "me", FULL.valid_at, "why")),
        ("entities", ColdEntity("key", "name", "kind", "role")),
        ("relations", ColdRelation("subject", "predicate", "object")),
    ],
)
def test_every_field_of_a_part_counts(name: str, parts: Any) -> None:
    seen = {checksum(replace(FULL, **{name: (parts,)}))}
    for field in fields(parts):
        other = OTHER[type(getattr(parts, field.name))]
        seen.add(checksum(replace(FULL, **{name: (replace(parts, **{field.name: other}),)})))
    assert len(seen) == len(fields(parts)) + 1


def test_text_cannot_be_moved_from_one_field_to_the_next() -> None:
    moved = replace(FULL, decision="ad", decision_reason="d" + FULL.decision_reason)
    assert checksum(moved) != checksum(FULL)
    packed = replace(FULL, terms=FULL.terms + FULL.impacts[:4], impacts=FULL.impacts[4:])
    assert checksum(packed) != checksum(FULL)


def test_the_same_moment_and_the_same_number_have_the_same_checksum() -> None:
    elsewhere = replace(FULL, valid_at=FULL.valid_at.astimezone(timezone(timedelta(hours=5))))
    assert checksum(elsewhere) == checksum(FULL)
    # What a 32-bit column gives back for it.
    assert checksum(replace(FULL, importance=0.1)) == checksum(replace(FULL, importance=0.10000000149011612))


def test_a_known_memory_keeps_its_checksum() -> None:
    """Batches that were proved years ago are proved again with it: it must never change."""
    assert checksum(cold_memory(5, id=UUID(int=5), document=None, importance=0.5)).hex() == (
        "b44ed37411ea686ea8261a91a9c9e95f3555daecc4b0c38a5cdcf91454de1a3d"
    )


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=6), st.randoms(use_true_random=False))
def test_a_batch_is_proved_in_any_order(checksums: list[bytes], chance: random.Random) -> None:
    shuffled = checksums[:]
    chance.shuffle(shuffled)
    assert combined(shuffled) == combined(checksums)
    assert BatchProof.of(iter(shuffled)) == BatchProof(len(checksums), combined(checksums))
    total = combined(checksums)
    for number, one in enumerate(shuffled, 1):
        total = without(total, one)
        assert total == combined(shuffled[number:])


def test_a_row_that_is_there_twice_or_missing_changes_the_batch() -> None:
    rows = [checksum(cold_memory(number)) for number in range(5)]
    parts = [list(part) for size in range(6) for part in itertools.combinations(rows, size)] + [[*rows, rows[0]]]
    assert len({combined(part) for part in parts}) == len(parts)


def test_the_month_is_that_of_utc() -> None:
    at = datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=3)))
    assert month_of(replace(FULL, valid_at=at)) == "2019-12"
    assert month_of(replace(FULL, valid_at=datetime(987, 6, 5, tzinfo=UTC))) == "0987-06"
