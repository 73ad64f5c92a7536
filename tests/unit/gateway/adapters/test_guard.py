"""The guard of one engine: limits, breaker, who may ask, and that it never throws."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import prometheus_client
import pytest

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealthRequest,
    EngineStatus,
    Hit,
    SourceClass,
)
from cortex_gateway.adapters import guard as guards
from cortex_gateway.adapters.breaker import CHANCE, LAST_START_S, LAST_TRIAL_S, Standing
from cortex_gateway.adapters.dialect import ToolFailed
from cortex_gateway.adapters.guard import Guard
from cortex_gateway.adapters.settings import EngineSource
from cortex_testkit.eventually import eventually

ADA = Principal(org="acme", subject="ada")
HIT = Hit(
    engine="",
    title="Crane",
    path="yard/crane.md",
    snippet="The crane is out of service.",
    native_score=0.9,
    relevance=0.9,
    last_seen=None,
    source_class=SourceClass.OLDER_NOTE,
)


async def found() -> Sequence[Hit]:
    return [HIT]


async def never() -> Any:
    await asyncio.Event().wait()


async def deaf() -> Any:
    """Hears no cancellation for a while, as an adapter that swallows it."""
    for _ in range(10):
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue
    return []


def fails(error: BaseException) -> Callable[[], Awaitable[Any]]:
    async def fail() -> Any:
        raise error

    return fail


async def works() -> None:
    return None


@dataclass
class Played:
    """An engine that does what a test wants."""

    opens: Callable[[], Awaitable[None]] = works
    answers: Callable[[], Awaitable[Any]] = found
    lives: Callable[[], Awaitable[None]] = works
    learned: datetime | None = None
    calls: list[str] = field(default_factory=list)
    called: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self.called.put_nowait(call)

    async def open(self) -> None:
        self._note("open")
        await self.opens()

    async def close(self) -> None:
        self._note("close")

    async def check(self) -> None:
        self._note("check")
        await self.lives()

    async def search(self, query: str, k: int) -> Sequence[Hit]:
        self._note("search")
        hits: Sequence[Hit] = await self.answers()
        return hits

    async def last_ingest(self) -> datetime | None:
        self._note("last_ingest")
        return self.learned

    async def until(self, call: str) -> None:
        """Wait for the next such call."""
        async with asyncio.timeout(10):
            while await self.called.get() != call:
                pass


def source(**more: Any) -> EngineSource:
    return EngineSource.model_validate({"key": "rag", "url": "http://rag.example/sse", "limit_s": 5, **more})


@asynccontextmanager
async def guarding(engine: Played, longest_s: float = 60.0, trial_s: float = 0.01, **more: Any) -> AsyncIterator[Guard]:
    guard = Guard(source(**more), engine, "acme", longest_s, delay=lambda _: trial_s)
    task = asyncio.create_task(guard.run())
    await asyncio.sleep(0)  # it has begun
    try:
        yield guard
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert engine.calls[-1] == "close"


async def ask(guard: Guard, principal: Principal = ADA, deadline_ms: int = 10_000, k: int = 12) -> EngineAskReply:
    async with asyncio.timeout(20):
        return await guard.ask(EngineAskRequest(principal=principal, query="crane", deadline_ms=deadline_ms, k=k))


async def test_hits_travel_on_under_the_key_that_was_asked() -> None:
    async with guarding(Played()) as guard:
        reply = await ask(guard)
        assert (reply.engine, reply.status, reply.error) == ("rag", EngineStatus.UP, None)
        assert reply.hits == (HIT.model_copy(update={"engine": "rag"}),)


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("the engine rag cannot be reached"),
        Permanent("the engine rag refuses the question"),
        ToolFailed("no index"),
        ValueError("a bug"),
        asyncio.CancelledError(),
        RecursionError(),
        ExceptionGroup("many", [ValueError("one")]),
    ],
)
async def test_whatever_an_adapter_raises_becomes_a_reply(error: BaseException) -> None:
    async with guarding(Played(answers=fails(error))) as guard:
        reply = await ask(guard)
        assert (reply.status, reply.hits) == (EngineStatus.DOWN, ())
        assert reply.error == (error.message if isinstance(error, CortexError) else "unexpected failure")


@pytest.mark.parametrize("answer", [None, "text", [None], [{"title": "a dictionary"}], 5])
async def test_what_an_adapter_should_never_return_becomes_a_reply(answer: Any) -> None:
    async def odd() -> Any:
        return answer

    async with guarding(Played(answers=odd)) as guard:
        assert (await ask(guard)).status is EngineStatus.DOWN


@pytest.mark.parametrize(
    ("error", "standing"),
    [
        (Unavailable("gone"), Standing.OPEN),
        (Permanent("no such project"), Standing.CLOSED),
        (ToolFailed("no index"), Standing.CLOSED),
        (ValueError("a bug"), Standing.CLOSED),
    ],
)
async def test_only_a_broken_connection_opens_the_breaker(error: Exception, standing: Standing) -> None:
    async with guarding(Played(answers=fails(error)), trial_s=60) as guard:
        await ask(guard)
        assert guard.breaker.standing is standing


async def test_an_open_breaker_answers_at_once_and_asks_nothing() -> None:
    engine = Played(answers=fails(Unavailable("the engine rag cannot be reached")))
    async with guarding(engine, trial_s=60) as guard:
        await ask(guard)
        asked = engine.calls.count("search")
        reply = await ask(guard)
        assert reply.error == "the engine rag cannot be reached; tried again in 60 s"
        assert engine.calls.count("search") == asked


@pytest.mark.parametrize("hang", [never, deaf])
async def test_an_engine_that_hangs_costs_its_limit_once(hang: Callable[[], Awaitable[Any]]) -> None:
    async with guarding(Played(answers=hang), limit_s=0.1, trial_s=60) as guard:
        assert (await ask(guard)).error == "no answer within 100 ms"
        assert str((await ask(guard)).error).startswith("no answer within 100 ms; tried again in ")


async def test_the_longest_wait_of_whoever_asks_is_the_limit_too() -> None:
    async with guarding(Played(answers=never), longest_s=0.1, trial_s=60) as guard:
        assert (await ask(guard, deadline_ms=100)).status is EngineStatus.DOWN
        assert guard.breaker.standing is Standing.CLOSED  # 80 ms of 100
        assert (await ask(guard)).error == "no answer within 100 ms"
        assert guard.breaker.standing is Standing.OPEN


@pytest.fixture
def suspicious(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suspected engine is looked at without delay."""
    monkeypatch.setattr(guards, "SUSPECTED_EVERY_S", 0.0)


