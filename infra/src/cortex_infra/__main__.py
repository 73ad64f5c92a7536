"""`python -m cortex_infra bootstrap|migrate|provision|reindex`: one step each, safe to run again.

bootstrap  roles, database and extension    CORTEX_SUPERUSER_DATABASE_URL, CORTEX_DATABASE_URL,
                                            CORTEX_SLEEP_DATABASE_URL, CORTEX_MIGRATION_DATABASE_URL
migrate    tables                           CORTEX_MIGRATION_DATABASE_URL
provision  streams and consumers            CORTEX_NATS_URL (of the provisioner), CORTEX_NATS_REPLICAS (1)
reindex    another embedding model          CORTEX_MIGRATION_DATABASE_URL, CORTEX_EMBEDDINGS_* of the new model

`--wait SECONDS` goes on trying while the server does not answer (yet). `reindex` runs beside a working system and goes
on after it was killed; `--json` prints its progress as one object a line, `--restart` gives up an unfinished one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote, urlsplit

import asyncpg

from cortex_contracts.errors import CortexError, Unavailable
from cortex_infra import bootstrap, migrate, provision
from cortex_infra.errors import InfraError, SettingError
from cortex_runtime.settings import SettingsError, read
from cortex_runtime.settings_models import EmbeddingsSettings

RETRY_S: Final = 0.5
SUPERUSER_URL = "CORTEX_SUPERUSER_DATABASE_URL"
ROLE_URLS = {
    bootstrap.MIGRATION_ROLE: "CORTEX_MIGRATION_DATABASE_URL",
    bootstrap.RUNTIME_ROLE: "CORTEX_DATABASE_URL",
    bootstrap.SLEEP_ROLE: "CORTEX_SLEEP_DATABASE_URL",
}


async def run_bootstrap(environment: Mapping[str, str]) -> str:
    """Make roles, database and extension."""
    urls = {role: _needed(environment, variable) for role, variable in ROLE_URLS.items()}
    passwords = {role: bootstrap.password_of(ROLE_URLS[role], url, role) for role, url in urls.items()}
    database = unquote(urlsplit(urls[bootstrap.MIGRATION_ROLE]).path.removeprefix("/")) or bootstrap.DATABASE
    await bootstrap.bootstrap(
        _needed(environment, SUPERUSER_URL),
        bootstrap.RolePasswords(
            passwords[bootstrap.MIGRATION_ROLE], passwords[bootstrap.RUNTIME_ROLE], passwords[bootstrap.SLEEP_ROLE]
        ),
        database,
    )
    return f"the roles and the database {database} are there"


async def run_migrate(environment: Mapping[str, str]) -> str:
    """Apply the missing migrations."""
    applied = await migrate.migrate(_needed(environment, ROLE_URLS[bootstrap.MIGRATION_ROLE]))
    return "\n".join(f"applied {one.version:04} {one.name}" for one in applied) or "the database is up to date"


async def run_provision(environment: Mapping[str, str]) -> str:
    """Create or update streams and consumers."""
    replicas = environment.get("CORTEX_NATS_REPLICAS") or "1"
    if not replicas.isdecimal():
        raise SettingError(f"CORTEX_NATS_REPLICAS: expected a number, got {replicas!r}")
    changes = await provision.provision(_needed(environment, "CORTEX_NATS_URL"), replicas=int(replicas))
    return "\n".join(map(str, changes)) or "the streams and consumers are up to date"


async def run_reindex(environment: Mapping[str, str], *, restart: bool = False, as_json: bool = False) -> str:
    """Embed everything with the configured provider and make its model the recorded one."""
    # Imported late: what the other commands do needs no embedder.
    from cortex_infra.reindex import Progress, reindex
    from cortex_providers.embedder import configured

    def report(progress: Progress) -> None:
        if as_json:
            print(json.dumps({"phase": progress.phase, "done": progress.done, "total": progress.total}), flush=True)
        else:
            counted = f" {progress.done} of {progress.total}" if progress.total else ""
            print(f"{progress.phase}{counted}", flush=True)

    dsn = _needed(environment, ROLE_URLS[bootstrap.MIGRATION_ROLE])
    embedder = configured(read(EmbeddingsSettings))
    try:
        outcome = await reindex(dsn, embedder, restart=restart, progress=report)
    finally:
        await embedder.close()
    return json.dumps({"outcome": outcome}) if as_json else outcome


COMMANDS: Final = {
    "bootstrap": run_bootstrap,
    "migrate": run_migrate,
    "provision": run_provision,
    "reindex": run_reindex,
}


async def run(
    command: Callable[[Mapping[str, str]], Awaitable[str]], environment: Mapping[str, str], wait_s: float
) -> str:
    """One command, repeated for `wait_s` while nobody answers; anything else that goes wrong is raised at once."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return await command(environment)
        except (OSError, asyncpg.CannotConnectNowError, InfraError) as error:
            if not _is_away(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(RETRY_S)


def _is_away(error: Exception) -> bool:
    cause = error.__cause__ if isinstance(error, InfraError) else error
    return isinstance(cause, OSError | asyncpg.CannotConnectNowError | Unavailable)


def main() -> int:
    """Run the commands that are named, in this order; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m cortex_infra", description=__doc__.split("\n")[0])
    parser.add_argument("command", nargs="+", choices=list(COMMANDS))
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="for a server that does not answer yet"
    )
    parser.add_argument("--json", action="store_true", help="reindex: print its progress as JSON")
    parser.add_argument("--restart", action="store_true", help="reindex: give up an unfinished one to another model")
    arguments = parser.parse_args()
    commands = COMMANDS | {"reindex": partial(run_reindex, restart=arguments.restart, as_json=arguments.json)}
    logging.basicConfig(level=logging.WARNING)
    try:
        for command in arguments.command:
            print(asyncio.run(run(commands[command], os.environ, arguments.wait)), flush=True)
    except (InfraError, CortexError, SettingsError) as error:
        print(f"cortex: {error}", file=sys.stderr)
        return 1
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        print(f"cortex: the database refuses: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # Of the database; NATS comes as an InfraError.
        print(f"cortex: the server does not answer ({error.strerror or type(error).__name__})", file=sys.stderr)
        return 1
    return 0


def _needed(environment: Mapping[str, str], variable: str) -> str:
    value = environment.get(variable)
    if not value:
        raise SettingError(f"{variable} is not set")
    return value


if __name__ == "__main__":
    sys.exit(main())
