"""Values of one kind: when they are the same, when they exclude each other, and when both can be true."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.assertions import Relation
from cortex_gateway.assertions.mentions import Mention, merged
from cortex_gateway.assertions.states import STATES, compare
from cortex_gateway.assertions.values import Value, bones
from cortex_gateway.assertions.values import compare as compare_values
from cortex_gateway.assertions.words import words


def value(text: str) -> Value:
    (found,) = [item.value for item in merged(words(text)) if isinstance(item, Mention)]
    return found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("5 min", "300 s", Relation.SAME),
        ("1 GB", "1024 MB", Relation.SAME),
        ("1 GB", "1000 MB", Relation.SAME),
        ("1 GiB", "1024 MB", Relation.SAME),
        ("1 GB", "2 GB", Relation.CONFLICT),
        ("40%", "0.4", Relation.SAME),
        ("40%", "40", Relation.SAME),
        ("40%", "50", Relation.CONFLICT),
        ("1.5 h", "90 minutes", Relation.SAME),
        ("5 EUR", "5 USD", Relation.UNRELATED),
        ("30 s", "4 GB", Relation.UNRELATED),
        ("at least 8 GB", "16 GB", Relation.UNRELATED),
        ("at least 32 GB", "16 GB", Relation.CONFLICT),
        ("at least 8 GB", "at least 16 GB", Relation.CONFLICT),
        ("up to 10", "15", Relation.CONFLICT),
        ("between 10 and 20", "15", Relation.UNRELATED),
        ("10-20 s", "25 s", Relation.CONFLICT),
        ("about 40 min", "42 min", Relation.UNRELATED),
        ("about 40 min", "40 min", Relation.SAME),
        ("about 40 min", "3 hours", Relation.CONFLICT),
        ("80 and 443", "80", Relation.UNRELATED),
        ("80 and 443", "443, 80", Relation.SAME),
        ("1,200", "1200", Relation.SAME),
        ("5k", "5000", Relation.SAME),
        ("thirty-five", "35", Relation.SAME),
        ("٣٠ ثانية", "30 s", Relation.SAME),
        ("ثلاث ساعات", "180 دقيقة", Relation.SAME),
        ("خمسة وعشرون", "25", Relation.SAME),
        ("v1.2", "1.2.0", Relation.SAME),
        ("v1.2.0", "v1.2.1", Relation.CONFLICT),
        ("v3.1.0", "v3.10.0", Relation.CONFLICT),
        ("v2.0.0", "v2.0.0-rc1", Relation.CONFLICT),
        ("2026-03-01", "1 March 2026", Relation.SAME),
        ("March 1, 2026", "1 مارس 2026", Relation.SAME),
        ("2026-03-01", "March 2026", Relation.SAME),
        ("2026-03-01", "2026-03-02", Relation.CONFLICT),
        ("4/2/2027", "4 February 2027", Relation.SAME),
        ("4/2/2027", "2 April 2027", Relation.SAME),
        ("4/2/2027", "4 May 2027", Relation.CONFLICT),
        ("كانون الثاني 2027", "January 2027", Relation.SAME),
        ("Monday", "Tuesday", Relation.CONFLICT),
        ("Monday", "3 May", Relation.UNRELATED),
        ("9 am", "09:00", Relation.SAME),
        ("9 pm", "21:00", Relation.SAME),
        ("9 am", "9 pm", Relation.CONFLICT),
        ("noon", "12:00", Relation.SAME),
    ],
)  # fmt: skip
def test_values_are_compared_by_what_they_mean(one: str, other: str, expected: Relation) -> None:
    assert compare_values(value(one), value(other)) is expected
    assert compare_values(value(other), value(one)) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("running", "active", Relation.SAME),
        ("running", "stopped", Relation.CONFLICT),
        ("degraded", "running", Relation.UNRELATED),
        ("healthy", "stopped", Relation.CONFLICT),
        ("open", "closed", Relation.CONFLICT),
        ("open", "running", Relation.UNRELATED),
        ("متوقف", "stopped", Relation.SAME),
        ("مغلق", "open", Relation.CONFLICT),
    ],
)
def test_states_exclude_each_other_on_their_axes(one: str, other: str, expected: Relation) -> None:
    assert compare(STATES[one], STATES[other]) is expected


def test_a_denied_state_is_its_opposite_where_there_are_two() -> None:
    assert compare(STATES["stopped"].negated(), STATES["running"]) is Relation.SAME
    assert compare(STATES["stopped"].negated(), STATES["stopped"]) is Relation.CONFLICT
    assert compare(STATES["approved"].negated(), STATES["pending"]) is Relation.UNRELATED


@settings(deadline=None)
@given(st.sampled_from(sorted(STATES)), st.sampled_from(sorted(STATES)))
def test_states_are_compared_without_sides_and_agree_with_themselves(one: str, other: str) -> None:
    assert compare(STATES[one], STATES[other]) is compare(STATES[other], STATES[one])
    assert compare(STATES[one], STATES[one]) is Relation.SAME
    assert compare(STATES[one], STATES[one].negated()) is Relation.CONFLICT


@pytest.mark.parametrize(
    ("latin", "arabic"), [("Sami", "سامي"), ("Omar", "عمر"), ("Khaled", "خالد"), ("Layla", "ليلى")]
)
def test_names_sound_alike_in_both_scripts(latin: str, arabic: str) -> None:
    assert bones(latin) == bones(arabic)
