"""What a topic is told by."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.consolidation import facts
from cortex_sleep.consolidation.claims import Claim, claims
from cortex_sleep.consolidation.facts import Quotation, Told


def told(number: int, text: str, *, day: int = 1, speaker: str = "Mara") -> Told:
    stated = claims(text, speaker=speaker)
    assert stated, text
    return Told(UUID(int=number), speaker, datetime(2025, 3, day, tzinfo=UTC), stated)


BREAD = (
    told(2, "I bake sourdough bread every Sunday.", day=9),
    told(1, "I bought a stone oven for my sourdough bread yesterday.", day=2),
)


def test_a_fact_quotes_who_said_what_and_when_in_order_of_time() -> None:
    fact = facts.fact(facts.quotations(BREAD))
    assert fact is not None
    assert fact.content == (
        "Mara (2025-03-02): “I bought a stone oven for my sourdough bread yesterday.”\n"
        "Mara (2025-03-09): “I bake sourdough bread every Sunday.”"
    )
    assert fact.sources == (UUID(int=1), UUID(int=2))
    assert fact.at == datetime(2025, 3, 9, tzinfo=UTC)


def test_one_memory_is_no_fact() -> None:
    assert facts.fact(facts.quotations(BREAD[:1])) is None
    again = told(3, "I bake sourdough bread every Sunday.", day=20)
    assert facts.fact(facts.quotations((BREAD[0], again))) is None, "the same sentence twice says it once"


def test_what_a_memory_says_of_something_else_is_not_quoted() -> None:
    both = told(3, "My sister plays the violin at a theatre. I sell sourdough bread at the market.", day=12)
    content = "\n".join(one.line for one in facts.quotations((*BREAD, both)))
    assert "sell sourdough" in content
    assert "violin" not in content


def test_a_long_topic_is_told_by_its_most_central_sentences() -> None:
    topic = [
        told(n, f"I bake sourdough bread with rye flour number {n} in the stone oven of my old bakery.", day=n)
        for n in range(1, 13)
    ]
    said = facts.quotations(topic)
    fact = facts.fact(said, limit=500)
    assert fact is not None
    assert len(fact.content) <= 500
    assert 2 <= len(fact.sources) < 12
    assert set(fact.content.splitlines()) <= {one.line for one in said}


def test_what_is_known_about_an_entity_is_what_names_it_and_what_it_says_of_itself() -> None:
    said = (
        told(1, "I met Ines at the harbour market last Friday.", day=1),
        told(2, "I opened a bakery near the harbour market.", day=2, speaker="Ines"),
        told(3, "I painted the kitchen walls green last week.", day=3),
    )
    lines = [one.line for one in facts.about("ines", said)]
    assert lines == [
        "Mara (2025-03-01): “I met Ines at the harbour market last Friday.”",
        "Ines (2025-03-02): “I opened a bakery near the harbour market.”",
    ]


def test_a_fact_names_what_its_sentences_name_but_nobody_speaks_in_it() -> None:
    found = facts.extraction(
        (Quotation(UUID(int=1), "Mara", datetime(2025, 3, 1, tzinfo=UTC), "I met Ines Alves in Porto."),)
    )
    assert {one.key for one in found.entities} == {"mara", "ines alves", "porto"}
    assert {one.role for one in found.entities} == {"mention"}


WORDS = st.lists(
    st.sampled_from("bread oven flour yeast violin concert harbour boat garden kitchen".split()), min_size=3
)


@given(st.lists(st.tuples(st.integers(1, 28), WORDS), min_size=1, max_size=30), st.integers(60, 900))
@settings(deadline=None, max_examples=60)
def test_a_fact_says_nothing_that_was_not_said(rows: list[tuple[int, list[str]]], limit: int) -> None:
    topic = [
        Told(
            UUID(int=number + 1),
            "Mara",
            datetime(2025, 3, day, tzinfo=UTC),
            (Claim(f"I like {' '.join(said)}.", 0, True),),
        )
        for number, (day, said) in enumerate(rows)
    ]
    said = facts.quotations(topic)
    fact = facts.fact(said, limit=limit)
    if fact is None:
        return
    assert len(fact.content) <= limit
    assert len(fact.sources) >= 2
    lines = {one.line: one.memory for one in said}
    assert sorted({lines[line] for line in fact.content.splitlines()}) == list(fact.sources)
    assert fact.at == max(one.at for one in topic if one.memory in fact.sources)
