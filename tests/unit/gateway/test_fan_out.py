from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Assertion, Principal
from cortex_contracts.rpc.engine import EngineAskReply, EngineHealth, EngineStatus, Hit
from cortex_gateway.adapters.hit_bounds import SNIPPET_LENGTH
from cortex_gateway.errors import UnknownEngine
from cortex_gateway.fan_out import ASSERTIONS, PATH_LENGTH, TITLE_LENGTH, EngineAnswer, FanOut

OWNER = Principal(org="local", subject="owner")


class Caller:
    """Answers by engine key: with a reply, an error to raise, or an event to wait for first."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[str, Any, float | None]] = []

    async def request(self, rpc: Any, request: Any, *, timeout_s: float | None = None) -> Any:
        self.calls.append((rpc.service, request, timeout_s))
        answer = self.answers[rpc.service]
        if isinstance(answer, asyncio.Event):
            await answer.wait()
        if isinstance(answer, Exception):
            raise answer
        return answer


def up(key: str, *hits: Hit) -> EngineAskReply:
    return EngineAskReply(engine=key, status=EngineStatus.UP, hits=hits)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (Unavailable("no b service answers cortex.v1.rpc.engine.b.ask"), "nothing answers for the engine b"),
        (Unavailable("late", code=ErrorCode.DEADLINE_EXCEEDED), "no answer within 1000 ms"),
        (Permanent("the query has no words"), "the query has no words"),
        (RuntimeError("secret"), "unexpected failure"),
        (TimeoutError(), "no answer within 1000 ms"),
        (EngineAskReply(engine="b", status=EngineStatus.DOWN), "the engine says it is down"),
        (EngineAskReply(engine="b", status=EngineStatus.DOWN, error="no " * 99), f"{'no ' * 66}n…"),
        (
            Permanent("no way\n\x1b[2Jto postgres://me:hunter22secret@db"),
            "no way [2Jto postgres://me:[redacted:password]@db",
        ),
    ],
)
async def test_whatever_goes_wrong_with_an_engine_it_is_down_and_the_others_answer(
    make_hit: Callable[..., Hit], failure: Any, told: str
) -> None:
    fan_out = FanOut(Caller(a=up("a", make_hit()), b=failure), ("a", "b"), 1.0, OWNER)
    good, bad = await fan_out.ask(OWNER, "q", 12, None, 6.0)
    assert (good.state.status, len(good.hits)) == (EngineStatus.UP, 1)
    assert (bad.state.status, bad.state.error, bad.hits) == (EngineStatus.DOWN, told, ())


async def test_an_engine_that_never_answers_is_cut_off_even_when_the_bus_does_not() -> None:
    fan_out = FanOut(Caller(a=asyncio.Event()), ("a",), 0.02, OWNER)
    async with asyncio.timeout(20):
        (answer,) = await fan_out.ask(OWNER, "q", 12, None, 6.0)
    assert answer.state.error == "no answer within 20 ms"


async def test_what_an_engine_had_to_do_without_is_told_with_its_hits(make_hit: Callable[..., Hit]) -> None:
    reply = up("a", make_hit()).model_copy(update={"error": "without vectors"})
    (answer,) = await FanOut(Caller(a=reply), ("a",), 1.0, OWNER).ask(OWNER, "q", 12, None, 6.0)
    assert (answer.state.status, answer.state.error, len(answer.hits)) == (EngineStatus.UP, "without vectors", 1)


async def test_engines_are_asked_at_once(make_hit: Callable[..., Hit]) -> None:
    both_asked = asyncio.Barrier(2)

    class Meeting(Caller):
        async def request(self, rpc: Any, request: Any, *, timeout_s: float | None = None) -> Any:
            await both_asked.wait()
            return await super().request(rpc, request, timeout_s=timeout_s)

    answers = await FanOut(Meeting(a=up("a"), b=up("b")), ("a", "b"), 5.0, OWNER).ask(OWNER, "q", 12, None, 6.0)
    assert [answer.state.status for answer in answers] == [EngineStatus.UP] * 2


@pytest.mark.parametrize(("limit", "remaining", "expected"), [(4.0, 6.0, 4.0), (4.0, 1.5, 1.5), (4.0, -1.0, 0.001)])
async def test_an_engine_gets_its_limit_but_never_more_than_the_caller_has_left(
    limit: float, remaining: float, expected: float
) -> None:
    caller = Caller(a=up("a"))
    await FanOut(caller, ("a",), limit, OWNER).ask(OWNER, "q", 12, None, remaining)
    ((_, request, timeout_s),) = caller.calls
    assert (timeout_s, request.deadline_ms) == (expected, expected * 1000)


async def test_hits_go_on_under_the_key_that_was_asked_bounded_in_number_and_length(
    make_hit: Callable[..., Hit],
) -> None:
    claims = tuple(Assertion(subject="s", attribute=f"a{number}", value="v") for number in range(999))
    long = {"title": "t" * 9_999, "assertions": claims, "engine": "somebody-else"}
    hits = [make_hit("x" * 9_999, path=f"p{number}{'/p' * 9_999}").model_copy(update=long) for number in range(9)]
    (answer,) = await FanOut(Caller(a=up("a", *hits)), ("a",), 1.0, OWNER).ask(OWNER, "q", 3, None, 6.0)
    assert [(hit.engine, hit.path[:2]) for hit in answer.hits] == [("a", "p0"), ("a", "p1"), ("a", "p2")]
    assert {(len(hit.title), len(hit.path), len(hit.snippet), len(hit.assertions)) for hit in answer.hits} == {
        (TITLE_LENGTH, PATH_LENGTH, SNIPPET_LENGTH, ASSERTIONS)
    }


async def test_every_answer_is_told_when_it_comes(make_hit: Callable[..., Hit]) -> None:
    released = asyncio.Event()

    class Holding(Caller):
        async def request(self, rpc: Any, request: Any, *, timeout_s: float | None = None) -> Any:
            if rpc.service == "a":
                await released.wait()
            return await super().request(rpc, request, timeout_s=timeout_s)

    heard: list[EngineAnswer] = []

    def hear(answer: EngineAnswer) -> None:
        heard.append(answer)
        released.set()  # the slow one answers only after the fast one was heard

    fan_out = FanOut(Holding(a=up("a"), b=up("b", make_hit())), ("a", "b"), 5.0, OWNER)
    answers = await fan_out.ask(OWNER, "q", 12, None, 6.0, hear)
    assert [answer.state.engine for answer in heard] == ["b", "a"]
    assert [answer.state.engine for answer in answers] == ["a", "b"]


async def test_a_known_engine_that_is_not_configured_is_down_at_once_with_the_setting_that_helps() -> None:
    caller = Caller(a=up("a"))
    fan_out = FanOut(caller, ("a",), 5.0, OWNER, {"rag": "CORTEX_RAG_URL", "a": "CORTEX_A_URL"})
    a, rag = await fan_out.ask(OWNER, "q", 12, ("a", "rag"), 6.0)
    assert (a.state.status, rag.state.status, rag.state.ms) == (EngineStatus.UP, EngineStatus.DOWN, 0)
    assert rag.state.error == "not configured: set CORTEX_RAG_URL"
    assert [key for key, _, _ in caller.calls] == ["a"]
    assert fan_out.select(None) == ("a",)


async def test_who_cancels_the_question_cancels_every_call() -> None:
    asked = asyncio.Barrier(3)
    cancelled: list[str] = []

    class Endless(Caller):
        async def request(self, rpc: Any, request: Any, *, timeout_s: float | None = None) -> Any:
            await asked.wait()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(rpc.service)
                raise

    asking = asyncio.create_task(FanOut(Endless(), ("a", "b"), 5.0, OWNER).ask(OWNER, "q", 12, None, 6.0))
    await asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert sorted(cancelled) == ["a", "b"]


def test_a_scope_selects_and_an_unknown_key_is_refused() -> None:
    fan_out = FanOut(Caller(), ("a", "b"), 1.0, OWNER)
    assert fan_out.select(None) == fan_out.select(()) == ("a", "b")
    assert fan_out.select(("b", "b")) == ("b",)
    with pytest.raises(UnknownEngine, match="unknown engine x, y; expected some of a, b"):
        fan_out.select(("a", "x", "y"))


async def test_health_is_asked_once_for_many_readers() -> None:
    state = EngineHealth(engine="other", status=EngineStatus.UP)
    caller = Caller(a=state, b=Unavailable("gone"))
    fan_out = FanOut(caller, ("a", "b"), 1.0, OWNER)
    answers = await asyncio.gather(*(fan_out.health() for _ in range(20)))
    assert len(caller.calls) == 2
    assert [(e.engine, e.status) for e in answers[0].engines] == [("a", "up"), ("b", "down")]
    assert answers[0].ok is False
