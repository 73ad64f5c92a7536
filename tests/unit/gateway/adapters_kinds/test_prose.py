"""Results that come as a page of text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.prose import prose

HEADINGS = """Found 2 results for crane:

### 1. yard/crane.md (score: 0.83)
Modified: 2026-08-01

# The crane
status: stopped

---
### 2. yard/night.md (score: 0.31)

The night shift begins at ten.
"""
NUMBERS = """[1] Source: yard/crane.md
Score: 0.83
The crane is stopped.

[2] Source: yard/night.md
Score: 31%
The night shift begins at ten.
"""
RULES = """**File:** yard/crane.md
**Distance:** 0.17
The crane is stopped.
---
**File:** yard/night.md
**Distance:** 0.69
The night shift begins at ten.
"""
WORDS = """Result 1: yard/crane.md, similarity 0.83
The crane is stopped.
Result 2: yard/night.md, similarity 0.31
The night shift begins at ten.
"""


@pytest.mark.parametrize("page", [HEADINGS, NUMBERS, RULES, WORDS])
def test_every_result_of_a_page_is_one_with_its_place_and_score(page: str):
    reading = prose(page)
    assert [one.path for one in reading.found] == ["yard/crane.md", "yard/night.md"]
    assert [one.score for one in reading.found] == ([0.17, 0.69] if page is RULES else [0.83, 0.31])
    assert reading.distance is (page is RULES)
    assert "stopped" in reading.found[0].text
    assert reading.found[1].text == "The night shift begins at ten."


def test_what_a_document_says_stays_in_it():
    first = prose(HEADINGS).found[0]
    assert first.text == "# The crane\nstatus: stopped"
    assert first.date is not None


@pytest.mark.parametrize(
    "text",
    ["", " \n", "No results found for your query.", "0 results", "Sorry, no matching documents found", "Nothing found.",
     "not found", "لا توجد نتائج", "No relevant context was found"],
)  # fmt: skip
def test_a_page_that_says_that_there_is_nothing_has_no_results(text: str):
    assert prose(text).found == ()


@pytest.mark.parametrize(
    "text",
    [
        "The crane has no results of its inspection yet.",
        "No smoking near the crane.",
        "None of the cranes works.",
        "No crane works at night, and none was found wanting.",
    ],
)
def test_a_sentence_with_such_words_is_one(text: str):
    assert [one.text for one in prose(text).found] == [text]


def test_a_document_with_headings_is_one_result():
    text = "# The crane\nIt stands at quay 7.\n\n## Repairs\nNone.\n"
    [found] = prose(text).found
    assert "quay 7" in found.text
    assert "Repairs" in found.text


@given(st.text(alphabet=st.sampled_from("#-*[]()1. \n:/ascore=%|"), max_size=400))
@settings(deadline=None, max_examples=300)
def test_any_text_is_read_without_failing(text: str):
    for one in prose(text).found:
        assert one.text.strip()


@pytest.mark.parametrize(
    "piece",
    ["a.", "\n", "- ", "a/", "a/b.md\n", "a:1:\n", "A: b\n\n", "(score ", "result\n", "---\n", "1. ", "**path** "],
)
def test_a_long_page_of_anything_is_read_in_time(piece: str):
    prose(piece * (200_000 // len(piece)))


HISTORY = """Commit history:
Commit: 4dd2b7dc
Author: Mona
Date: 2026-11-20T08:00:00+00:00
Message: Stop the crane

1. because of the wind
Commit: this is no paragraph


Commit: 30331dc6
Author: Omar
Date: 2026-10-01T08:00:00+00:00
Message: Grease the crane
"""


def test_a_list_without_marks_is_cut_at_its_first_label():
    one, other = prose(HISTORY).found
    assert "wind" in one.text
    assert "no paragraph" in one.text
    assert (one.date, other.date) == (datetime(2026, 11, 20, 8, tzinfo=UTC), datetime(2026, 10, 1, 8, tzinfo=UTC))
    assert "Grease" in other.text
    assert "wind" not in other.text


def test_a_document_with_labels_and_no_dates_places_or_scores_is_one_result():
    [found] = prose("Owner: Mona\nStatus: stopped\n\nOwner: Omar\nStatus: active\n").found
    assert "Omar" in found.text


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("/srv/yard/crane 7.md\n/srv/yard/night.md\n", ["/srv/yard/crane 7.md", "/srv/yard/night.md"]),
        ("yard/crane.md", ["yard/crane.md"]),
        ("[FILE] crane.md\n[DIR] yard/old/", ["crane.md", "yard/old/"]),
        (r"C:\yard\crane.md", [r"C:\yard\crane.md"]),
    ],
)
def test_a_list_of_files_is_a_result_for_each(text: str, paths: list[str]):
    assert [one.path for one in prose(text).found] == paths
    assert prose(text).found[0].text.endswith(("crane 7.md", "crane.md"))


def test_the_lines_that_grep_finds_are_a_result_for_each_file():
    text = "yard/crane.md:3:status: stopped\nyard/crane.md:9:since: May\n--\nyard/night.md:1:7:The shift: ten\n"
    assert [(one.path, one.text) for one in prose(text).found] == [
        ("yard/crane.md", "status: stopped\nsince: May"),
        ("yard/night.md", "The shift: ten"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "stopped",
        "Mona and/or Omar",
        "See yard/crane.md for that.",
        "/help shows every command",
        "10:30:00 the shift",
        "1.5",
    ],
)
def test_a_sentence_with_something_like_a_path_is_no_list_of_files(text: str):
    assert [one.text for one in prose(text).found] == [text]


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("### [docs:kb] crane.md#L1 — The crane (score: 7.1)", "[docs:kb] crane.md#L1 — The crane"),
        ("### [The crane] (score: 7.1)", "The crane"),
        ("### The crane (score: 0.8, chunk 3)", "The crane , chunk 3"),
        ("### **The crane (large)** [score 0.8]", "The crane (large)"),
    ],
)
def test_a_title_keeps_its_brackets_and_loses_those_of_the_score(head: str, title: str):
    found = prose(f"{head}\nIt is stopped.\n\n### Other (score: 0.2)\nSheep.").found
    assert (found[0].title, found[0].text) == (title, "It is stopped.")


def test_a_notice_below_the_last_result_is_not_its_text():
    page = HEADINGS + "\n---\n[notice]: No direct matches for term(s): who, stopped, night, quay.\n"
    assert [one.text for one in prose(page).found] == [one.text for one in prose(HEADINGS).found]
    alone = "## The crane (score: 0.8)\nIt is stopped.\n\n---\n[notice]: No direct matches for term(s): who\n"
    assert [one.text for one in prose(alone).found] == ["It is stopped."]
    kept = HEADINGS + "\n---\nThe day shift begins at six.\n"
    assert prose(kept).found[1].text.endswith("The day shift begins at six.")


def test_a_mark_inside_of_a_result_stays_in_it():
    [found] = prose("## The crane (score: 0.8)\nSteps:\n1. Stop it.\n2. Grease it.\n").found
    assert found.text == "Steps:\n1. Stop it.\n2. Grease it."
