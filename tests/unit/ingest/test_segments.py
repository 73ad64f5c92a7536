"""How a document is cut: nothing is lost, nothing is too long, and a change changes little."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_ingest.segments import ENOUGH, LONGEST, SEPARATOR, Segment, segments

WORDS = "retries limit staging database port key harbour review launch budget owner train window shed meeting".split()
ARABIC = "في من على الاجتماع قاعدة البيانات المفتاح الميناء السمك الميزانية القطار تذكرة الحديقة".split()
CHANGED = 8
"""Most segments that one more paragraph changes: what lies within `LONGEST` characters of it on both sides."""

bounded = settings(max_examples=80, deadline=None)
# Whatever text there is, also long stretches of one character, of white space, of marks and of other scripts.
stretches = st.one_of(
    st.text(max_size=40),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=3), st.integers(1, 2_500)),
    st.sampled_from(
        ["\n", "\n\n", "# One\n", "\n### Two ##\n", "```\n", "~~~~py\n", "Ada: ", "سلمى： ", ". ", "。", "́" * 9]
    ),
    st.sampled_from([" ".join(WORDS * 20), " ".join(ARABIC * 20), "我们在海港吃沙丁鱼" * 90]),
)
texts = st.lists(stretches, max_size=12).map("".join)


def parts(text: str) -> Counter[bytes]:
    return Counter(segment.key for segment in segments(text))


def sentences(dice: random.Random, count: int) -> str:
    words = dice.choice([WORDS, WORDS, ARABIC])
    return " ".join(
        f"{' '.join(dice.choices(words, k=dice.randint(3, 14)))} {dice.randrange(10**6)}." for _ in range(count)
    )


def document(dice: random.Random, paragraphs: int, gap: str) -> list[str]:
    made = []
    for number in range(paragraphs):
        if gap == "\n\n" and dice.random() < 0.1:
            made.append(f"{'#' * dice.randint(1, 4)} Part {number}")
        made.append(sentences(dice, dice.randint(1, 9)))
    return made


@bounded
@given(texts)
def test_nothing_is_lost_and_nothing_is_too_long(text: str) -> None:
    found = segments(text)
    assert "".join(segment.text + segment.gap for segment in found) == text.strip()
    for segment in found:
        assert 1 <= len(segment.text) <= LONGEST
        assert segment.text == segment.text.strip()
        assert segment.gap.strip() == ""


@bounded
@given(st.integers(0, 10**6), st.integers(1, 120), st.sampled_from(["\n\n", "\n", " "]))
def test_one_more_paragraph_changes_what_is_beside_it(seed: int, paragraphs: int, gap: str) -> None:
    dice = random.Random(seed)
    before = document(dice, paragraphs, gap)
    place = dice.randint(0, len(before))
    after = [*before[:place], sentences(dice, 3), *before[place:]]
    old, new = parts(gap.join(before)), parts(gap.join(after))
    assert (new - old).total() <= CHANGED
    assert (old - new).total() <= CHANGED


def test_most_segments_are_of_a_useful_size() -> None:
    found = segments("\n\n".join(document(random.Random(5), 2_000, "\n\n")))
    sizes = sorted(len(segment.text) for segment in found)
    assert 400 <= sizes[len(sizes) // 2] <= ENOUGH
    assert sum(size < 100 for size in sizes) < len(sizes) / 20


def test_a_short_text_is_one_segment() -> None:
    assert segments("  One. Two.\n\nThree.\n") == (Segment("One. Two.\n\nThree.", "", ""),)
    assert segments(" \n\t ") == segments("") == ()


def test_sections_are_kept_together_and_know_their_headings() -> None:
    dice = random.Random(1)
    body = {name: sentences(dice, 24)[:1000].strip() for name in ("intro", "install", "linux", "use")}
    text = (
        f"# Atlas\n\n{body['intro']}\n\n## Install\n\n{body['install']}\n\n### Linux ###\n{body['linux']}\n\n"
        f"## Use\n\n{body['use']}\n"
    )
    found = segments(text)
    assert [(one.text.splitlines()[0], one.headings) for one in found] == [
        ("# Atlas", ""),
        ("## Install", "Atlas"),
        ("### Linux ###", f"Atlas{SEPARATOR}Install"),
        ("## Use", "Atlas"),
    ]


def test_the_rest_of_a_long_section_stands_under_its_heading() -> None:
    found = segments("# Log\n\n## Today\n\n" + sentences(random.Random(2), 60))
    assert len(found) > 2
    assert {one.headings for one in found[1:]} == {f"Log{SEPARATOR}Today"}


def test_code_is_no_heading_and_stays_whole() -> None:
    dice = random.Random(3)
    code = "```sh\n# not a heading\n\nmake setup\n```"
    found = segments("\n\n".join([sentences(dice, 12), code, sentences(dice, 12), code, sentences(dice, 12)]))
    assert sum(one.text.count(code) for one in found) == 2
    assert {one.headings for one in found} == {""}
    # A fence that is never closed is no fence.
    assert segments("```\n\n# Heading\n\n" + sentences(dice, 40))[-1].headings == "Heading"


def test_speakers_are_not_cut_off_from_what_they_say() -> None:
    dice = random.Random(4)
    turns = [
        f"[09:{minute:02}] {dice.choice(['Ada', 'سلمى'])}: {sentences(dice, 2)}\nand so on" for minute in range(60)
    ]
    assert all(one.text.startswith("[09:") for one in segments("\n".join(turns)))


@pytest.mark.parametrize("unit", ["a", "same line\n", "same paragraph of a few words.\n\n", "啊", "a b "])
def test_the_same_over_and_over_is_cut_evenly(unit: str) -> None:
    found = segments(unit * (40_000 // len(unit)))
    assert len(found) < 40_000 / 500
