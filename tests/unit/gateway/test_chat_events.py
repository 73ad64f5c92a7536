"""Streams are cut into whole events without a byte changed, and their tokens are counted."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.chat_events import MAX_EVENT_BYTES, Events, Tokens

lines = st.sampled_from([b"data: {}", b": ping", b"event: x", b"data: [DONE]", "data: نجتمع".encode()])
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
streams = st.lists(st.tuples(lines, ends, st.booleans()), max_size=12).map(
    lambda made: b"".join(line + end + (end if last else b"") for line, end, last in made)
)
ASKED = [{"role": "user", "content": "12345678"}]


def pieces_of(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    return [stream[a:b] for a, b in pairwise(places)]


@settings(deadline=None, max_examples=200)
@given(streams, st.lists(st.integers(0, 200), max_size=8))
def test_whatever_the_pieces_the_bytes_are_the_same_and_each_event_but_the_rest_is_whole(
    stream: bytes, cuts: list[int]
) -> None:
    events = Events()
    came = [event for piece in pieces_of(stream, cuts) for event in events.feed(piece)]
    assert b"".join(came) + events.rest == stream
    for event in came:
        assert event.endswith((b"\n\n", b"\r\n\r\n", b"\r\r", b"\r\n\r", b"\n\r"))


def test_an_event_comes_as_soon_as_its_blank_line_does() -> None:
    events = Events()
    assert events.feed(b"data: a\n") == []
    assert events.feed(b"\ndata: b\r\n\r") == [b"data: a\n\n", b"data: b\r\n\r"]
    assert events.feed(b"\ndata: c\n\ndata: d\n\nda") == [b"\ndata: c\n\n", b"data: d\n\n"]
    assert events.rest == b"da"


def test_an_event_that_never_ends_is_passed_on() -> None:
    events = Events()
    assert events.feed(b"x" * MAX_EVENT_BYTES) == []
    assert events.feed(b"y") == [b"x" * MAX_EVENT_BYTES + b"y"]
    assert events.rest == b""


def test_tokens_are_those_that_the_upstream_tells() -> None:
    tokens = Tokens(ASKED)
    tokens.read_event(b'data: {"choices": [{"delta": {"content": "abcd"}}], "usage": null}\n\n')
    tokens.read_event(b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}\r\n\r\n')
    tokens.read_event(b"data: [DONE]\n\n")
    assert tokens.used == (7, 3)


def test_without_them_they_are_estimated_by_the_length_of_the_texts() -> None:
    tokens = Tokens([*ASKED, {"role": "user", "content": [{"type": "text", "text": "1234"}, {"type": "image_url"}]}])
    tokens.read_event(b'data: {"choices": [{"delta": {"content": "abcd"}}]}\n\n')
    tokens.read_event(b'data: {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "1"}}]}}]}\n\n')
    assert tokens.used == (3, 2)
    whole = Tokens([{"role": "user", "content": None}])
    whole.read(json.dumps({"choices": [{"message": {"content": "abcde"}}]}).encode())
    assert whole.used == (0, 2)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        "7",
        '{"choices": 3}',
        '{"choices": [7, {"delta": 3}]}',
        '{"choices": [{"message": []}]}',
        "[" * 9999,
        '{"choices": [{"delta": {"content": 4, "tool_calls": [3, {"function": 1}]}}]}',
    ],
)
def test_what_is_no_completion_counts_nothing(said: str) -> None:
    tokens = Tokens(ASKED)
    tokens.read(said.encode())
    assert tokens.used == (2, 0)


def test_numbers_that_are_none_are_nothing() -> None:
    tokens = Tokens(ASKED)
    tokens.read(b'{"usage": {"prompt_tokens": "many", "completion_tokens": -3}}')
    assert tokens.used == (0, 0)
