"""Findings become hits: relevant first, under one name, bounded."""

from __future__ import annotations

import pytest

from cortex_contracts.rpc.engine import SourceClass
from cortex_gateway.adapters.findings import Finding, Standing, hits, relative
from cortex_gateway.adapters.relevance import RANKED, Measure, Scale

NOTES = Standing(SourceClass.RECENT_FILE, 0.9, root="/srv/notes")


def test_hits_come_by_relevance_and_no_more_than_asked_for():
    found = [Finding("sheep", score=0.9), Finding("the harbour crane", score=0.8), Finding("a crane", score=0.7)]
    first, second = hits("harbour crane", found, 2, Measure(Scale.SIMILARITY), NOTES)
    assert [first.snippet, second.snippet] == ["the harbour crane", "a crane"]
    assert (first.native_score, first.confidence, first.source_class) == (0.8, 0.9, SourceClass.RECENT_FILE)


def test_a_finding_that_says_nothing_is_no_hit_and_an_unusable_score_is_none():
    found = [Finding("  "), Finding("crane", score=float("inf")), Finding("", title="crane")]
    one, other = hits("crane", found, 9, RANKED, NOTES)
    assert one.native_score == one.relevance
    assert other.snippet == other.title == "crane"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/notes/yard/crane.md", "yard/crane.md"),
        ("file:///srv/notes/yard/a%20b.md", "yard/a b.md"),
        ("\\srv\\notes\\yard\\crane.md", "yard/crane.md"),
        ("./yard/crane.md", "yard/crane.md"),
        ("/srv/notesy/crane.md", "/srv/notesy/crane.md"),
        ("https://example.org/srv/notes/x", "https://example.org/srv/notes/x"),
        ("", ""),
    ],
)
def test_one_file_has_one_name(path: str, name: str):
    assert relative(path, "/srv/notes/") == name


def test_a_hit_is_called_by_its_title_its_file_or_its_first_line():
    found = [Finding("x crane", title=" A\n b "), Finding("x crane", path="a/b.md"), Finding("## The crane\nx")]
    assert {hit.title for hit in hits("crane", found, 9, RANKED, NOTES)} == {"A b", "b.md", "The crane"}


def test_a_title_that_nobody_sees_is_none():
    [hit] = hits("crane", [Finding("the crane", title="\u200b", path="yard/\u202e")], 9, RANKED, NOTES)
    assert hit.title == "the crane"


def test_what_an_engine_says_of_its_confidence_only_lowers_it():
    found = [Finding("crane", confidence=5.0), Finding("crane", confidence=0.5), Finding("crane", confidence=-1.0)]
    assert [hit.confidence for hit in hits("crane", found, 9, RANKED, NOTES)] == [0.9, 0.45, 0.0]


def test_a_text_of_any_length_becomes_a_short_hit():
    text = "sheep " * 100_000
    [hit] = hits("crane", [Finding(f"{text} crane", title=text, path=text)], 1, RANKED, NOTES)
    assert len(hit.snippet) <= 600
    assert len(hit.title) <= 120
    assert len(hit.path) <= 500


def test_a_page_that_only_repeats_the_question_is_not_about_it():
    question = "Is the harbour crane stopped?"
    page = f"**Results for: {question}**\n\nSheep graze upon the dike."
    [hit] = hits(question, [Finding(page)], 9, RANKED, NOTES)
    assert (hit.title, hit.relevance) == (f"Results for: {question}", 0.0)
    [faq] = hits(question, [Finding(page, path="faq.md")], 9, RANKED, NOTES)
    assert faq.relevance > 0.5
    [said] = hits("harbour crane", [Finding("The harbour crane is stopped.")], 9, RANKED, NOTES)
    assert said.relevance > 0.5


@pytest.mark.parametrize("text", ["null", "None", "undefined.", "\n null \n"])
def test_a_word_for_nothing_is_no_hit(text: str):
    assert hits("crane", [Finding(text)], 9, RANKED, NOTES) == []


def test_an_answer_that_repeats_the_question_and_says_that_there_is_nothing_is_no_hit():
    question = "Who stopped the harbour crane on the evening of the storm, and why? " * 6
    advised = f"No matching sections found in 'all' for query: '{question}'.\nInstalled: a, b\nTip: run `list()`."
    for text in (f"No results found for {question}", question, advised, "I couldn't find anything about that."):
        assert hits(question, [Finding(text)], 9, RANKED, NOTES) == []
    known = [Finding(f"No results of the inspection are known: {question}", path="a.md")]
    assert len(hits(question, known, 9, RANKED, NOTES)) == 1
