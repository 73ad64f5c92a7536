"""What holds for every question, moment and zone."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_extraction.entities import candidates, extract
from cortex_extraction.times import MAX_QUESTION, mentioned_dates, understand

ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Pacific/Kiritimati")]
TIMES = [
    "last March",
    "since Tuesday",
    "three weeks ago",
    "in 2023",
    "between March and May 2024",
    "before the launch on 2025-04-03",
    "early last year",
    "on 29 February",
    "the last 10 days",
    "next weekend",
    "في مارس الماضي",
    "منذ الثلاثاء",
    "قبل ثلاثة أسابيع",
    "يوم ٣ أبريل ٢٠٢٥",
]
WORDS = (
    "last this next since before after between from to and on in the of a few three 9999 31 29 2024 0 may march "
    "february sun week month year decade quarter days ago early end first half q3 summer monday tues 2025-02-30 "
    '.. - – « » " ` منذ قبل بعد بين من إلى و في مارس آب الثلاثاء أسبوعين أيام الماضي القادم هذا عام ٢٠٢٤ ٣ يوم شهر آخر '
    "اليوم \ud800 İ ﷺ ②"
).split(" ")
moments = st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2150, 1, 1)).flatmap(
    lambda naive: st.sampled_from(ZONES).map(lambda zone: naive.replace(tzinfo=zone))
)
questions = st.text(st.characters(), max_size=80) | st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(questions, moments)
def test_any_text_is_read_the_same_twice_as_whole_days_in_order(question: str, now: datetime) -> None:
    reading = understand(question, now)
    assert reading == understand(question, now)
    if reading is not None:
        assert reading.start.astimezone(UTC) < reading.end.astimezone(UTC)
        assert reading.text
        assert reading.text in question
        assert reading.start.tzinfo is now.tzinfo


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(TIMES), moments, st.sampled_from(["", "? ", "(", "... ", "، ", "«» "]), st.sampled_from("?!.,;:)؟،")
)
def test_punctuation_around_a_time_changes_nothing(words: str, now: datetime, before: str, after: str) -> None:
    plain, dressed = understand(words, now), understand(f"{before}{words}{after}", now)
    assert plain is not None
    assert dressed == plain


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(TIMES), moments, st.sampled_from(ZONES))
def test_the_same_wall_clock_elsewhere_means_the_same_days(words: str, now: datetime, zone: ZoneInfo) -> None:
    here, there = understand(words, now), understand(words, now.replace(tzinfo=zone))
    assert here is not None
    assert there is not None
    assert (here.start.date(), here.end.date()) == (there.start.date(), there.end.date())


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=200) | questions, st.none() | st.text(max_size=10))
def test_extraction_takes_any_text_and_repeats_itself(text: str, speaker: str | None) -> None:
    entities = extract(text, speaker=speaker)
    assert entities == extract(text, speaker=speaker)
    keys = [entity.key for entity in entities]
    assert len(set(keys)) == len(keys) <= 32
    assert all(keys)
    assert len(candidates(text)) <= 120


HOSTILE = (
    'a|A |9|1 |[[|"|«|-a|a-1|/a|a.|a@|http://|last |between |\t|aA|_a|in 2024 |السيد |منذ |و|قبل أسبوع |Of the |Dr. '
).split("|")


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_costs_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begin = time.process_time()
    extract(text)
    mentioned_dates(text)
    candidates(text)
    understand(text, datetime(2025, 6, 11, tzinfo=UTC))
    assert time.process_time() - begin < 20  # a quadratic step takes minutes


def test_a_date_far_inside_a_pasted_document_is_not_the_questions() -> None:
    now = datetime(2025, 6, 11, tzinfo=UTC)
    assert understand("x" * MAX_QUESTION + " on 7 May 2023", now) is None