@pytest.mark.usefixtures("suspicious")
async def test_a_caller_in_a_hurry_trips_nothing_but_the_engine_is_looked_at() -> None:
    engine = Played(answers=never)
    async with guarding(engine) as guard:
        await engine.until("last_ingest")
        assert (await ask(guard, deadline_ms=50)).error == "no answer within 30 ms"
        assert guard.breaker.standing is Standing.CLOSED
        await engine.until("check")
        engine.answers = found
        assert (await ask(guard)).hits


async def test_many_callers_in_a_hurry_make_one_look_at_a_time() -> None:
    engine = Played(answers=never)
    async with guarding(engine) as guard:
        await engine.until("last_ingest")
        for _ in range(3):
            await asyncio.gather(*(ask(guard, deadline_ms=25) for _ in range(20)))
        assert engine.calls.count("check") <= 1


@pytest.mark.usefixtures("suspicious")
async def test_an_engine_that_gives_no_sign_of_life_after_a_hurry_is_down() -> None:
    engine = Played(answers=never, lives=fails(Unavailable("gone")))
    async with guarding(engine, trial_s=60) as guard:
        await engine.until("last_ingest")
        await ask(guard, deadline_ms=50)
        await engine.until("check")
        assert str((await ask(guard)).error).startswith("gone; tried again in ")


async def test_a_deadline_that_is_over_already_is_answered() -> None:
    async with guarding(Played(answers=never)) as guard:
        assert (await ask(guard, deadline_ms=1)).error == "no answer within 1 ms"


async def test_it_is_tried_again_in_the_background_until_it_is_back() -> None:
    failures = iter([Unavailable("one"), Unavailable("two"), OSError("a bug")])

    async def opens() -> None:
        for failure in failures:
            raise failure

    engine = Played(opens=opens)
    async with guarding(engine) as guard:
        await engine.until("last_ingest")
        assert engine.calls.count("open") == 4
        assert engine.calls.count("search") == 0
        assert (await ask(guard)).hits
        assert guard.breaker.failures == 0


