"""Sleep: what the background work has seen, does and did; to start and to stop it."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from pydantic import Field, field_validator

from cortex_contracts.messages.base import Message, Principal, ShortText, Timestamp, Token
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.subjects import SleepPhase

MAX_RUNS = 500


class SleepCause(StrEnum):
    """Why a run was asked for."""

    SCHEDULE = "schedule"
    PRESSURE = "pressure"
    """Many memory events came in."""
    RETRY = "retry"
    """Phases failed in the last run."""
    COMMAND = "command"
    CONTRADICTION = "contradiction"
    """A recall was contradicted."""


class SleepPhaseReport(Message):
    """One phase of a run."""

    phase: SleepPhase
    state: SleepRunState = SleepRunState.RUNNING
    done: int = Field(default=0, ge=0, description="of `total`, in units of the phase")
    total: int | None = Field(default=None, ge=0)
    counts: dict[ShortText, int] = Field(default_factory=dict, max_length=32, description="what it did")
    seconds: float = Field(default=0.0, ge=0, description="that it took")
    reason: ShortText | None = Field(default=None, description="why it failed")


class SleepRun(Message):
    """A run of phases on one namespace."""

    run_id: UUID
    namespace: Token
    cause: SleepCause
    phases: tuple[SleepPhase, ...]
    dry_run: bool = False
    state: SleepRunState
    phase: SleepPhase | None = Field(default=None, description="the one that is worked on")
    reports: tuple[SleepPhaseReport, ...] = Field(default=(), description="of the phases that were begun, in order")
    stop_requested: bool = False
    reason: ShortText | None = Field(default=None, description="why it failed")
    requested_at: Timestamp
    began_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class SleepStatusRequest(Message):
    """What has sleep seen of the principal's org, and what does it do?"""

    principal: Principal


class NamespaceProgress(Message):
    """Memory events that sleep has taken in for one namespace."""

    namespace: Token
    events_seen: int = Field(ge=0)
    last_event_at: Timestamp


class SleepStatus(Message):
    """Progress per namespace, in alphabetical order."""

    namespaces: tuple[NamespaceProgress, ...]
    runs: tuple[SleepRun, ...] = Field(
        default=(), description="of each namespace the last one that has ended and those that have not, oldest first"
    )
    next_at: Timestamp | None = Field(default=None, description="when the schedule runs next; none: there is none")


class SleepRunWanted(Message):
    """Run phases of the background work now, in the background."""

    namespace: Token | None = Field(
        default=None, description=f"none: those that the principal may write, the first {MAX_RUNS} of them"
    )
    after: Token | None = Field(
        default=None, description="without a namespace: those that come behind this one, in the order of their bytes"
    )
    phases: tuple[SleepPhase, ...] = Field(default=(), max_length=16, description="none: all of them")
    dry_run: bool = Field(default=False, description="count what would be done, change nothing")

    @field_validator("phases")
    @classmethod
    def _can_be_run(cls, phases: tuple[SleepPhase, ...]) -> tuple[SleepPhase, ...]:
        if SleepPhase.OBSERVE in phases:
            raise ValueError("observe goes on all the time and is no phase of a run")
        return phases


class SleepRunRequest(SleepRunWanted):
    """Run phases of the background work now, for one principal."""

    principal: Principal


class SleepStopWanted(Message):
    """Stop runs: those that wait at once, those that run after the step that they are at. What is done stays."""

    namespace: Token | None = Field(default=None, description="none: every one that the principal may write")


class SleepStopRequest(SleepStopWanted):
    """Stop runs, for one principal."""

    principal: Principal


class SleepRunsRequest(Message):
    """How far are these runs?"""

    principal: Principal
    run_ids: tuple[UUID, ...] = Field(min_length=1, max_length=MAX_RUNS)


class SleepRuns(Message):
    """Runs, oldest first."""

    runs: tuple[SleepRun, ...] = Field(max_length=MAX_RUNS)


SLEEP_STATUS = Rpc("sleep", "status", SleepStatusRequest, SleepStatus, 2.0, "What sleep has seen and does.")
SLEEP_RUN = Rpc("sleep", "run", SleepRunRequest, SleepRuns, 5.0, "Run phases of the background work.")
SLEEP_STOP = Rpc("sleep", "stop", SleepStopRequest, SleepRuns, 5.0, "Stop runs of the background work.")
SLEEP_RUNS = Rpc("sleep", "runs", SleepRunsRequest, SleepRuns, 2.0, "How far runs of the background work are.")

SLEEP_RPCS = (SLEEP_STATUS, SLEEP_RUN, SLEEP_STOP, SLEEP_RUNS)
