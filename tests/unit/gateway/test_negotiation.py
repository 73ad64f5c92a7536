"""Which form of an answer a client wants."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.negotiation import negotiate

JSON, STREAM = "application/json", "text/event-stream"
OFFERED = (JSON, STREAM)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ([], JSON),
        ([""], JSON),
        (["*/*"], JSON),
        ([STREAM], STREAM),
        ([f"{STREAM}, {JSON}"], JSON),  # both are as welcome: what is offered first
        ([JSON, STREAM], JSON),
        ([f"{STREAM}, */*"], STREAM),  # named more specifically
        (["text/*"], STREAM),
        ([f"{STREAM};q=0.2, {JSON};q=0.1"], STREAM),
        ([f"{STREAM};q=0.1", f"{JSON};q=0.2"], JSON),
        ([f"{JSON};q=0, */*;q=0.1"], STREAM),  # the more specific range counts, also when it refuses
        (["*/*;q=0.1, text/*;q=0"], JSON),
        ([f"{STREAM}; charset=utf-8 ; Q=0.9, {JSON};q=0.8"], STREAM),
        (["Text/Event-Stream"], STREAM),
        ([f'text/plain;note="a, {JSON}", {STREAM}'], STREAM),
        ([f"{STREAM};q=1.0001, {JSON}"], JSON),
        ([f"{STREAM};q=much, {JSON}"], JSON),  # what cannot be read says nothing
        (["json"], JSON),
        (["text/html"], None),
        (["text/html, image/*;q=0.5"], None),
        ([f"{JSON};q=0"], None),
        (["*/*;q=0"], None),
        ([f"{STREAM};q=nan"], JSON),
    ],
)
def test_the_form_is_what_the_header_prefers(accept: list[str], form: str | None) -> None:
    assert negotiate(accept, OFFERED) == form


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(alphabet='aq/*;=,." 01' + STREAM, max_size=40), max_size=3))
def test_whatever_a_client_sends_the_answer_is_one_of_the_forms_or_none(accept: list[str]) -> None:
    assert negotiate(accept, OFFERED) in (JSON, STREAM, None)
