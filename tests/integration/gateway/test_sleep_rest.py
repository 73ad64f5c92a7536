"""The background work over REST, with a sleep service that is played."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import Message, Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.keys import Role
from cortex_contracts.rpc.sleep import (
    SLEEP_RUN,
    SLEEP_STATUS,
    SLEEP_STOP,
    SleepCause,
    SleepRun,
    SleepRunRequest,
    SleepRuns,
    SleepRunWanted,
    SleepStatus,
    SleepStatusRequest,
    SleepStopRequest,
    SleepStopWanted,
)
from cortex_contracts.subjects import SleepPhase
from cortex_gateway.sleep import BackgroundWork
from cortex_runtime.bus import Bus
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing

RUNS = "/api/v1/sleep/runs"
RUN = SleepRun(
    run_id=UUID(int=7),
    namespace="harbour",
    cause=SleepCause.COMMAND,
    phases=(SleepPhase.DECAY,),
    state=SleepRunState.QUEUED,
    requested_at=datetime(2026, 11, 30, tzinfo=UTC),
)


@dataclass
class PlayedSleep:
    """Has one run, and keeps what it was asked."""

    asked: list[Message] = field(default_factory=list)

    async def run(self, request: SleepRunRequest) -> SleepRuns:
        self.asked.append(request)
        return SleepRuns(runs=(RUN,))

    async def status(self, request: SleepStatusRequest) -> SleepStatus:
        self.asked.append(request)
        return SleepStatus(namespaces=(), runs=(RUN,))

    async def stop(self, request: SleepStopRequest) -> SleepRuns:
        self.asked.append(request)
        return SleepRuns(runs=(RUN.model_copy(update={"stop_requested": True}),))


@pytest.fixture
async def sleep(nats_server: NatsServer) -> AsyncIterator[PlayedSleep]:
    played = PlayedSleep()
    async with playing(nats_server, (SLEEP_RUN, played.run), (SLEEP_STATUS, played.status), (SLEEP_STOP, played.stop)):
        yield played


async def test_an_owner_runs_it_sees_it_and_stops_it(gateway: Any, sleep: PlayedSleep) -> None:
    async with gateway.http() as http:
        begun = await http.post(RUNS, json={"namespace": "harbour", "phases": ["decay"], "dry_run": True})
        assert begun.status_code == 202, begun.text
        shown = await http.get(RUNS)
        stopped = await http.post(f"{RUNS}/stop", json={"namespace": "harbour"})
        unknown = await http.post(RUNS, json={"phases": ["dream"]})
        observe = await http.post(RUNS, json={"phases": ["observe"]})
        foreign = await http.post(RUNS, json={"principal": {"org": "acme", "subject": "mallory"}})
    assert [SleepRuns.model_validate(one.json()).runs[0].run_id for one in (begun, stopped)] == [RUN.run_id] * 2
    assert SleepStatus.model_validate(shown.json()).runs == (RUN,)
    assert [one.status_code for one in (unknown, observe, foreign)] == [422] * 3
    run, status, stop = sleep.asked
    assert isinstance(run, SleepRunRequest)
    assert (run.principal.org, run.namespace, run.phases, run.dry_run) == ("local", "harbour", ("decay",), True)
    assert (isinstance(status, SleepStatusRequest), isinstance(stop, SleepStopRequest)) == (True, True)
    assert stop.namespace == "harbour"  # type: ignore[attr-defined]


async def test_nobody_runs_it_without_credentials(gateway: Any, sleep: PlayedSleep) -> None:
    async with gateway.http(None) as http:
        answers = [await http.post(RUNS, json={}), await http.get(RUNS), await http.post(f"{RUNS}/stop", json={})]
    assert [one.status_code for one in answers] == [401] * 3
    assert not sleep.asked


async def test_only_owners_run_it(nats_server: NatsServer, sleep: PlayedSleep) -> None:
    bus = Bus(nats_server.url("gateway"), "gateway", "0.0.1")
    await bus.open()
    work = BackgroundWork(bus)
    member = Principal(org="local", subject="milly", role=Role.MEMBER)
    for refused in (
        work.run(member, SleepRunWanted()),
        work.status(member),
        work.stop(member, SleepStopWanted()),
    ):
        with pytest.raises(Permanent, match="only the role owner") as error:
            await refused
        assert error.value.code is ErrorCode.FORBIDDEN
    await bus.close()
    assert not sleep.asked