async def test_a_trial_that_succeeds_does_not_forget_how_often_questions_failed() -> None:
    delays: list[int] = []

    def delay(failures: int) -> float:
        delays.append(failures)
        return 0.0

    engine = Played(answers=fails(Unavailable("gone")))
    guard = Guard(source(), engine, "acme", 60.0, delay=delay)
    task = asyncio.create_task(guard.run())
    for _ in range(3):
        await engine.until("last_ingest")
        await ask(guard)
    assert delays == [1, 2, 3]
    task.cancel()
    await asyncio.wait({task})


async def test_an_engine_that_lives_and_is_slow_is_not_started_anew_after_every_question() -> None:
    engine = Played(answers=never)
    async with guarding(engine, limit_s=0.05) as guard:
        for _ in range(guards.AFRESH_EVERY):
            assert (await ask(guard)).error == "no answer within 50 ms"
            await eventually(lambda: asyncio.sleep(0, guard.breaker), lambda seen: seen.standing is Standing.CLOSED)
        engine.answers = found
        assert (await ask(guard)).hits
    assert [call for call in engine.calls if call != "last_ingest"] == [
        "open",
        "search",
        "check",
        "search",
        "check",
        "search",
        "open",
        "search",
        "close",
    ]


async def test_an_engine_that_hangs_and_gives_no_sign_of_life_is_connected_to_afresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guards, "CHECK_LIMIT_S", 0.05)
    engine = Played(answers=never, lives=never)
    async with guarding(engine, limit_s=0.05) as guard:
        await ask(guard)
        await eventually(lambda: asyncio.sleep(0, guard.breaker), lambda seen: seen.standing is Standing.CLOSED)
    assert [call for call in engine.calls if call != "last_ingest"] == ["open", "search", "check", "open", "close"]


async def test_questions_wait_for_the_first_connection() -> None:
    ready = asyncio.Event()

    async def opens() -> None:
        await ready.wait()

    engine = Played(opens=opens)
    async with guarding(engine) as guard:
        question = asyncio.create_task(ask(guard))
        await engine.until("open")
        assert engine.calls == ["open"]
        ready.set()
        assert (await question).hits


async def test_a_first_connection_that_takes_too_long_costs_the_limit_once() -> None:
    ready = asyncio.Event()

    async def opens() -> None:
        await ready.wait()

    engine = Played(opens=opens)
    async with guarding(engine, limit_s=0.1) as guard:
        assert (await ask(guard)).error == "no answer within 100 ms: it is still being connected to"
        assert str((await ask(guard)).error).startswith("no answer within 100 ms: it is still being connected to; ")
        ready.set()
        await engine.until("last_ingest")
        assert (await ask(guard)).hits
        assert engine.calls.count("open") == 1


async def test_a_cancelled_question_cancels_the_search_and_nothing_else() -> None:
    ended = asyncio.Event()

    async def held() -> Any:
        try:
            await never()
        finally:
            ended.set()

    engine = Played(answers=held)
    async with guarding(engine) as guard:
        question = asyncio.create_task(ask(guard))
        await engine.until("search")
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        async with asyncio.timeout(10):
            await ended.wait()
        assert guard.breaker.standing is Standing.CLOSED


@pytest.mark.parametrize(
    ("principal", "namespace", "answered"),
    [
        (ADA, None, True),
        (ADA, "harbour", True),
        (Principal(org="acme", subject="ada", readable=("harbour",)), "harbour", True),
        (Principal(org="acme", subject="ada", readable=("yard",)), None, True),
        (Principal(org="acme", subject="ada", readable=("yard",)), "harbour", False),
        (Principal(org="acme", subject="ada", readable=()), "harbour", False),
        (Principal(org="other", subject="ada"), None, False),
        (Principal(org="other", subject="ada", readable=("harbour",)), "harbour", False),
    ],
)
async def test_only_those_who_may_are_answered(principal: Principal, namespace: str | None, answered: bool) -> None:
    engine = Played()
    async with guarding(engine, namespace=namespace) as guard:
        reply = await ask(guard, principal)
        assert bool(reply.hits) is answered
        assert ("search" in engine.calls) is answered
        assert answered or "this engine" in str(reply.error)


