"""What maintenance plans: every file once, small ones together, and nothing that somebody may need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.iceberg import planning
from cortex_sleep.iceberg.planning import KnownSnapshot, StoredFile

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class File:
    path: str
    org: str
    namespace: str
    month: str
    size_bytes: int
    first_valid_at: datetime


FILES = st.lists(
    st.builds(
        File,
        path=st.uuids().map(str),
        org=st.sampled_from(("a", "b")),
        namespace=st.sampled_from(("work", "home")),
        month=st.sampled_from(("2024-01", "2024-02")),
        size_bytes=st.integers(1, planning.TARGET_BYTES * 2),
        first_valid_at=st.integers(0, 1000).map(lambda hours: NOW - timedelta(hours=hours)),
    ),
    max_size=60,
    unique_by=lambda file: file.path,
)
SMALL = FILES.map(lambda files: [replace(file, size_bytes=file.size_bytes % 3_000_000 + 1) for file in files])


@settings(max_examples=100, deadline=None)
@given(FILES | SMALL)
def test_a_join_takes_small_files_of_one_month_and_makes_no_large_one(files: list[File]) -> None:
    known = {file.path: file for file in files}
    planned = planning.joins(files)
    for join in planned:
        joined = [known[path] for path in join.paths]
        assert {(file.org, file.namespace, file.month) for file in joined} == {(join.org, join.namespace, join.month)}
        assert planning.FEWEST <= len(joined) <= planning.MOST
        assert max(file.size_bytes for file in joined) < planning.SMALL_BYTES
        assert sum(file.size_bytes for file in joined) <= planning.TARGET_BYTES
        assert joined == sorted(joined, key=lambda file: (file.first_valid_at, file.path))
    paths = [path for join in planned for path in join.paths]
    assert len(paths) == len(set(paths))


@settings(max_examples=50, deadline=None)
@given(SMALL)
def test_joining_ends(files: list[File]) -> None:
    """Each round makes one file of each join; after a few there is nothing to join."""
    for round_number in range(4):
        planned = planning.joins(files)
        if not planned:
            break
        gone = {path for join in planned for path in join.paths}
        sizes = {file.path: file for file in files}
        files = [file for file in files if file.path not in gone] + [
            File(
                f"{round_number}-{number}",
                join.org,
                join.namespace,
                join.month,
                sum(sizes[path].size_bytes for path in join.paths),
                min(sizes[path].first_valid_at for path in join.paths),
            )
            for number, join in enumerate(planned)
        ]
    assert planning.joins(files) == []


@given(
    st.lists(
        st.builds(
            StoredFile,
            path=st.sampled_from("abcdefgh"),
            size_bytes=st.integers(0, 9),
            changed_at=st.integers(0, 200).map(lambda hours: NOW - timedelta(hours=hours)),
        )
    ),
    st.frozensets(st.sampled_from("abcdefgh")),
    st.integers(0, 100).map(lambda hours: timedelta(hours=hours)),
)
def test_an_orphan_is_referred_to_by_nobody_and_old(
    stored: list[StoredFile], referred: frozenset[str], age: timedelta
) -> None:
    gone = planning.orphans(stored, referred, NOW, age)
    for file in stored:
        old = file.changed_at < NOW - age and file.changed_at < NOW - planning.LEAST_ORPHAN_AGE
        assert (file in gone) == (old and file.path not in referred)


def snapshots(*days_ago: float) -> list[KnownSnapshot]:
    return [
        KnownSnapshot(number, NOW - days * DAY, is_current=number == len(days_ago) - 1)
        for number, days in enumerate(days_ago)
    ]


def test_a_snapshot_stays_as_long_as_a_reader_may_have_begun_on_it() -> None:
    # The second one was what everybody read until 2 days ago.
    assert planning.expired(snapshots(30, 20, 2), NOW, 3 * DAY) == [0]
    assert planning.expired(snapshots(30, 20, 2), NOW, 1 * DAY) == [0, 1]
    assert planning.expired(snapshots(30), NOW, DAY) == []
    assert planning.expired([], NOW, DAY) == []


def test_the_current_snapshot_stays_even_after_a_rollback() -> None:
    rolled_back = [KnownSnapshot(1, NOW - 9 * DAY, True), KnownSnapshot(2, NOW - 8 * DAY, False)]
    assert planning.expired(rolled_back, NOW, DAY) == []
