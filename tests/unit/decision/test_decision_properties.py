"""What holds of the write decision whatever is said."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_decision import Decision, Neighbour, Statement, decide
from cortex_decision.folding import content

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "the worker Nadia Oslo Bergen is not no longer retries 3 five times works at in moved left for lives Acme Globex "
    "on off limit MB 10 was I we ? . , سالم يعمل في شركة لم يعد ترك انتقل إلى ٥ المهلة ثوان هو من"
).split()
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
texts = st.one_of(sentences, st.text(min_size=1, max_size=80))
moments = st.integers(0, 50).map(lambda days: START + timedelta(days=days))
speakers = st.sampled_from([None, None, "Nadia", "Karl"])


@st.composite
def neighbourhoods(draw: st.DrawFn) -> list[Neighbour]:
    made = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        at = draw(moments)
        ended = draw(st.sampled_from([None, None, at + timedelta(days=5)]))
        made.append(Neighbour(Statement(UUID(int=number), draw(texts), at, draw(speakers), "s"), None, ended))
    return made


news = st.builds(Statement, st.none(), texts, moments, speakers, st.sampled_from(["s", "t"]))
bounded = settings(max_examples=150, deadline=None)


@bounded
@given(news, neighbourhoods())
def test_a_verdict_names_only_neighbours_and_a_noop_exactly_one(new: Statement, stored: list[Neighbour]) -> None:
    verdict = decide(new, stored)
    live = {near.statement.id for near in stored if near.invalid_at is None}
    known = {near.statement.id for near in stored}
    assert set(verdict.targets) <= (known if verdict.decision is Decision.NOOP else live)
    assert len(set(verdict.targets)) == len(verdict.targets)
    assert (verdict.targets == ()) == (verdict.decision is Decision.ADD)
    if verdict.decision is Decision.NOOP:
        assert len(verdict.targets) == 1
        assert not verdict.late
    if verdict.late:
        assert verdict.superseded_by in live
        assert verdict.invalid_at is not None
        assert verdict.invalid_at > new.valid_at


@bounded
@given(news, neighbourhoods(), st.randoms(use_true_random=False))
def test_the_order_of_neighbours_does_not_matter(new: Statement, stored: list[Neighbour], random: object) -> None:
    for order in itertools.islice(itertools.permutations(stored), 6):
        assert decide(new, list(order)) == decide(new, stored)


@bounded
@given(news, st.integers(0, 20))
def test_the_same_text_again_is_a_repeat(new: Statement, days: int) -> None:
    stored = Statement(UUID(int=1), new.text, new.valid_at, new.speaker, new.session)
    again = Statement(None, f" {new.text.upper()} " if new.text.isascii() else new.text, new.valid_at, new.speaker, "u")
    assert decide(again, [Neighbour(stored)]).targets == (UUID(int=1),)


@bounded
@given(news, texts)
def test_nothing_is_retired_without_a_common_word(new: Statement, other: str) -> None:
    # A subject that is left out, or said as "I", is common without being written.
    if set(content(new.text).split()) & set(content(other).split()) or "is" in other.casefold():
        return
    old = Statement(UUID(int=1), f"Zyx {other}", START - timedelta(days=1), None, "other")
    assert decide(new, [Neighbour(old)]).decision in {Decision.ADD, Decision.NOOP}


@bounded
@given(news, neighbourhoods())
def test_a_memory_that_was_retired_never_comes_first(new: Statement, stored: list[Neighbour]) -> None:
    verdict = decide(new, stored)
    without = decide(new, [near for near in stored if near.invalid_at is None])
    assert verdict == without or verdict.decision is Decision.NOOP


@bounded
@given(sentences)
def test_case_white_space_and_quotation_marks_are_no_content(text: str) -> None:
    assert content(f"  «{text.upper()}»!\n".replace(" ", "  ")) == content(text)
