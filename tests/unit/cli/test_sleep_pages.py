"""`cortex sleep run` without a namespace works on all of them, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from cortex_cli import sleep
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import (
    SLEEP_RUN,
    SLEEP_RUNS,
    SleepCause,
    SleepRun,
    SleepRunRequest,
    SleepRuns,
    SleepRunsRequest,
)
from cortex_contracts.subjects import SleepPhase

NAMESPACES = [f"project-{number:02}" for number in range(7)]
AT = datetime(2026, 11, 30, tzinfo=UTC)


def run_of(namespace: str) -> SleepRun:
    return SleepRun(
        run_id=UUID(int=NAMESPACES.index(namespace)),
        namespace=namespace,
        cause=SleepCause.COMMAND,
        phases=(SleepPhase.DECAY,),
        state=SleepRunState.DONE,
        requested_at=AT,
        finished_at=AT,
    )


class PlayedClient:
    """Hears of nothing."""

    async def subscribe(self, *_: Any, **__: Any) -> None: ...


@pytest.mark.parametrize(("most", "pages"), [(3, 3), (7, 2), (8, 1)])
@pytest.mark.parametrize("wait", [True, False])
async def test_every_namespace_is_asked_for_once(
    monkeypatch: pytest.MonkeyPatch, most: int, pages: int, wait: bool
) -> None:
    asked: list[SleepRunRequest | SleepRunsRequest] = []

    async def call(_: object, rpc: object, request: Any, *, timeout_s: float) -> SleepRuns:
        asked.append(request)
        if rpc is SLEEP_RUN:
            named: Sequence[str] = [one for one in NAMESPACES if request.after is None or one > request.after][:most]
        else:
            assert rpc is SLEEP_RUNS
            assert len(request.run_ids) <= most
            named = [NAMESPACES[one.int] for one in request.run_ids]
        return SleepRuns(runs=tuple(map(run_of, reversed(named))))

    monkeypatch.setattr(sleep, "call", call)
    monkeypatch.setattr(sleep, "MAX_RUNS", most)
    monkeypatch.setattr(sleep, "ASK_EVERY_S", 0.01)
    request = SleepRunRequest(principal=Principal(org="local", subject="operator"))
    ended = await sleep._run(PlayedClient(), request, wait=wait, quiet=True)  # type: ignore[arg-type]
    assert sorted(one.namespace for one in ended) == NAMESPACES
    assert sum(isinstance(one, SleepRunRequest) for one in asked) == pages
