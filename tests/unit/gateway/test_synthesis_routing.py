"""The cheap model for simple questions, the dear one for hard ones, and only where it is on."""

from __future__ import annotations

import pytest

from cortex_gateway.synthesis_routing import Difficulty, Model, difficulty, route

BOTH = frozenset(Model)


@pytest.mark.parametrize(
    "query",
    [
        "Who owns the Billing API?",
        "When was Hermes stopped?",
        "How many replicas does Atlas have?",
        "Which version of PostgreSQL do we use?",
        "Is Hermes running?",
        "Hermes",
        "من المسؤول عن خدمة الفواتير؟",
        "متى توقف هرمز؟",
    ],
)
def test_a_question_for_one_fact_is_simple(query: str) -> None:
    assert difficulty(query, ["Inês owns the Billing API. Hermes is stopped.", "Hermes"]) is Difficulty.SIMPLE


@pytest.mark.parametrize(
    "query",
    [
        "Why did we choose NATS?",
        "How does Atlas relate to Hermes?",
        "Compare Kafka and NATS",
        "Who owns Billing? And who owns Hermes?",
        "Explain the outage",
        "What happens if Hermes stops?",
        "لماذا اخترنا NATS؟",
        "ما الفرق بين أطلس وهرمز؟",
        "Tell me " + "about this and that " * 10,
    ],
)
def test_a_question_for_reasons_comparisons_or_several_things_is_hard(query: str) -> None:
    assert difficulty(query, ["NATS"]) is Difficulty.HARD


def test_a_question_that_no_single_source_covers_is_hard() -> None:
    query = "Which host runs the backup of the billing database?"
    apart = ["The billing database is on PostgreSQL.", "The backup job is on host atlas."]
    assert difficulty(query, apart) is Difficulty.HARD
    assert difficulty(query, [*apart, "The backup of the billing database runs on host atlas."]) is Difficulty.SIMPLE
    assert difficulty(query, []) is Difficulty.SIMPLE


@pytest.mark.parametrize(
    ("question", "there", "models"),
    [
        (Difficulty.SIMPLE, BOTH, (Model.OLLAMA,)),
        (Difficulty.SIMPLE, frozenset({Model.CLAUDE}), ()),
        (Difficulty.SIMPLE, frozenset(), ()),
        (Difficulty.HARD, BOTH, (Model.CLAUDE, Model.OLLAMA)),
        (Difficulty.HARD, frozenset({Model.OLLAMA}), (Model.OLLAMA,)),
        (Difficulty.HARD, frozenset({Model.CLAUDE}), (Model.CLAUDE,)),
        (Difficulty.HARD, frozenset(), ()),
    ],
)
def test_the_paid_model_is_asked_hard_questions_only(
    question: Difficulty, there: frozenset[Model], models: tuple[Model, ...]
) -> None:
    assert route(question, there) == models
