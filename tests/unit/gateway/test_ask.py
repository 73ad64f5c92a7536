"""The use case of ask over engines that a test plays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import ASK, AskMode, EngineState, Question
from cortex_contracts.rpc.engine import EngineStatus, Hit, SourceClass
from cortex_gateway import ask
from cortex_gateway.answer import Answer
from cortex_gateway.ask import MARGIN_S, Asker
from cortex_gateway.ask_events import AskEvent, Asking, EngineHeard, SentenceSaid
from cortex_gateway.errors import Busy
from cortex_gateway.fan_out import EngineAnswer
from cortex_gateway.reconcile import Disagreement, reconcile
from cortex_gateway.scoring import ScoredHit, Scoring
from cortex_gateway.turns import Turns

PRINCIPAL = Principal(org="local", subject="tester")


class PlayedEngines:
    """One engine that answers what it was given."""

    def __init__(self, *hits: Hit) -> None:
        self._hits = hits

    def select(self, scope: Sequence[str] | None) -> tuple[str, ...]:
        return ("memory",)

    async def ask(
        self,
        principal: Principal,
        query: str,
        k: int,
        scope: Sequence[str] | None,
        remaining_s: float,
        heard: Callable[[EngineAnswer], None],
    ) -> tuple[EngineAnswer, ...]:
        self.remaining_s = remaining_s
        answer = EngineAnswer(EngineState(engine="memory", status=EngineStatus.UP, ms=1), self._hits)
        heard(answer)
        return (answer,)


class Writer:
    """A model that says a sentence, or nothing."""

    limit_s = 8.0

    def __init__(self, text: str | None) -> None:
        self._text = text
        self.limits: list[float] = []

    async def write(
        self,
        principal: Principal,
        query: str,
        hits: Sequence[ScoredHit],
        disagreements: Sequence[Disagreement],
        limit_s: float,
        said: Callable[[str], None],
    ) -> Answer | None:
        self.limits.append(limit_s)
        if self._text is None:
            return None
        said(self._text)
        return Answer(self._text, ())


def sides(make_hit: Callable[..., Hit], relevance: float) -> tuple[Hit, Hit]:
    live = make_hit(
        "Hermes is stopped.",
        source_class=SourceClass.LIVE_INFRA,
        relevance=relevance,
        path="memory:live",
        says=(("Hermes", "status", "stopped"),),
    )
    stale = make_hit(
        "Hermes is active.",
        age_days=40,
        relevance=relevance,
        path="memory:old",
        says=(("Hermes", "status", "active"),),
    )
    return live, stale


async def test_a_disagreement_about_what_was_asked_is_reported(make_hit: Callable[..., Hit]):
    asker = Asker(PlayedEngines(*sides(make_hit, 0.8)), Scoring(), 0.2)
    reply = await asker.ask(PRINCIPAL, Question(query="Is Hermes running?"))
    assert [(c.claim, c.value, c.losing_values) for c in reply.conflicts] == [("Hermes status", "stopped", ("active",))]


async def test_a_disagreement_about_something_else_is_not_and_its_hits_stay(make_hit: Callable[..., Hit]):
    other = make_hit("The kettle is descaled on Fridays.", path="memory:kettle")
    asker = Asker(PlayedEngines(other, *sides(make_hit, 0.05)), Scoring(), 0.2)
    reply = await asker.ask(PRINCIPAL, Question(query="When is the kettle descaled?"))
    assert reply.conflicts == ()
    assert {hit.path for hit in reply.hits} == {"memory:kettle", "memory:live", "memory:old"}


async def test_search_gives_hits_without_prose_and_chat_prose_without_hits(make_hit: Callable[..., Hit]):
    asker = Asker(PlayedEngines(make_hit()), Scoring(), 0.2)
    search = await asker.ask(PRINCIPAL, Question(query="Hermes?", mode=AskMode.SEARCH))
    assert (search.answer, search.receipts, len(search.hits)) == (None, (), 1)
    chat = await asker.ask(PRINCIPAL, Question(query="Hermes?", mode=AskMode.CHAT))
    assert chat.answer == "Hermes is stopped [r1]"
    assert (len(chat.receipts), chat.hits) == (1, ())


async def test_nothing_good_enough_is_said_to_be_unknown_without_receipts(make_hit: Callable[..., Hit]):
    asker = Asker(PlayedEngines(make_hit(relevance=0.1)), Scoring(), 0.2)
    reply = await asker.ask(PRINCIPAL, Question(query="What is the capital of Mongolia?"))
    assert reply.answer == "Nothing is known about this."
    assert reply.receipts == ()


async def test_what_happens_on_the_way_is_told_in_order(make_hit: Callable[..., Hit]):
    happened: list[AskEvent] = []
    engines = PlayedEngines(make_hit(), make_hit("Hermes rests.", path="memory:2"))
    asker = Asker(engines, Scoring(), 0.2, Writer("Hermes is stopped [r1]"))
    reply = await asker.ask(PRINCIPAL, Question(query="Hermes?"), heard=happened.append)
    assert happened == [Asking(("memory",)), EngineHeard(reply.engines[0], 2), SentenceSaid("Hermes is stopped [r1]")]
    assert reply.answer == "Hermes is stopped [r1]"


async def test_a_model_that_writes_nothing_leaves_the_merge(make_hit: Callable[..., Hit]):
    reply = await Asker(PlayedEngines(make_hit()), Scoring(), 0.2, Writer(None)).ask(
        PRINCIPAL, Question(query="Hermes?")
    )
    assert reply.answer == "Hermes is stopped [r1]"


@pytest.mark.parametrize(
    ("question", "relevance"),
    [
        (Question(query="Hermes?", synthesize=False), 0.9),
        (Question(query="Hermes?", mode=AskMode.SEARCH), 0.9),
        (Question(query="Hermes?"), 0.1),
    ],
    ids=["not wanted", "no prose", "nothing known"],
)
async def test_no_model_is_asked_for_what_needs_none(
    make_hit: Callable[..., Hit], question: Question, relevance: float
):
    writer = Writer("x")
    reply = await Asker(PlayedEngines(make_hit(relevance=relevance)), Scoring(), 0.2, writer).ask(PRINCIPAL, question)
    assert writer.limits == []
    assert reply.answer != "x"


@pytest.mark.parametrize(
    ("deadline", "for_engines", "for_the_model"),
    [
        (None, ASK.timeout_s - MARGIN_S, ASK.timeout_s + Writer.limit_s - MARGIN_S),
        (ASK.timeout_s, ASK.timeout_s - MARGIN_S, ASK.timeout_s - MARGIN_S),
        (2.0, 2.0 - MARGIN_S, 2.0 - MARGIN_S),
    ],
)
async def test_engines_have_the_time_of_the_rpc_and_a_model_what_they_leave(
    make_hit: Callable[..., Hit], deadline: float | None, for_engines: float, for_the_model: float
):
    engines, writer = PlayedEngines(make_hit()), Writer(None)
    await Asker(engines, Scoring(), 0.2, writer).ask(PRINCIPAL, Question(query="Hermes?"), deadline)
    assert engines.remaining_s == pytest.approx(for_engines)
    assert for_the_model - 1.0 < writer.limits[0] < for_the_model


async def test_a_model_gets_no_time_that_is_not_there(make_hit: Callable[..., Hit]):
    writer = Writer("x")
    asker = Asker(PlayedEngines(make_hit()), Scoring(), 0.2, writer)
    reply = await asker.ask(PRINCIPAL, Question(query="Hermes?"), MARGIN_S)
    assert (writer.limits, reply.answer) == ([], "Hermes is stopped [r1]")


async def test_a_hit_tells_its_relevance_and_who_else_found_it(make_hit: Callable[..., Hit]):
    found = make_hit(confidence=0.8), make_hit(confidence=0.5, engine="rag", relevance=0.3)
    (hit,) = (await Asker(PlayedEngines(*found), Scoring(), 0.2).ask(PRINCIPAL, Question(query="Hermes?"))).hits
    assert (hit.engine, hit.relevance, hit.corroborated_by) == ("memory", 0.9, ("rag",))
    assert hit.confidence == pytest.approx(0.9)


async def test_a_question_whose_turn_does_not_come_is_told_so_and_asks_nobody(make_hit: Callable[..., Hit]):
    turns, engines = Turns(12), PlayedEngines(make_hit())
    happened: list[AskEvent] = []
    async with turns.taken(12, 0.0):
        with pytest.raises(Busy):
            await Asker(engines, Scoring(), 0.2, turns=turns).ask(
                PRINCIPAL, Question(query="Hermes?"), MARGIN_S, happened.append
            )
    assert happened == [Asking(("memory",))]


async def test_engines_have_less_time_by_what_a_question_waited_for_its_turn(make_hit: Callable[..., Hit]):
    turns, engines = Turns(12), PlayedEngines(make_hit())
    async with AsyncExitStack() as others:
        await others.enter_async_context(turns.taken(12, 0.0))
        asking = asyncio.create_task(
            Asker(engines, Scoring(), 0.2, turns=turns).ask(PRINCIPAL, Question(query="Hermes?"))
        )
        await asyncio.sleep(0)
    assert (await asking).answer == "Hermes is stopped [r1]"
    assert 0 < engines.remaining_s < ASK.timeout_s - MARGIN_S


async def test_many_hits_are_read_beside_the_event_loop_and_few_in_it(
    make_hit: Callable[..., Hit], monkeypatch: pytest.MonkeyPatch
):
    threads: list[int] = []

    def read(hits: Sequence[ScoredHit], query: str) -> tuple[Disagreement, ...]:
        threads.append(threading.get_ident())
        return reconcile(hits, query)

    monkeypatch.setattr(ask, "reconcile", read)
    for number in (ask.MANY_HITS, ask.MANY_HITS + 1):
        hits = [make_hit(path=f"memory:{each}") for each in range(number)]
        reply = await Asker(PlayedEngines(*hits), Scoring(), 0.2).ask(PRINCIPAL, Question(query="Hermes?"))
        assert len(reply.hits) == number
    few, many = threads
    assert few == threading.get_ident() != many
