"""Statements that only read, whatever the question is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters import cypher
from cortex_gateway.adapters.cypher import REFUSED, entities, literal, relations
from cortex_gateway.adapters.needles import needles
from cortex_testkit.memgraph_server import ENTITIES, RELATIONS, lexed, match, strings_of

NASTY = st.text(alphabet=st.sampled_from("abset'\"\\\n$`{}()[];/*- SETcreaſ") | st.characters(), max_size=40)


@given(texts=st.lists(NASTY, min_size=1, max_size=5))
@settings(deadline=None, max_examples=300)
def test_a_text_is_a_string_and_nothing_else_and_reads_back_as_it_was(texts: list[str]):
    statement = entities(texts, 5)
    matched = match(lexed(statement), ENTITIES)
    assert matched is not None
    assert strings_of(matched[1]) == texts
    assert not REFUSED.search(statement.upper())


@given(question=st.text(max_size=100))
@settings(deadline=None, max_examples=150)
def test_a_statement_of_any_question_has_the_same_form(question: str):
    wanted = [form for forms in needles(question) for form in forms]
    if wanted:
        matched = match(lexed(entities(wanted, 7)), ENTITIES)
        assert matched is not None
        assert strings_of(matched[1]) == wanted


@pytest.mark.parametrize("word", ["set", "drop-set", "create", "re/merge", "ſet", "remove@delete"])
def test_a_word_that_the_server_refuses_is_cut(word: str):
    assert not REFUSED.search(literal(word).upper())
    assert literal(word).count("'") > 2


@pytest.mark.parametrize("word", ["settle", "offset", "set_user", "crane"])
def test_a_word_that_only_looks_like_one_stays_whole(word: str):
    assert literal(word) == f"'{word}'"


def test_relations_are_asked_for_by_number():
    assert match(lexed(relations([1, 22])), RELATIONS) is not None
    with pytest.raises(ValueError, match="format"):
        cypher.relations(["1] DETACH"])  # type: ignore[list-item]
