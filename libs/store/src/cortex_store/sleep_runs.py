"""Runs of the background work: asked for, worked on under the lock of their namespace, and remembered. Written with the
sleep role, in transactions that are bound to a principal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepCause, SleepPhaseReport, SleepRun
from cortex_contracts.subjects import SleepPhase
from cortex_store.connection import Connection, Row
from cortex_store.ids import uuid7


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run to be worked on, of any org."""

    id: UUID
    org: str
    namespace: str


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run that its worker goes on with; of a new one `phase` is none and `reports` is empty."""

    id: UUID
    org: str
    namespace: str
    cause: SleepCause
    phases: tuple[SleepPhase, ...]
    dry_run: bool
    began_at: datetime
    events_seen: int
    attempts: int
    """How often it was taken up, this time included, since it last got on."""
    stop_requested: bool
    phase: SleepPhase | None
    cursor: Mapping[str, str]
    reports: Mapping[SleepPhase, SleepPhaseReport] = field(default_factory=dict)


COLUMNS: Final = (
    "id, org, namespace, cause, phases, dry_run, state, phase, cursor::text AS cursor, reports::text AS reports, "
    "stop_requested, attempts, reason, events_seen, requested_at, began_at, finished_at"
)
# Who waits for a run that does all of it, waits for its run; but what is urgent does not wait behind what is not.
ASK: Final = """
WITH waiting AS (
    SELECT id FROM sleep_runs WHERE org = current_setting('cortex.org') AND namespace = $2 AND state = 'queued'
        AND phases @> $4 AND dry_run = $5 AND NOT stop_requested AND (cause = $6 OR $3 <> $6) ORDER BY id LIMIT 1
), asked AS (
    INSERT INTO sleep_runs (id, namespace, cause, phases, dry_run) SELECT $1, $2, $3, $4, $5
    WHERE NOT EXISTS (SELECT FROM waiting) RETURNING id
)
SELECT id FROM waiting UNION ALL SELECT id FROM asked
"""
OPEN: Final = "SELECT id, org, namespace FROM open_sleep_runs($1, $2)"
SCHEDULE: Final = "SELECT schedule_sleep_runs($1, $2, $3, $4)"
PURGE: Final = "SELECT purge_sleep_runs($1, $2)"
TAKE: Final = f"""
UPDATE sleep_runs r SET state = 'running', attempts = attempts + 1, began_at = coalesce(began_at, $2, now()),
    events_seen = CASE WHEN began_at IS NULL THEN coalesce((SELECT p.events_seen FROM sleep_progress p
        WHERE (p.org, p.namespace) = (r.org, r.namespace)), 0) ELSE events_seen END
WHERE id = $1 AND state IN ('queued', 'running') RETURNING {COLUMNS}
"""  # noqa: S608 - constants
BEGIN_PHASE: Final = "UPDATE sleep_runs SET phase = $2, cursor = '{}', attempts = 1 WHERE id = $1 AND state = 'running'"
SAVE: Final = "UPDATE sleep_runs SET cursor = $2::text::jsonb, attempts = 1 WHERE id = $1 AND state = 'running'"
REPORT: Final = """
UPDATE sleep_runs SET reports = reports || jsonb_build_object($2::text, $3::text::jsonb),
    attempts = CASE WHEN $4 THEN 1 ELSE attempts END
WHERE id = $1 AND state = 'running' RETURNING stop_requested
"""
END: Final = """
UPDATE sleep_runs SET state = $2, reason = $3, phase = NULL, cursor = '{}', finished_at = now()
WHERE id = $1 AND state = 'running'
"""
STOP: Final = f"""
UPDATE sleep_runs SET stop_requested = true, state = CASE WHEN state = 'queued' THEN 'stopped' ELSE state END,
    finished_at = CASE WHEN state = 'queued' THEN now() END
WHERE id IN (SELECT id FROM sleep_runs WHERE state IN ('queued', 'running') AND ($1::text IS NULL OR namespace = $1)
    AND bound_to('writable', namespace) ORDER BY id LIMIT $2 FOR UPDATE)
RETURNING {COLUMNS}
"""  # noqa: S608 - constants
GET: Final = f"SELECT {COLUMNS} FROM sleep_runs WHERE id = ANY ($1) ORDER BY id"  # noqa: S608 - constants
WRITABLE: Final = """
SELECT namespace FROM namespaces WHERE org = current_setting('cortex.org') AND bound_to('writable', namespace)
    AND ($2::text IS NULL OR namespace COLLATE "C" > $2)
ORDER BY namespace COLLATE "C" LIMIT $1
"""
CURRENT: Final = f"""
SELECT {COLUMNS} FROM sleep_runs r WHERE state IN ('queued', 'running') OR id = (
    SELECT l.id FROM sleep_runs l WHERE (l.org, l.namespace) = (r.org, r.namespace) AND l.finished_at IS NOT NULL
    ORDER BY l.id DESC LIMIT 1)
