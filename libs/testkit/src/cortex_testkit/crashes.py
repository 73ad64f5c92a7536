"""The sleep service as a process that dies (SIGKILL) right before a commit of its choice, again and again.

A constraint trigger on everything that sleep writes counts the transactions of runs at their commit, when all of their
statements and all that they did elsewhere is done. The one that it waits for it parks behind a lock of the test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunState
from cortex_contracts.rpc.sleep import SleepCause, SleepRun
from cortex_contracts.subjects import SleepPhase
from cortex_store import sleep_runs
from cortex_store.database import Database
from cortex_testkit.eventually import eventually
from cortex_testkit.postgres_server import PostgresDatabase
from cortex_testkit.process import RunningService, service_process

LOCK: Final = 4711
DEATHS: Final = (1, 2, 3, 4, 6, 9, 14)
"""Each start goes further than the one before, or one that dies at its first commit would never get anywhere."""

PARK: Final = f"""
CREATE SEQUENCE test_commits;
CREATE TABLE test_death (at bigint NOT NULL);
INSERT INTO test_death VALUES (0);
CREATE FUNCTION test_park() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF current_setting('application_name') LIKE 'cortex-sleep-run%'
        AND current_setting('test.commit', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM set_config('test.commit', pg_current_xact_id()::text, true);
        IF nextval('test_commits') = (SELECT at FROM test_death) THEN
            PERFORM pg_advisory_xact_lock({LOCK}, 1);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
        AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'test_%'
        AND has_any_column_privilege('cortex_sleep', c.oid, 'INSERT, UPDATE') LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER test_park AFTER INSERT OR UPDATE OR DELETE ON %I '
            'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION test_park()', name);
    END LOOP;
END
$$;
"""
PARKED: Final = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = {LOCK} AND NOT granted"


@dataclass
class Crashes:
    """Runs phases in service processes that die. `settings` are those of the service beside its database."""

    postgres: PostgresDatabase
    folder: Path
    settings: Mapping[str, str]
    _parking: bool = False

    async def through(
        self,
        phase: SleepPhase,
        org: str = "local",
        namespace: str = "work",
        *,
        deaths: Iterable[int] = DEATHS,
        between: Callable[[], Awaitable[None]] | None = None,
    ) -> int:
        """Run the phase, as one run, by one service after the other: the first dies before its `deaths[0]`-th commit,
        and so on, the last one ends the run, which must be done then. `between` looks at what each death has left.

        How many died; that a run is shorter than a death is far away is no error.
        """
        operator = Principal(org=org, subject="operator")
        database = Database(self.postgres.sleep_url)
        await database.open()
        holder = await asyncpg.connect(self.postgres.migration_url)
        try:
            await self._prepare(holder)
            async with database.transaction(operator) as connection:
                run = await sleep_runs.ask(connection, namespace, SleepCause.COMMAND, [phase])

            async def state() -> SleepRun:
                async with database.transaction(operator) as connection:
                    (one,) = await sleep_runs.get(connection, [run])
                return one

            dead = 0
            for at in (*deaths, 0):
                if not await self._life(holder, database, state, at):
                    break
                dead += 1
                if between is not None:
                    await between()
            ended = await state()
            assert ended.state is SleepRunState.DONE, ended
            return dead
        finally:
            await holder.close()
            await database.close()

    async def _life(
        self, holder: asyncpg.Connection, database: Database, state: Callable[[], Awaitable[SleepRun]], at: int
    ) -> bool:
        """One service; whether it died, or else ended the run."""
        await holder.execute(f"SELECT setval('test_commits', 1, false); UPDATE test_death SET at = {at}")
        process = service_process("sleep", CORTEX_SLEEP_DATABASE_URL=self.postgres.sleep_url, **self.settings)
        with RunningService(process, self.folder) as service:

            async def what() -> str:
                if await holder.fetchval(PARKED):
                    return "parked"
                assert service.alive(), "it ended by itself"
                return "ended" if (await state()).finished_at is not None else ""

            try:
                if await eventually(what, within_s=60) == "ended":
                    return False
            except AssertionError as error:
                log = service.log.read_text(encoding="utf-8", errors="replace")[-4000:]
                raise AssertionError(f"neither dead nor done: {error}\n{log}") from None
            service.kill()
        # The server notices by itself that its client is gone, 2 s later; the test need not wait for that.
        async with database.unscoped() as connection:
            await connection.fetch(f"SELECT pg_terminate_backend(pid) FROM ({PARKED}) parked")

        async def nobody() -> bool:
            return not await holder.fetchval(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            )

        await eventually(nobody)
        return True

    async def _prepare(self, holder: asyncpg.Connection) -> None:
        if not self._parking:
            await holder.execute(PARK)
            self._parking = True
        await holder.execute(f"SELECT pg_advisory_lock({LOCK}, 1)")
