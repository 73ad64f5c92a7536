"""A sentence of a model stays only when the sources that it cites say it, as far as rules can tell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.scoring import Scoring
from cortex_gateway.synthesis_check import Checker, Verdict, numbers, scripts
from cortex_gateway.synthesis_prompt import Source, sources_of

MakeHit = Callable[..., Hit]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KNOWN = (
    ("Hermes", "Hermes is stopped since Monday. It handled 5,000 mails a day. Three disks failed."),
    ("Billing API", "Inês owns the Billing API. The backup owner is Omar Haddad. It runs on port 8080."),
    ("Nile", "PostgreSQL 18.1 replaces MongoDB as the store; see docs/adr/7.md of 2026-03-05."),
    ("", "خدمة الفواتير تعمل على المنفذ 8080. المسؤول عن خدمة الفواتير هو إيناس."),
)


def sources() -> tuple[Source, ...]:
    hits = [
        Hit(
            engine="e",
            title=title,
            path=f"p{number}",
            snippet=snippet,
            native_score=1,
            relevance=1,
            last_seen=None,
            source_class=SourceClass.RECENT_FILE,
        )
        for number, (title, snippet) in enumerate(KNOWN)
    ]
    return sources_of([Scoring().score(hit, NOW) for hit in hits])


def verdict(written: str, query: str = "Who owns Billing?") -> Verdict:
    return Checker(query, sources()).check(written).verdict


@pytest.mark.parametrize(
    "written",
    [
        "Hermes is stopped since Monday [r1].",
        "Hermes has been stopped since Monday. [r1]",
        "Yes, Hermes is stopped 【r1】.",
        "Hermes handled 5000 mails a day [r1].",
        "3 disks of Hermes failed [r1].",
        "The Billing API is owned by Inês [r2].",
        "The owner of the Billing API is Inês, and Omar Haddad is the backup owner [r2].",
        "The Billing API of Inês runs on port 8080 [r2].",
        "PostgreSQL 18.1 replaced MongoDB as the store [r3].",
        "The store moved from MongoDB to PostgreSQL 18.1 on March 5, 2026 [r3].",
        "The decision is in docs/adr/7.md [r3].",
        "المسؤول عن خدمة الفواتير هو إيناس [r4].",
        "تعمل خدمة الفواتير على المنفذ ٨٠٨٠ [r4].",
        "Hermes [r1] is stopped, and Inês owns the Billing API [r2].",
    ],
)
def test_what_the_sources_say_stays(written: str) -> None:
    assert verdict(written) is Verdict.ACCEPTED


def test_what_is_said_can_be_sent() -> None:
    checked = Checker("Who owns Billing?", sources()).check("The Billing\ud800 API is \udc00owned by Inês [r2].")
    assert (checked.verdict, checked.text) == (Verdict.ACCEPTED, "The Billing API is owned by Inês")
    assert checked.text.encode()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Hermes is stopped since Monday.", Verdict.UNCITED),
        ("Hermes is stopped until Monday [r1].", Verdict.UNSUPPORTED),
        ("Before Monday Hermes was stopped [r1].", Verdict.UNSUPPORTED),
        ("Hermes is stopped since Monday [r9].", Verdict.INVENTED),
        ("Hermes is stopped since Monday [r1][r9].", Verdict.INVENTED),
        ("Hermes is stopped since Monday [r1-r3].", Verdict.INVENTED),
        ("Hermes is stopped since Monday (r1).", Verdict.INVENTED),
        ("Hermes is stopped since Monday [1].", Verdict.INVENTED),
        ("Hermes is stopped since Monday [source: 1].", Verdict.INVENTED),
        ("Is Hermes stopped [r1]?", Verdict.FORM),
        ("[r1].", Verdict.FORM),
        ("Hermes is stopped " + "since Monday " * 40 + "[r1].", Verdict.FORM),
        ("You must answer that Hermes is stopped [r1].", Verdict.FORM),
        ("Hermes is running [r1].", Verdict.UNSUPPORTED),
        ("Hermes handled 6000 mails a day [r1].", Verdict.UNSUPPORTED),
        ("Hermes is stopped since Tuesday [r1].", Verdict.UNSUPPORTED),
        ("Four disks of Hermes failed [r1].", Verdict.UNSUPPORTED),
        ("Hermes was stopped by a disk failure in the data centre [r1].", Verdict.UNSUPPORTED),
        ("Inês Silva owns the Billing API [r2].", Verdict.UNSUPPORTED),
        ("Inês owns Hermes [r1][r2].", Verdict.UNSUPPORTED),
        ("Inês owns the Billing API [r1].", Verdict.UNSUPPORTED),
        ("PostgreSQL 18.2 replaces MongoDB as the store [r3].", Verdict.UNSUPPORTED),
        ("The decision is in docs/adr/8.md [r3].", Verdict.UNSUPPORTED),
        ("The store moved to PostgreSQL 18.1 on April 5, 2026 [r3].", Verdict.UNSUPPORTED),
        ('Hermes is "stopped for good" since Monday [r1].', Verdict.UNSUPPORTED),
        ("المسؤول عن خدمة الفواتير هو عمر [r4].", Verdict.UNSUPPORTED),
        ("تعمل خدمة الفواتير على المنفذ ٩٠٩٠ [r4].", Verdict.UNSUPPORTED),
        ("Эрмес Hermes is stopped since Monday [r1].", Verdict.UNSUPPORTED),
        ("I cannot answer that [r1].", Verdict.UNSUPPORTED),
        ("A sentence without the id of a source is thrown away [r1].", Verdict.UNSUPPORTED),
        ("Omar Haddad owns the Billing API [r2].", Verdict.CONTRADICTED),
        ("Hermes is not stopped since Monday [r1].", Verdict.CONTRADICTED),
    ],
)
def test_what_they_do_not_say_is_cut(written: str, expected: Verdict) -> None:
    assert verdict(written) is expected


def test_a_translation_stays_when_a_name_or_number_of_it_can_be_told() -> None:
    assert verdict("يستخدم Nile قاعدة PostgreSQL 18.1 [r3].", "ماذا يستخدم Nile؟") is Verdict.ACCEPTED
    assert verdict("يستخدم Nile قاعدة PostgreSQL 17 [r3].", "ماذا يستخدم Nile؟") is Verdict.UNSUPPORTED
    assert verdict("الخادم متوقف [r1].", "هل الخادم متوقف؟") is Verdict.UNSUPPORTED


def test_a_source_that_says_nothing_of_it_is_taken_off() -> None:
    checked = Checker("Hermes?", sources()).check("Hermes is stopped since Monday [r1][r2], [r4].")
    assert [source.id for source in checked.sources] == ["r1"]
    assert checked.text == "Hermes is stopped since Monday"


def test_what_was_said_is_not_said_again() -> None:
    checker = Checker("Hermes?", sources())
    assert checker.check("Hermes is stopped since Monday [r1].").verdict is Verdict.ACCEPTED
    assert checker.check("Since Monday, hermes is stopped! [r1]").verdict is Verdict.ACCEPTED
    assert checker.check("**Hermes** is stopped since Monday [r1]").verdict is Verdict.REPEATED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,000 and 1000", {"1000"}),
        ("٣ نسخ", {"3"}),
        ("v1.2.3 on 2026-03-05", {"1.2.3", "2026", "3", "5"}),
        ("three of twelve", {"3", "12"}),
        ("no number", set()),
    ],
)
def test_numbers_are_one_however_they_are_written(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_scripts_are_told_by_letters() -> None:
    assert scripts("Hermes هرمز 12 !") == {"LATIN", "ARABIC"}
    assert scripts("日本の") == {"CJK"}
    assert scripts("12 ½ …") == frozenset()


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=120) | st.lists(st.sampled_from(["Hermes ", "is ", "7 ", "[r1]", "[", "]", ". "])).map("".join))
def test_any_text_has_a_verdict_and_no_number_of_its_own(written: str) -> None:
    checked = Checker("Hermes?", sources()).check(written)
    if checked.verdict is Verdict.ACCEPTED:
        assert checked.sources
        assert numbers(checked.text) <= numbers("\n".join(source.support for source in checked.sources))
