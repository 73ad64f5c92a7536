"""The fast way finds what the way of the index finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.word_places import places
from cortex_store import terms

WORDS = st.sampled_from(
    "crane cranes Crane policy policies stop stopped stopping service Services svc-auth-2 getUserById get_user user-id"
    " running runs run the a is yard/crane.md die dying 7 2026-11-01 رافعة الرافعة naïve café hopping hoping hope"
    " luxuriate luxuries generously general x.y:z #yard @alice".split()
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.lists(WORDS, max_size=4).map("-".join) | st.text(max_size=60)


@given(question=TEXTS, text=TEXTS)
@settings(deadline=None, max_examples=500)
def test_both_ways_find_the_same_words_at_the_same_places(question: str, text: str):
    wanted = terms.content_terms(question)
    assert list(places(text, wanted)) == list(terms.located(text, wanted))


@pytest.mark.parametrize("piece", ["crane-", "cran", "crane ", "."])
def test_a_long_text_of_anything_is_read_in_time(piece: str):
    list(places(piece * (100_000 // len(piece)), ("crane",)))
