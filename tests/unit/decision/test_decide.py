"""The write decision: what a new statement does to those already stored."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from uuid import UUID

import pytest

from cortex_contracts.messages.base import Assertion
from cortex_decision import Decision, Neighbour, Statement, Verdict, decide

MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5))


def said(
    text: str,
    number: int = 0,
    at: datetime = MARCH,
    speaker: str | None = None,
    session: str | None = "one",
    assertions: tuple[tuple[str, str, str], ...] = (),
) -> Statement:
    claims = tuple(Assertion(subject=s, attribute=a, value=v) for s, a, v in assertions)
    return Statement(UUID(int=number) if number else None, text, at, speaker, session, claims)


def after(old: str, new: str, speaker: str | None = None) -> Verdict:
    return decide(said(new, at=APRIL, speaker=speaker), [Neighbour(said(old, 1, speaker=speaker))])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The port is 9077.", "the port is  ٩٠٧٧", Decision.NOOP),
        ("The worker retries three times.", "The worker retries 3 times.", Decision.NOOP),
        ("يسكن سالم في بغداد.", "سالم يسكن في بغداد", Decision.NOOP),
        ("The port is 9077.", "The port is 9077?", Decision.ADD),
        ("x = 3", "x != 3", Decision.ADD),
        ("x ≤ 3", "x ≥ 3", Decision.ADD),
        ("It costs 5", "It costs .5", Decision.ADD),
        ("It costs 5", "It costs -5", Decision.ADD),
        ("Deploy ✅", "Deploy ❌", Decision.ADD),
        ("The upload limit ≤ 3 MB", "The upload limit ≥ 3 MB", Decision.ADD),
        ("The temperature there is 5", "The temperature there is -5", Decision.ADD),
        ("retries three times", "retries five times", Decision.UPDATE),
        ("Works at Company A", "Left Company A for B", Decision.UPDATE),
        ("Nadia works at Acme", "Nadia joined Globex", Decision.UPDATE),
        ("يعمل سالم في شركة الضياء", "انضم سالم إلى شركة المدى", Decision.UPDATE),
        ("المهلة ثلاث ثوان", "المهلة ٥ ثوان", Decision.UPDATE),
        ("The feature is enabled", "The feature is disabled", Decision.UPDATE),
        ("The shop no longer sells bread", "The shop sells bread", Decision.ADD),
        ("The shop sells bread", "The shop no longer sells bread", Decision.INVALIDATE),
        ("Hermes active", "Hermes stopped", Decision.INVALIDATE),
        ("Nadia works at Acme", "Nadia left Acme", Decision.INVALIDATE),
        ("لدينا مخزن.", "ليس لدينا وقت.", Decision.ADD),
        ("سالم يعمل في الضياء", "لم يعد سالم يعمل في الضياء", Decision.INVALIDATE),
        ("Nadia worked at Acme 2010–2015", "Nadia worked at Acme 2018–2020", Decision.ADD),
        ("Nadia likes tea", "Nadia likes coffee", Decision.ADD),
        ("Nadia works at Acme", "Did Nadia leave Acme?", Decision.ADD),
        ("The lamp is on", "Maybe the lamp is off", Decision.ADD),
        ("The lamp is on", "The lamp is not only on but bright", Decision.ADD),
        ("The price is 5 euros", "The price is unchanged", Decision.ADD),
        ("The log names port 9077", "The log names the year 2077", Decision.ADD),
        ("Nadia works at Acme", "Nadia works at Acme in Oslo", Decision.ADD),
        ("The limit is 1 hour", "The limit is 60 minutes", Decision.ADD),
        ("The cache holds 2 GB", "The cache holds 2048 MB", Decision.ADD),
        ("The deadline is 2026-05-01", "The deadline is 1 May 2026", Decision.ADD),
        ("The deadline is 2026-05-01", "The deadline is 3 May 2026", Decision.UPDATE),
        ("The call is at 10:00", "The call is at 10", Decision.ADD),
        ("The gate uses ports 1 and 2", "The gate uses ports 1 and 3", Decision.ADD),
    ],
)
def test_one_statement_meets_one_stored(old: str, new: str, expected: Decision) -> None:
    assert after(old, new).decision is expected


def test_the_reason_names_the_values_that_differ_and_no_more() -> None:
    assert after("The worker retries three times.", "The worker retries five times.").reason == (
        "the value changed from “three times” to “five times”"
    )


def test_several_stored_values_are_all_superseded() -> None:
    stored = [Neighbour(said("The limit is 10 MB.", 1)), Neighbour(said("The limit is 20 MB.", 2))]
    verdict = decide(said("The limit is 50 MB.", at=APRIL), stored)
    assert (verdict.decision, set(verdict.targets)) == (Decision.UPDATE, {UUID(int=1), UUID(int=2)})


def test_what_arrives_late_is_history_and_retires_nothing() -> None:
    verdict = decide(said("Nadia works at Acme", at=MARCH), [Neighbour(said("Nadia works at Globex", 1, at=MAY))])
    assert verdict.decision is Decision.ADD
    assert verdict.targets == ()
    assert verdict.late
    assert (verdict.invalid_at, verdict.superseded_by) == (MAY, UUID(int=1))


def test_what_falls_between_two_values_ends_the_first_and_is_ended_by_the_second() -> None:
    stored = [Neighbour(said("The limit is 10 MB.", 1, MARCH)), Neighbour(said("The limit is 50 MB.", 2, MAY))]
    verdict = decide(said("The limit is 20 MB.", at=APRIL), stored)
    assert (verdict.decision, verdict.targets, verdict.invalid_at) == (Decision.UPDATE, (UUID(int=1),), MAY)


def test_a_value_that_comes_back_after_its_end_is_news() -> None:
    stored = [
        Neighbour(said("The limit is 10 MB.", 1, MARCH), invalid_at=APRIL),
        Neighbour(said("The limit is 20 MB.", 2, APRIL)),
    ]
    verdict = decide(said("The limit is 10 MB.", at=MAY), stored)
    assert (verdict.decision, verdict.targets) == (Decision.UPDATE, (UUID(int=2),))


def test_an_old_capture_played_again_repeats_what_was_retired_since() -> None:
    retired = Neighbour(said("The limit is 10 MB.", 1, MARCH), invalid_at=MAY)
    assert decide(said("The limit is 10 MB.", at=APRIL), [retired]).decision is Decision.NOOP


def test_retired_memories_are_not_retired_again() -> None:
    retired = Neighbour(said("The limit is 10 MB.", 1, MARCH), invalid_at=APRIL)
    assert decide(said("The limit is 20 MB.", at=MAY), [retired]).decision is Decision.ADD


def test_each_speaker_has_an_i_of_their_own() -> None:
    stored = [Neighbour(said("I live in Oslo.", 1, speaker="Nadia"))]
    assert decide(said("I live in Bergen.", at=APRIL, speaker="Karl"), stored).decision is Decision.ADD
    assert decide(said("I live in Oslo.", at=APRIL, speaker="Karl"), stored).decision is Decision.ADD
    assert decide(said("I live in Bergen.", at=APRIL, speaker="Nadia"), stored).decision is Decision.UPDATE
    assert decide(said("Nadia moved to Bergen.", at=APRIL, speaker="Karl"), stored).decision is Decision.UPDATE


def test_a_nameless_i_is_the_same_only_within_its_session() -> None:
    stored = [Neighbour(said("I live in Oslo.", 1, session="one"))]
    assert decide(said("I live in Bergen.", at=APRIL, session="two"), stored).decision is Decision.ADD
    assert decide(said("I live in Bergen.", at=APRIL, session="one"), stored).decision is Decision.UPDATE


def test_a_memory_that_says_more_than_one_thing_stays() -> None:
    assert after("The limit is 10 MB. Files are kept for a year.", "The limit is 20 MB.").decision is Decision.ADD


def test_explicit_assertions_decide_before_the_text() -> None:
    stored = [Neighbour(said("all quiet", 1, assertions=(("Hermes", "status", "active"),)))]
    new = said("heard from operations", at=APRIL, assertions=(("hermes", "Status", "stopped"),))
    assert decide(new, stored).decision is Decision.UPDATE
    same = said("the lamp is off", at=APRIL, assertions=(("lamp", "status", "seen"),))
    stored = [Neighbour(said("the lamp is on", 1, assertions=(("lamp", "status", "seen"),)))]
    assert decide(same, stored).decision is Decision.ADD


def test_several_asserted_values_of_one_attribute_are_a_set() -> None:
    stored = [Neighbour(said("tags", 1, assertions=(("x", "tag", "a"), ("x", "tag", "b"))))]
    assert decide(said("tag", at=APRIL, assertions=(("x", "tag", "c"),)), stored).decision is Decision.ADD


def test_assertions_that_the_new_statement_does_not_mention_keep_the_old_one_alive() -> None:
    stored = [Neighbour(said("both", 1, assertions=(("x", "port", "1"), ("x", "owner", "Nadia"))))]
    assert decide(said("one", at=APRIL, assertions=(("x", "port", "2"),)), stored).decision is Decision.ADD


def test_a_hallucination_that_comes_back_is_stored_once() -> None:
    first = said("The moon base opened in the spring of the year", 1)
    for number in range(600):
        again = said(
            f"{'  ' * (number % 3)}The moon base opened in the SPRING of the year.", at=APRIL, session=str(number)
        )
        assert decide(again, [Neighbour(first)]).targets == (UUID(int=1),)


def test_a_very_long_text_again_is_a_repeat() -> None:
    text = "Chapter one, in which 12 000 words are said about port 9077. " * 900
    assert after(text, text.upper()).decision is Decision.NOOP
    assert after(text, f"{text} And one more.").decision is Decision.ADD


@pytest.mark.parametrize(
    "text",
    ["word " * 12_000, "a" * 60_000, "1," * 30_000, "not " * 15_000, "لا " * 20_000, "is in " * 10_000, "- " * 30_000],
    ids=["words", "one word", "digits", "negations", "arabic", "phrases", "dashes"],
)
def test_a_very_long_text_is_bounded(text: str) -> None:
    stored = [Neighbour(said(f"{text} {number}", number)) for number in range(1, 11)]
    start = time.process_time()
    assert decide(said(text, at=APRIL), stored).decision is Decision.ADD
    assert time.process_time() - start < 5, "ten texts of 60,000 characters take far less than this"
