"""The use case of ask over engines that a test plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import AskMode, EngineState, Question
from cortex_contracts.rpc.engine import EngineStatus, Hit, SourceClass
from cortex_gateway.ask import Asker
from cortex_gateway.engines import EngineAnswer
from cortex_gateway.scoring import Scoring

PRINCIPAL = Principal(org="local", subject="tester")


class PlayedEngines:
    """One engine that answers what it was given."""

    def __init__(self, *hits: Hit) -> None:
        self._hits = hits

    async def ask(
        self, principal: Principal, query: str, k: int, scope: Sequence[str] | None, remaining_s: float
    ) -> tuple[EngineAnswer, ...]:
        return (EngineAnswer(EngineState(engine="memory", status=EngineStatus.UP, ms=1), self._hits),)


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
