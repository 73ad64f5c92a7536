"""Which statements are about one thing."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.consolidation.topics import LARGEST, Statement, Topics

FLOOR, SPAN = 0.8, 0.15


def statement(number: int, words: str, vector: tuple[float, ...] | None = None) -> Statement:
    unit = None if vector is None else np.asarray(vector, np.float32) / np.linalg.norm(vector)
    return Statement(UUID(int=number), {hash(word) % 1000: 1.0 for word in words.split()}, unit)


def topics(*known: tuple[int, Statement]) -> Topics:
    made = Topics(FLOOR, SPAN)
    for topic, one in known:
        made.add(UUID(int=topic), one)
    return made


def test_the_first_statement_begins_a_topic() -> None:
    assert topics().nearest(statement(1, "bread oven")) is None


def test_a_statement_joins_what_it_shares_words_and_meaning_with() -> None:
    known = topics((100, statement(1, "bread oven flour", (1, 0, 0))), (200, statement(2, "violin concert", (0, 1, 0))))
    assert known.nearest(statement(3, "bread flour yeast", (1, 0.1, 0))) == UUID(int=100)
    assert known.nearest(statement(3, "violin bow concert", (0, 1, 0.1))) == UUID(int=200)
    assert known.nearest(statement(3, "harbour boat", (0, 0, 1))) is None


def test_meaning_alone_is_not_enough() -> None:
    known = topics((100, statement(1, "bread oven", (1, 0, 0))))
    assert known.nearest(statement(2, "violin concert", (1, 0, 0))) is None


def test_without_a_vector_words_decide() -> None:
    known = topics((100, statement(1, "bread oven flour")), (200, statement(2, "violin concert", (0, 1, 0))))
    assert known.nearest(statement(3, "bread flour", (0, 1, 0))) == UUID(int=100)


def test_of_equals_the_first_topic_is_joined() -> None:
    known = topics((200, statement(1, "bread oven")), (100, statement(2, "bread oven")))
    assert known.nearest(statement(3, "bread oven")) == UUID(int=200)


def test_a_topic_that_is_full_takes_no_more() -> None:
    known = topics(*((100, statement(n, "bread oven")) for n in range(LARGEST)))
    assert known.nearest(statement(99, "bread oven")) is None


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.lists(st.sampled_from("a b c d e f g".split()), max_size=4),
            st.one_of(st.none(), st.tuples(st.floats(0.1, 1), st.floats(0.1, 1))),
        ),
        max_size=80,
    )
)
@settings(deadline=None, max_examples=60)
def test_the_nearest_is_a_topic_that_shares_a_word(
    rows: list[tuple[int, list[str], tuple[float, float] | None]],
) -> None:
    made = Topics(FLOOR, SPAN)
    words: dict[UUID, set[str]] = {}
    for number, (topic, said, vector) in enumerate(rows):
        one = Statement(
            UUID(int=number + 1),
            {ord(word): 1.0 for word in said},
            None if vector is None else np.asarray(vector, np.float32) / np.float32(np.linalg.norm(vector)),
        )
        nearest = made.nearest(one)
        assert nearest is None or words[nearest] & set(said)
        made.add(UUID(int=topic), one)
        words.setdefault(UUID(int=topic), set()).update(said)
    assert len(made) == len(rows)
