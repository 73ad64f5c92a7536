"""What is the same: the labelled pairs of the bench, and what holds for any statements."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import Assertion
from cortex_decision import Statement
from cortex_sleep.duplicates import NEAR, Candidate, merges, order, same
from cortex_sleep.wording import worded

PAIRS = Path(__file__).parents[2] / "bench" / "duplicate_pairs"
AT = datetime(2026, 3, 1, tzinfo=UTC)
# Least recall of each half by language; precision is 1 on both.
RECALL = {"dev": {"en": 1.0, "ar": 0.85, "mixed": 1.0}, "held_out": {"en": 0.8, "ar": 0.7, "mixed": 0.0}}


def said(text: str, number: int = 1, at: datetime = AT, **fields: Any) -> Candidate:
    rest: dict[str, Any] = {
        "owner": fields.pop("owner", "me"),
        "importance": fields.pop("importance", 0.5),
        "uses": fields.pop("uses", 0),
    }
    fields.setdefault("session", "one")
    return Candidate(UUID(int=number), Statement(UUID(int=number), text, at, **fields), **rest)


def side(given: dict[str, Any], number: int, day: str) -> Candidate:
    claims = tuple(Assertion(subject=s, attribute=a, value=v) for s, a, v in given.get("assertions", ()))
    at = datetime.fromisoformat(given.get("at", day)).replace(tzinfo=UTC)
    return said(
        given["text"],
        number,
        at,
        speaker=given.get("speaker"),
        session=given.get("session", "one"),
        assertions=claims,
    )


def pairs(half: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PAIRS / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("half", RECALL)
def test_nothing_of_the_labelled_pairs_is_merged_wrongly_and_most_duplicates_are_found(half: str) -> None:
    known = pairs(half)
    found = {
        pair["id"]: same(side(pair["one"], 1, "2026-03-01"), side(pair["other"], 2, "2026-04-01"), 1.0)
        for pair in known
    }
    assert [pair["id"] for pair in known if found[pair["id"]] and pair["label"] == "different"] == []
    for language, least in RECALL[half].items():
        labelled = [found[p["id"]] for p in known if p["label"] == "same" and p["language"] == language]
        assert sum(labelled) >= least * len(labelled)


def test_the_labelled_pairs_are_many_and_their_traps_too() -> None:
    known = [pair for half in RECALL for pair in pairs(half)]
    assert len(known) >= 120
    assert sum(pair["label"] == "different" for pair in known) >= 100
    assert sum(pair["language"] != "en" for pair in known) >= len(known) / 4


def test_other_words_need_near_vectors_and_the_same_words_do_not() -> None:
    one, other = said("The queue retries three times"), said("The queue retries 3 times.", 2)
    assert same(one, other, NEAR)
    assert not same(one, other, NEAR - 0.01)
    assert not same(one, other, None)
    assert same(one, said("the queue retries three times!", 2), None)


def test_what_nobody_is_named_to_have_said_of_himself_is_one_by_its_writer_only() -> None:
    one = said("I am allergic to penicillin", session=None)
    assert same(one, said("I am allergic to penicillin", 2, session=None), None)
    assert not same(one, said("I am allergic to penicillin", 2, session=None, owner="you"), None)
    assert not same(one, said("I am allergic to penicillin", 2, session=None, speaker="Nadia"), None)


def test_prose_is_one_only_if_all_of_it_is() -> None:
    prose = "The harbour licence names nine berths and the rules for each of them. " * 20
    assert same(said(prose), said(f" {prose}\n", 2), None)
    assert not same(said(prose), said(prose.replace("nine", "ten", 1), 2), 1.0)


def test_events_are_one_within_a_day_and_what_a_word_dates_on_one_date() -> None:
    evening = AT.replace(hour=23)
    for text, apart, expected in (
        ("The import failed with a timeout", timedelta(hours=20), True),
        ("The import failed with a timeout", timedelta(hours=25), False),
        ("Rui is on leave today", timedelta(minutes=30), True),
        ("Rui is on leave today", timedelta(hours=2), False),
        ("Rui is on the night shift", timedelta(days=900), True),
    ):
        assert same(said(text, 1, evening), said(text, 2, evening + apart), None) is expected, text


def test_the_best_stays() -> None:
    text = "The release branch is 4.2"
    first, later = said(text, 1), said(text, 2, AT + timedelta(days=9))
    longer = said("The release branch is, currently, 4.2", 3, AT + timedelta(days=9))
    used, asked = said(text, 4, AT + timedelta(days=9), uses=3), said(text, 5, importance=0.9)
    ranked = [asked, used, longer, first, later]
    assert sorted([later, asked, longer, first, used], key=order) == ranked
    for given_order in permutations(ranked):
        [merge] = merges(given_order, lambda one, other: same(one, other, 1.0))
        assert (merge.best, merge.others) == (asked, (used, longer, first, later))


WORDS = st.lists(
    st.sampled_from(
        "the a queue retries 3 three times not ana omar is was keys key on off berlin now , . : 5 minutes min "
        "الخادم يعمل على لا المنفذ".split()
    ),
    max_size=9,
).map(" ".join)
SAID = st.builds(
    lambda text, at, speaker: said(text, 1, AT + timedelta(hours=at), speaker=speaker),
    WORDS,
    st.integers(0, 60),
    st.sampled_from([None, "Ana", "Omar"]),
)


@settings(deadline=None, max_examples=300)
@given(SAID, SAID)
def test_sameness_is_mutual_and_shows_in_the_key(one: Candidate, other: Candidate) -> None:
    found = same(one, other, 1.0)
    assert found == same(other, one, 1.0)
    if found:
        assert worded(one.statement).key == worded(other.statement).key


@settings(deadline=None, max_examples=100)
@given(st.lists(SAID, max_size=8), st.randoms())
def test_each_of_several_is_kept_or_merged_once_whatever_their_order(some: list[Candidate], random: Any) -> None:
    known = [Candidate(UUID(int=n), c.statement, c.owner, c.importance, c.uses) for n, c in enumerate(some)]
    found = merges(known, lambda one, other: same(one, other, 1.0))
    others = [other.id for merge in found for other in merge.others]
    assert len(others) == len(set(others))
    assert not {merge.best.id for merge in found} & set(others)
    shuffled = list(known)
    random.shuffle(shuffled)
    assert merges(shuffled, lambda one, other: same(one, other, 1.0)) == found


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("favourite", "favorite"),
        ("colour", "color"),
        ("centre", "center"),
        ("organises", "organizes"),
        ("catalogue", "catalog"),
        ("cancelled", "canceled"),
        ("organisation", "organization"),
    ],
)
def test_british_and_american_spelling_is_one(british: str, american: str) -> None:
    assert same(said(f"The {british} of the mill"), said(f"The {american} of the mill", 2), 1.0)


@pytest.mark.parametrize(("one", "other"), [("filling", "filing"), ("holly", "holy"), ("prise", "prize")])
def test_words_that_only_look_like_two_spellings_are_two(one: str, other: str) -> None:
    assert not same(said(f"The {one} of the mill"), said(f"The {other} of the mill", 2), 1.0)
