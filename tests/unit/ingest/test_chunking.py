"""Chunks."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cortex_ingest import syntax
from cortex_ingest.chunking import MAX_CHARS, Passage, chunk

LINES = st.text("abcكتب ", min_size=1, max_size=40).map(str.split).filter(bool).map(" ".join)
BLOCKS = st.one_of(
    LINES,
    LINES.map(lambda line: f"# {line}"),
    LINES.map(lambda line: f"### {line}"),
    LINES.map(lambda line: f"{line}\n===="),
    LINES.map(lambda line: f"- {line}\n- {line}"),
    LINES.map(lambda line: f"> # {line}"),
    LINES.map(lambda line: f"```\n# {line}\n```"),
    LINES.map(lambda line: f"    {line}"),
    LINES.map(lambda line: f"| {line} |\n|---|\n| {line} |"),
    LINES.map(lambda line: f"[{line}]: http://example.org"),
    st.just("---"),
)


def passages(body: str, max_chars: int = MAX_CHARS) -> tuple[Passage, ...]:
    return chunk(body, syntax.parse(body), max_chars)


def test_passages_carry_the_headings_they_stand_under() -> None:
    body = "before\n\n# One\n\nfirst\n\n## Two\n\nsecond\n\n# Three\n\nthird\n"
    assert passages(body) == (
        Passage((), "before"),
        Passage(("One",), "first"),
        Passage(("One", "Two"), "second"),
        Passage(("Three",), "third"),
    )


def test_a_hash_in_code_is_no_heading() -> None:
    body = "# Real\n\n```sh\n# comment\nrun\n```\n\n    # indented\n"
    assert [passage.heading_path for passage in passages(body)] == [("Real",)]
    assert "# comment" in passages(body)[0].text


def test_headings_are_read_without_their_markup() -> None:
    assert passages("## The `pod_outbox` of [[billing-api|Billing]] *now*\n\ntext")[0].heading_path == (
        "The pod_outbox of Billing now",
    )


def test_an_empty_heading_is_said_by_its_last_passage_only() -> None:
    assert passages("# One\n\n## Two\n\n## Three\n") == (
        Passage(("One", "Two"), "Two"),
        Passage(("One", "Three"), "Three"),
    )


def test_paragraphs_stay_whole_while_they_fit() -> None:
    body = "\n\n".join(["word " * 50] * 4)
    assert [len(passage.text.split()) for passage in passages(body, 600)] == [100, 100]


def test_a_heading_that_says_more_than_its_path_is_text_too() -> None:
    [found] = passages("# See [the plan](https://example.org/plan)\n\ntext")
    assert found == Passage(("See the plan",), "# See [the plan](https://example.org/plan)\n\ntext")
    [first, *_] = passages(f"# {'word ' * 100}\n\ntext")
    assert len(first.heading_path[0]) <= 200
    assert first.text.count("word") == 100


def test_code_and_tables_stay_whole_while_they_fit() -> None:
    code = "```\n" + "line of code\n\n" * 20 + "```"
    table = "| a | b |\n|---|---|\n" + "| c | d |\n" * 20
    text = "word " * 40
    found = [passage.text for passage in passages(f"{text}\n\n{code}\n\n{text}\n\n{table}\n\n{text}", 320)]
    assert code in found
    assert any(table.strip() in passage for passage in found)


def test_text_without_spaces_is_cut_after_its_sentences() -> None:
    sentence = "書" * 50 + "。"
    assert [passage.text for passage in passages(sentence * 5, 120)] == [sentence * 2, sentence * 2, sentence]


def test_letters_and_emoji_are_not_torn() -> None:
    for unit in ("e\u0301", "👩\u200d💻", "हि", "👍🏽"):
        found = passages(unit * 100, 101)
        assert "".join(passage.text for passage in found) == unit * 100
        assert all(passage.text.startswith(unit) and passage.text.endswith(unit) for passage in found)


def test_an_empty_body_has_no_passages() -> None:
    assert passages("") == ()
    assert passages("\n \n") == ()


@given(st.lists(BLOCKS, max_size=6).map("\n\n".join), st.integers(min_value=5, max_value=200))
def test_no_text_is_lost_and_no_passage_is_too_long(body: str, max_chars: int) -> None:
    found = passages(body, max_chars)
    assert all(0 < len(passage.text) <= max_chars for passage in found)
    said = "".join(char for passage in found for char in "".join((*passage.heading_path, passage.text)))
    # What has no space in it and is longer than a passage is cut anywhere; its letters are all there.
    for run in body.split():
        if len(run) <= max_chars:
            assert all(word in said for word in re.findall(r"\w+", run))


@given(st.text(max_size=400), st.integers(min_value=5, max_value=100))
def test_any_text_makes_bounded_passages(body: str, max_chars: int) -> None:
    assert all(passage.text.strip() and len(passage.text) <= max_chars for passage in passages(body, max_chars))


@given(st.lists(LINES, min_size=1, max_size=20), st.integers(min_value=40, max_value=90))
def test_plain_text_comes_back_in_its_order(lines: list[str], max_chars: int) -> None:
    body = "\n".join(lines)
    assert " ".join(passage.text for passage in passages(body, max_chars)).split() == body.split()
