"""Filters in which a question is a string, whatever it holds, as an implementation of CEL reads them."""

from __future__ import annotations

import celpy
import pytest
from celpy import celtypes
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters.cel import all_of, any_of, literal

ENVIRONMENT = celpy.Environment()
NASTY = st.text(
    alphabet=st.sampled_from("ab\"'\\\n\r\t()|&!`u00U{}") | st.characters(exclude_categories=("Cs",)), max_size=20
)


def evaluated(expression: str, content: str) -> object:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(expression))
    return program.evaluate({"content": celtypes.StringType(content)})


@given(text=NASTY)
@settings(deadline=None, max_examples=200)
def test_a_literal_reads_back_as_the_text(text: str):
    assert evaluated(literal(text), "") == text


@pytest.mark.parametrize(
    "text", ['") || true || content.contains("', 'a\\" || true || "', '"', "\\", '\\"', "\n", "\0"]
)
def test_nothing_breaks_out_of_a_string(text: str):
    assert not evaluated(any_of([(text,)]), "sheep")
    assert not evaluated(all_of([(text,), ("sheep",)]), "sheep")
    assert evaluated(any_of([(text,)]), f"x{text}y")


def test_any_and_all():
    assert evaluated(any_of([("crane",), ("sheep",)]), "sheep")
    assert not evaluated(all_of([("crane",), ("sheep", "ewe")]), "sheep")
    assert evaluated(all_of([("crane",), ("sheep", "ewe")]), "sheep and crane")
