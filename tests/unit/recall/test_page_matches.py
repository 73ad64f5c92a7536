"""Highlights are words and phrases of the text, as they are written there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_recall.page_matches import MAX_HIGHLIGHTS, asked, highlights
from cortex_store import lexical, terms

TEXTS = st.text(max_size=400) | st.lists(
    st.sampled_from("The zebra eats green grass, svc-auth-2 و المدرسة 项目预算 Founder; [[Mill Pond|pond]]".split())
).map(" ".join)


def worth(question: str, **idfs: float) -> dict[str, float]:
    stems = terms.content_terms(question)
    return asked(question, {lexical.term_hash(stem): idfs.get(stem, 1.0) for stem in stems})


@settings(deadline=None, max_examples=200)
@given(TEXTS, TEXTS)
def test_highlights_occur_in_the_text_and_hold_what_was_asked(text: str, question: str) -> None:
    wanted = worth(question)
    found = highlights(text, wanted)
    assert len(found) <= MAX_HIGHLIGHTS
    assert len({one.casefold() for one in found}) == len(found)
    for one in found:
        assert one in text
        assert set(terms.analyse(one)) & wanted.keys()


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        (
            "Founded by Alice at Mill Pond Research.",
            "who founded mill pond research",
            ("Mill Pond Research", "Founded"),
        ),
        ("The co-founder is here", "co-founder", ("co-founder",)),
        ("She works on svc-auth-2.", "what is auth", ("auth",)),
        ("في المَدرسةِ الكبيرة", "المدرسة", ("المَدرسةِ",)),
        ("今天的会议讨论了项目预算。", "项目预算", ("项目预算",)),
        ("see [[people/alice|Alice]] and **bold** text", "alice bold", ("alice", "bold")),
        ("zebra\nzebra", "zebra", ("zebra",)),
        ("line one\nline two", "one line", ("line one",)),
        ("nothing of it", "zebra", ()),
        ("it is what it is", "what is it", ()),
    ],
)
def test_words_side_by_side_are_a_phrase(text: str, question: str, expected: tuple[str, ...]) -> None:
    assert highlights(text, worth(question)) == expected


def test_the_rarest_word_comes_first() -> None:
    wanted = worth("zebra or grass", zebra=1.0, grass=5.0)
    assert highlights("A zebra; its grass", wanted) == ("grass", "zebra")


def test_stop_words_are_never_highlighted() -> None:
    assert highlights("The Zebra and the Grass", worth("the zebra and the grass")) == ("Zebra", "Grass")