ORDER BY id DESC LIMIT $1
"""  # noqa: S608 - constants


async def ask(
    connection: Connection,
    namespace: str,
    cause: SleepCause,
    phases: Sequence[SleepPhase],
    *,
    dry_run: bool = False,
) -> UUID:
    """Ask for a run; its id, or that of one that waits already and does all of it."""
    asked: UUID = await connection.fetchval(
        ASK, uuid7(), namespace, cause, list(phases), dry_run, SleepCause.CONTRADICTION
    )
    return asked


async def schedule(
    connection: Connection, phases: Sequence[SleepPhase], since: datetime | None, pressure: int | None, pause: timedelta
) -> int:
    """Ask for a run of `phases` wherever one is due: no whole run began after `since`, or `pressure` events came in
    since one began, or the last one failed; how many there were. Needs no binding, as `open_runs` and `purge`."""
    asked: int = await connection.fetchval(SCHEDULE, list(phases), since, pressure, pause)
    return asked


async def open_runs(connection: Connection, limit: int, *, urgent: bool = False) -> tuple[OpenRun, ...]:
    """The next run of each namespace of each org that nobody works on; only what is urgent, or everything."""
    rows = await connection.fetch(OPEN, limit, urgent)
    return tuple(OpenRun(row["id"], row["org"], row["namespace"]) for row in rows)


async def purge(connection: Connection, age: timedelta, limit: int) -> int:
    """Forget runs that ended `age` ago, except for the last of each namespace; how many there were."""
    gone: int = await connection.fetchval(PURGE, age, limit)
    return gone


async def take(connection: Connection, run: UUID, now: datetime | None = None) -> TakenRun | None:
    """Go on with an open run, under the lock of its namespace; none: it has ended. A new one begins `now`."""
    row = await connection.fetchrow(TAKE, run, now)
    return _taken(row) if row else None


async def begin_phase(connection: Connection, run: UUID, phase: SleepPhase) -> None:
    """The run is at this phase from now on, at its beginning."""
    await connection.execute(BEGIN_PHASE, run, phase)


async def save(connection: Connection, run: UUID, cursor: Mapping[str, str]) -> None:
    """Keep how far the phase is."""
    await connection.execute(SAVE, run, json.dumps(dict(cursor)))


async def report(connection: Connection, run: UUID, report: SleepPhaseReport, *, got_on: bool = True) -> bool:
    """Keep what is told of a phase; is the run to be stopped?"""
    told = report.model_dump_json(exclude_defaults=True, exclude={"phase"})
    return bool(await connection.fetchval(REPORT, run, report.phase, told, got_on))


async def end(connection: Connection, run: UUID, state: SleepRunState, reason: str | None = None) -> None:
    """The run is over."""
    await connection.execute(END, run, state, reason)


async def request_stop(connection: Connection, namespace: str | None, limit: int) -> tuple[SleepRun, ...]:
    """Stop what waits, ask what runs to stop, of one namespace or of all that the principal may write."""
    return tuple(_run(row) for row in await connection.fetch(STOP, namespace, limit))


async def writable_namespaces(connection: Connection, limit: int, after: str | None = None) -> tuple[str, ...]:
    """The first `limit` namespaces with memories behind `after` that the principal may write, in the order of their
    bytes."""
    return tuple(row["namespace"] for row in await connection.fetch(WRITABLE, limit, after))


async def get(connection: Connection, runs: Sequence[UUID]) -> tuple[SleepRun, ...]:
    """These runs, oldest first."""
    return tuple(_run(row) for row in await connection.fetch(GET, list(runs)))


async def current(connection: Connection, limit: int) -> tuple[SleepRun, ...]:
    """Of each readable namespace the last run that has ended and those that have not: the newest, oldest first."""
    return tuple(_run(row) for row in reversed(await connection.fetch(CURRENT, limit)))


def _reports(row: Row) -> Mapping[SleepPhase, SleepPhaseReport]:
    stored: dict[str, Any] = json.loads(row["reports"])
    return {
        SleepPhase(phase): SleepPhaseReport.model_validate({"phase": phase, **told}) for phase, told in stored.items()
    }


def _taken(row: Row) -> TakenRun:
    return TakenRun(
        row["id"],
        row["org"],
        row["namespace"],
        SleepCause(row["cause"]),
        tuple(map(SleepPhase, row["phases"])),
        row["dry_run"],
        row["began_at"],
        row["events_seen"],
        row["attempts"],
        row["stop_requested"],
        SleepPhase(row["phase"]) if row["phase"] else None,
        json.loads(row["cursor"]),
        _reports(row),
    )


def _run(row: Row) -> SleepRun:
    reports = _reports(row)
    phases = tuple(map(SleepPhase, row["phases"]))
    return SleepRun(
        run_id=row["id"],
        namespace=row["namespace"],
        cause=SleepCause(row["cause"]),
        phases=phases,
        dry_run=row["dry_run"],
        state=SleepRunState(row["state"]),
        phase=row["phase"],
        reports=tuple(reports[phase] for phase in phases if phase in reports),
        stop_requested=row["stop_requested"],
        reason=row["reason"],
        requested_at=row["requested_at"],
        began_at=row["began_at"],
        finished_at=row["finished_at"],
    )