async def test_metrics_tell_whether_an_engine_is_asked() -> None:
    def asked() -> float | None:
        return prometheus_client.REGISTRY.get_sample_value("cortex_engine_asked", {"engine": "metered"})

    engine = Played()
    async with guarding(engine, trial_s=60.0, key="metered", kind="rag") as guard:
        await ask(guard)
        assert asked() == 1
        engine.answers = fails(Unavailable("gone"))
        await ask(guard)
        assert asked() == 0


@pytest.mark.parametrize(
    ("reached", "longest_s"), [({}, LAST_TRIAL_S), ({"url": "", "command": ["rag-server"]}, LAST_START_S)]
)
async def test_what_each_trial_starts_anew_is_tried_less_often(reached: dict[str, Any], longest_s: float) -> None:
    engine = Played(opens=fails(Unavailable("of no use")))
    guard = Guard(source(**reached), engine, "acme", 60.0)
    for _ in range(20):
        guard._fail("of no use", on_trial=True)
    wait_s = guard.breaker.trial_at - asyncio.get_running_loop().time()
    assert longest_s * (1 - CHANCE) - 1 < wait_s <= longest_s


async def test_health_says_what_is_known_and_asks_nothing() -> None:
    learned = datetime.now(UTC) - timedelta(hours=2)
    engine = Played(learned=learned)
    own = EngineHealthRequest(principal=ADA)
    guard = Guard(source(), engine, "acme", 60.0)
    assert (await guard.health(own)).status is EngineStatus.DOWN  # not connected to yet
    task = asyncio.create_task(guard.run())
    await engine.until("last_ingest")
    await asyncio.sleep(0)
    before = list(engine.calls)
    for _ in range(100):
        health = await guard.health(own)
    assert (health.engine, health.status, health.last_ingest) == ("rag", EngineStatus.UP, learned)
    assert health.staleness_h == pytest.approx(2, abs=0.1)
    assert engine.calls == before
    engine.answers = fails(Unavailable("gone"))
    await ask(guard)
    assert (await guard.health(own)).status is EngineStatus.DOWN
    task.cancel()
    await asyncio.wait({task})


async def test_health_is_for_the_own_organisation() -> None:
    engine = Played()
    async with guarding(engine) as guard:
        await engine.until("last_ingest")
        request = EngineHealthRequest(principal=Principal(org="other", subject="eve"))
        assert (await guard.health(request)).status is EngineStatus.DOWN


async def test_an_engine_that_nobody_asks_is_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "CHECK_EVERY_S", 0.01)
    engine = Played()
    async with guarding(engine, trial_s=60) as guard:
        for _ in range(3):
            await engine.until("check")
        engine.lives = fails(Unavailable("gone"))
        await eventually(lambda: asyncio.sleep(0, guard.breaker.asked), lambda asked: not asked)
        assert guard.breaker.reason == "gone"


async def test_an_age_that_cannot_be_told_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Played()
    monkeypatch.setattr(engine, "last_ingest", fails(ValueError("a bug")))
    async with guarding(engine) as guard:
        assert (await ask(guard)).hits
        health = await guard.health(EngineHealthRequest(principal=ADA))
        assert (health.status, health.last_ingest, health.staleness_h) == (EngineStatus.UP, None, None)


async def test_secrets_are_in_no_error_and_in_no_hit() -> None:
    told = HIT.model_copy(update={"snippet": "you sent s3cret-token", "title": "s3cret-token", "path": "s3cret-token"})

    async def echoes() -> Sequence[Hit]:
        return [told]

    engine = Played(answers=echoes)
    async with guarding(engine, token="s3cret-token") as guard:
        reply = await ask(guard)
        assert "s3cret" not in reply.model_dump_json()
        engine.answers = fails(ToolFailed("cannot use s3cret-token at api_key=sk-ant-REDACTED"))
        error = str((await ask(guard)).error)
        assert "s3cret" not in error


async def test_a_reply_always_fits_into_a_message() -> None:
    long = HIT.model_copy(update={"snippet": "ش" * 100_000, "native_score": float("nan")})

    async def many() -> Sequence[Hit]:
        return [long] * 500

    async with guarding(Played(answers=many)) as guard:
        reply = await ask(guard, k=100)
        body = reply.model_dump_json()
        assert len(body.encode()) < 900_000
        assert reply == EngineAskReply.model_validate(json.loads(body))
        assert reply.hits[0].native_score == 0.0
