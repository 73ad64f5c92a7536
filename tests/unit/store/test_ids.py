from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch
from uuid import RFC_4122

from cortex_store.ids import UuidGenerator, uuid7


def test_an_id_is_a_version_7_uuid_of_the_present() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7()
    after = time.time_ns() // 1_000_000
    assert made.version == 7
    assert made.variant == RFC_4122
    assert before <= made.int >> 80 <= after + 1


def test_ids_grow_strictly() -> None:
    made = [uuid7() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_grow_when_the_clock_steps_back() -> None:
    generator = UuidGenerator()
    with patch("cortex_store.ids.time.time_ns", side_effect=[5_000_000_000, 4_000_000_000, 5_000_000_000]):
        first, second, third = generator.next(), generator.next(), generator.next()
    assert first < second < third


def test_a_full_tail_moves_to_the_next_millisecond() -> None:
    generator = UuidGenerator()
    with (
        patch("cortex_store.ids.time.time_ns", return_value=5_000_000_000),
        patch("cortex_store.ids.secrets.randbits", side_effect=[(1 << 74) - 1, 0, 7]),
    ):
        first, second = generator.next(), generator.next()
    assert first < second
    assert (first.int >> 80, second.int >> 80) == (5_000, 5_001)
    assert second.version == 7


def test_threads_never_get_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: uuid7(), range(8_000)))
    assert len(set(made)) == 8_000
