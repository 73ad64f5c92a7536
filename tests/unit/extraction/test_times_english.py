"""English time expressions, asked at noon of Wednesday 11 June 2025 in Berlin; "…" is an open side."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from cortex_extraction.times import OPEN_END, OPEN_START, mentioned_dates, understand

NOW = datetime(2025, 6, 11, 12, tzinfo=ZoneInfo("Europe/Berlin"))

READ = [
    ("What did Caroline say last March?", "2025-03-01", "2025-04-01", "on"),
    ("since Tuesday", "2025-06-10", "…", "since"),
    ("before the launch on 2025-04-03", "…", "2025-04-03", "before"),
    ("What did we do in 2023?", "2023-01-01", "2024-01-01", "on"),
    ("on 7 May 2023", "2023-05-07", "2023-05-08", "on"),
    ("on May 7th", "2025-05-07", "2025-05-08", "on"),
    ("three weeks ago", "2025-05-19", "2025-05-26", "on"),
    ("last week", "2025-06-02", "2025-06-09", "on"),
    ("in the last 10 days", "2025-06-01", "2025-06-12", "on"),
    ("this year", "2025-01-01", "2026-01-01", "on"),
    ("Q3 2024", "2024-07-01", "2024-10-01", "on"),
    ("summer 2022", "2022-06-01", "2022-09-01", "on"),
    ("between March and May 2024", "2024-03-01", "2024-06-01", "between"),
    ("between november and february 2024", "2023-11-01", "2024-03-01", "between"),
    ("from 2019 to 2021", "2019-01-01", "2022-01-01", "between"),
    ("from Monday to Wednesday", "2025-06-09", "2025-06-12", "between"),
    ("What did I do two weeks before the trip on May 7?", "2025-04-21", "2025-04-28", "on"),
    ("the week before 27 June 2024", "2024-06-17", "2024-06-24", "on"),
    ("after 2023", "2024-01-01", "…", "since"),
    ("by June 2024", "…", "2024-07-01", "before"),
    ("since the start of the year", "2025-01-01", "…", "since"),
    ("from May 2024 onwards", "2024-05-01", "…", "since"),
    ("early May", "2025-05-01", "2025-05-11", "on"),
    ("mid-2023", "2023-05-01", "2023-09-01", "on"),
    ("winter 2022", "2022-12-01", "2023-03-01", "on"),
    ("earlier this week", "2025-06-09", "2025-06-12", "on"),
    ("later this week", "2025-06-11", "2025-06-16", "on"),
    ("earlier this year", "2025-01-01", "2025-06-12", "on"),
    ("in the past few days", "2025-06-06", "2025-06-12", "on"),
    ("the week before last", "2025-05-26", "2025-06-02", "on"),
    ("day before yesterday", "2025-06-09", "2025-06-10", "on"),
    ("yesterday", "2025-06-10", "2025-06-11", "on"),
    ("Tuesday last week", "2025-06-03", "2025-06-04", "on"),
    ("the fourth of July 2024", "2024-07-04", "2024-07-05", "on"),
    ("May 3-7, 2023", "2023-05-03", "2023-05-08", "on"),
    ("March–May 2024", "2024-03-01", "2024-06-01", "between"),
    ("2025-W14", "2025-03-31", "2025-04-07", "on"),
    ("week 14 of 2025", "2025-03-31", "2025-04-07", "on"),
    ("13/4/2025", "2025-04-13", "2025-04-14", "on"),
    ("4/13/2025", "2025-04-13", "2025-04-14", "on"),
    ("3.4.2025", "2025-04-03", "2025-04-04", "on"),
    ("in 2019-2021", "2019-01-01", "2022-01-01", "on"),
    ("a couple of weeks ago", "2025-05-19", "2025-06-02", "on"),
    ("What happened in May?", "2025-05-01", "2025-06-01", "on"),
    ("who visited in the last year?", "2024-06-11", "2025-06-12", "on"),
    ("since we talked - last week I ran", "2025-06-02", "2025-06-09", "on"),
    ("who was it named after in 2019?", "2019-01-01", "2020-01-01", "on"),
    ("on Tuesday", "2025-06-10", "2025-06-11", "on"),
    ("next Friday", "2025-06-13", "2025-06-14", "on"),
    ("this Friday", "2025-06-13", "2025-06-14", "on"),
    ("last Sunday", "2025-06-08", "2025-06-09", "on"),
    ("on Sat", "2025-06-07", "2025-06-08", "on"),
    ("today", "2025-06-11", "2025-06-12", "on"),
    ("tonight", "2025-06-11", "2025-06-12", "on"),
    ("last night", "2025-06-10", "2025-06-11", "on"),
    ("tomorrow", "2025-06-12", "2025-06-13", "on"),
    ("the day after tomorrow", "2025-06-13", "2025-06-14", "on"),
    ("an hour ago", "2025-06-11", "2025-06-12", "on"),
    ("13 months ago", "2024-05-01", "2024-06-01", "on"),
    ("two years ago", "2023-01-01", "2024-01-01", "on"),
    ("5 days from now", "2025-06-16", "2025-06-17", "on"),
    ("next 3 days", "2025-06-11", "2025-06-15", "on"),
    ("past two weeks", "2025-05-28", "2025-06-12", "on"),
    ("the last 24 hours", "2025-06-10", "2025-06-12", "on"),
    ("last 3 months", "2025-03-11", "2025-06-12", "on"),
    ("this month", "2025-06-01", "2025-07-01", "on"),
    ("next quarter", "2025-07-01", "2025-10-01", "on"),
    ("last quarter", "2025-01-01", "2025-04-01", "on"),
    ("last weekend", "2025-06-07", "2025-06-09", "on"),
    ("this past weekend", "2025-06-07", "2025-06-09", "on"),
    ("end of last month", "2025-05-21", "2025-06-01", "on"),
    ("the end of 2024", "2024-09-01", "2025-01-01", "on"),
    ("early 2020", "2020-01-01", "2020-05-01", "on"),
    ("in the 1990s", "1990-01-01", "2000-01-01", "on"),
    ("in Q3", "2024-07-01", "2024-10-01", "on"),
    ("first quarter of 2024", "2024-01-01", "2024-04-01", "on"),
    ("the second half of 2023", "2023-07-01", "2024-01-01", "on"),
    ("H1 2024", "2024-01-01", "2024-07-01", "on"),
    ("last summer", "2024-06-01", "2024-09-01", "on"),
    ("since last summer", "2024-06-01", "…", "since"),
    ("summer of last year", "2024-06-01", "2024-09-01", "on"),
    ("March of last year", "2024-03-01", "2024-04-01", "on"),
    ("7th of May, 2023", "2023-05-07", "2023-05-08", "on"),
    ("Monday, 7 April 2025", "2025-04-07", "2025-04-08", "on"),
    ("May the 4th", "2025-05-04", "2025-05-05", "on"),
    ("2025-04-03T10:00:00Z", "2025-04-03", "2025-04-04", "on"),
    ("in 2025-04", "2025-04-01", "2025-05-01", "on"),
    ("since the release in March 2024", "2024-03-01", "…", "since"),
    ("after the launch on 2025-04-03", "2025-04-03", "…", "since"),
    ("after May 7", "2025-05-08", "…", "since"),
    ("until last Friday", "…", "2025-06-07", "before"),
    ("from Tuesday on", "2025-06-10", "…", "since"),
    ("between May 3 and May 7", "2025-05-03", "2025-05-08", "between"),
    ("from 3 to 7 May 2023", "2023-05-03", "2023-05-08", "on"),
    ("from 2025-04-01 to 2025-04-10", "2025-04-01", "2025-04-11", "between"),
    ("What happened before the meeting last week?", "…", "2025-06-09", "before"),
    ("by the end of the year", "…", "2026-01-01", "before"),
    ("What did Sam do on Dec 12?", "2024-12-12", "2024-12-13", "on"),
    ("DECEMBER 2023", "2023-12-01", "2024-01-01", "on"),
    ("sept 2023", "2023-09-01", "2023-10-01", "on"),
    ("on 29 February", "2024-02-29", "2024-03-01", "on"),
    ("last May", "2025-05-01", "2025-06-01", "on"),
    ("this May", "2025-05-01", "2025-06-01", "on"),
    ("next May", "2026-05-01", "2026-06-01", "on"),
    ("since may", "2025-05-01", "…", "since"),
    ("before May", "…", "2025-05-01", "before"),
    ("a week ago", "2025-06-02", "2025-06-09", "on"),
    ("On Tuesday, what did we plan for Q3 2024?", "2025-06-10", "2025-06-11", "on"),
    ("ماذا حدث in March 2024؟", "2024-03-01", "2024-04-01", "on"),
]

NOT_READ = [
    "is port 9077 open?",
    "what does error 2019 mean",
    "v2024.1",
    "v2023.12.1",
    "2024.05",
    "since version 2024",
    "10.0.0.1",
    "the value is unchanged",
    "march on",
    "the march on the capital",
    "he may march in the sun",
    "marching with the mayor",
    "may I ask something?",
    "this may be late",
    "May the force be with you",
    "we sat in the sun",
    "On sat we agreed",
    "I sat down",
    "give me a second",
    "on the second floor",
    "the second try",
    "at last",
    "last name",
    "next step",
    "next.js",
    "the last of us",
    "the last three minutes of the game",
    "last year of school",
    'did he read "1984"?',
    "what is in `2024-01-05`?",
    'who sang "Yesterday" best?',
    "the book 1984",
    "room 2024 in building 9",
    "in 2048 tokens",
    "in 2000 words",
    "it costs $2023",
    "2023% more",
    "ticket #2023",
    "CVE-2024-0512",
    "/var/log/2024/05/06",
    "log-2024-05-06.txt",
    "call 2023-555-0199",
    "at 10:30",
    "HTTP 404",
    "on 30 February 2025",
    "3/4/2025",
    "every Tuesday",
    "on Good Friday",
    "wed in Vegas",
    "mon ami",
    "fall down",
    "spring boot",
    "Winter is coming",
    "what did April say?",
    "written by June",
    "named after April",
    "for three weeks",
    "5 years old",
    "10 days",
    "Q3",
    "1,984 users",
    "once upon a time",
    "",
    "?!",
]


@pytest.mark.parametrize(("question", "start", "end", "relation"), READ)
def test_a_time_is_read(question: str, start: str, end: str, relation: str) -> None:
    reading = understand(question, NOW)
    assert reading is not None
    assert reading.start.date() == (OPEN_START if start == "…" else date.fromisoformat(start))
    assert reading.end.date() == (OPEN_END if end == "…" else date.fromisoformat(end))
    assert reading.relation == relation
    assert reading.text in question


@pytest.mark.parametrize("question", NOT_READ)
def test_what_is_no_time_is_not_read(question: str) -> None:
    assert understand(question, NOW) is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What did Caroline say last March?", "last March"),
        ("What changed before the launch on 2025-04-03?", "before the launch on 2025-04-03"),
        ("And what came between March and May 2024, please?", "between March and May 2024"),
        ("I met her in 2023.", "2023"),
    ],
)
def test_the_words_of_the_time_are_told(question: str, words: str) -> None:
    reading = understand(question, NOW)
    assert reading is not None
    assert reading.text == words


def test_quotes_around_a_whole_question_hide_nothing() -> None:
    assert understand('"what happened last March?"', NOW) is not None


def test_a_day_of_a_clock_change_has_its_own_length() -> None:
    reading = understand("on 30 March 2025", NOW)
    assert reading is not None
    assert (reading.end.timestamp() - reading.start.timestamp()) == 23 * 3600


def test_where_clocks_skip_midnight_the_day_starts_with_its_first_moment() -> None:
    reading = understand("on 26 April 2024", NOW.astimezone(ZoneInfo("Africa/Cairo")))
    assert reading is not None
    assert reading.start.isoformat() == "2024-04-26T01:00:00+03:00"


def test_today_is_the_day_of_the_callers_zone() -> None:
    late = datetime(2025, 6, 11, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    here, there = understand("today", late), understand("today", late.astimezone(ZoneInfo("Asia/Tokyo")))
    assert here is not None
    assert there is not None
    assert (here.start.day, there.start.day) == (11, 12)


def test_a_month_that_has_begun_is_this_years_and_one_to_come_last_years() -> None:
    readings = [understand(f"in {month}", NOW) for month in ("June", "July")]
    assert [reading.start.year for reading in readings if reading] == [2025, 2024]


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        understand("today", NOW.replace(tzinfo=None))


def test_dates_with_their_year_are_mentioned() -> None:
    text = "Met on 7 May 2023 and 2025-04-03, again in March 2024; not on 30 February 2024, in June or on port 2024."
    assert mentioned_dates(text) == (
        ("7 May 2023", "2023-05-07"),
        ("2025-04-03", "2025-04-03"),
        ("March 2024", "2024-03"),
    )
