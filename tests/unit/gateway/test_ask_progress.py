"""How far an answer is, as MCP clients are told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.ask import EngineState
from cortex_gateway.ask_events import AskEvent, Asking, EngineHeard, SentenceSaid
from cortex_gateway.ask_progress import MESSAGE_LENGTH, Steps, message


def heard(error: str | None = None, hits: int = 0) -> EngineHeard:
    state = {"engine": "rag", "status": "down" if error else "up", "ms": 12, "error": error}
    return EngineHeard(EngineState.model_validate(state), hits)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 20), st.integers(0, 60))
def test_progress_rises_with_every_event_and_never_reaches_the_answer(engines: int, sentences: int):
    steps = Steps()
    assert steps.after(Asking(("rag",) * engines)) is None
    events: Sequence[AskEvent] = [heard()] * engines + [SentenceSaid("It is [r1]")] * sentences
    progress = [0.0, *(steps.after(event) or 0.0 for event in events), steps.total or 0.0]
    assert all(earlier < later for earlier, later in pairwise(progress))


def test_an_event_is_told_in_a_few_words():
    assert message(heard(hits=1)) == "rag: 1 hit"
    assert message(heard(hits=2)) == "rag: 2 hits"
    assert message(heard("no answer within 4000 ms")) == "rag is down: no answer within 4000 ms"
    assert message(SentenceSaid("It is stopped [r1]")) == "It is stopped [r1]"
    assert len(message(SentenceSaid("word " * 200))) == MESSAGE_LENGTH
