"""A sentence fits a question by its words and by what is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_gateway.question_fit import KIND, Asked, content, fit, has, negations, read, stems


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Who owns Billing?", Asked.WHO),
        ("which team runs it", Asked.WHO),
        ("من المسؤول عن الفواتير؟", Asked.WHO),
        ("When was it deployed?", Asked.WHEN),
        ("متى توقف هرمز؟", Asked.WHEN),
        ("Where is the config?", Asked.WHERE),
        ("أين الملف؟", Asked.WHERE),
        ("How many replicas?", Asked.NUMBER),
        ("What is the port of Hermes?", Asked.NUMBER),
        ("كم عدد النسخ؟", Asked.NUMBER),
        ("How long does it take?", Asked.DURATION),
        ("which version of PostgreSQL?", Asked.VERSION),
        ("Why did it stop?", Asked.WHY),
        ("لماذا توقف؟", Asked.WHY),
        ("How do I deploy?", Asked.HOW),
        ("كيف أشغل الخدمة؟", Asked.HOW),
        ("Is Hermes running?", Asked.OTHER),
        ("ملف من الخادم", Asked.OTHER),
    ],
)
def test_the_kind_of_a_question(query: str, asked: Asked) -> None:
    assert read(query).asked is asked


@pytest.mark.parametrize(
    ("query", "answers", "does_not"),
    [
        ("Who owns Billing?", "Billing is owned by Inês", "Billing runs on a host"),
        ("Who owns Billing?", "Inês has Billing", "Billing is fine"),
        ("When did Hermes stop?", "Hermes stopped on 2026-11-03", "Hermes stopped because of the disk"),
        ("متى توقف هرمز؟", "توقف هرمز في ٥ مايو", "توقف هرمز بسبب عطل"),
        ("How many replicas has Atlas?", "Atlas has 3 replicas", "Atlas has replicas"),
        ("How long does the backup take?", "The backup takes 40 minutes", "The backup takes 40 GB"),
        ("Which version of NATS?", "NATS 2.12.1 is used", "NATS is used by 3 services"),
        ("Where is the config?", "The config is at /etc/cortex.yaml", "The config was changed"),
        ("Why did we choose NATS?", "We chose NATS because it is small", "We chose NATS last year"),
    ],
)
def test_a_sentence_with_what_is_asked_for_fits_better(query: str, answers: str, does_not: str) -> None:
    question = read(query)
    assert has(question, answers)
    assert not has(question, does_not)
    assert fit(question, answers) > fit(question, does_not)


def test_a_word_above_a_sentence_counts_less_than_one_in_it() -> None:
    question = read("rollback of Atlas")
    assert fit(question, "rollback of Atlas") == 1.0
    assert (
        0
        < fit(question, "Run make down", "Rollback of Atlas")
        < fit(question, "Run make down on Atlas", "Rollback")
        < 1
    )


def test_a_rare_word_weighs_more_than_one_that_all_have() -> None:
    texts = ["Atlas runs", "Atlas stops", "Atlas has a cache"]
    question = read("cache of Atlas", texts)
    assert fit(question, "a cache") > fit(question, "Atlas")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("owns owner owned", "own"),
        ("stopped stops stopping", "stop"),
        ("replaces replaced replacing", "replace"),
        ("policies policy", "policy"),
        ("uses used using", "use"),
        ("Hermes's", "hermes"),
        ("الخدمة خدمات والخدمات", "خدمه"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert content(one) == content(other)
    assert len(content(one)) == 1


def test_names_in_paths_count() -> None:
    assert {"cortex", "etc"} <= content("see /etc/cortex/gateway.yaml")


@pytest.mark.parametrize(("text", "number"), [("it isn't", 1), ("not and never", 2), ("لم يتوقف", 1), ("a knot", 0)])
def test_negations_are_counted(text: str, number: int) -> None:
    assert negations(text) == number


@given(st.text(max_size=60), st.text(max_size=120), st.text(max_size=60))
def test_a_fit_is_within_its_bounds(query: str, text: str, context: str) -> None:
    assert 0 <= fit(read(query, [text]), text, context) <= 1 + KIND + 1e-9
    assert set(stems(text)) == content(text)
