"""What only a superuser may do: the roles, the database and the extension that everything else stands on."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

from cortex_infra.errors import SettingError

DATABASE: Final = "cortex"
MIGRATION_ROLE: Final = "cortex_migration"
RUNTIME_ROLE: Final = "cortex_runtime"
SLEEP_ROLE: Final = "cortex_sleep"
_SCRAM_ITERATIONS: Final = 4096
_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class RolePasswords:
    """The passwords of the roles; each start sets them again."""

    migration: str
    runtime: str
    sleep: str

    def by_role(self) -> Mapping[str, str]:
        """Role name to password."""
        return {MIGRATION_ROLE: self.migration, RUNTIME_ROLE: self.runtime, SLEEP_ROLE: self.sleep}


async def bootstrap(superuser_dsn: str, passwords: RolePasswords, database: str = DATABASE) -> None:
    """Make the roles, the database and its extension, or bring them to this state; safe to run again.

    `superuser_dsn` may name any database of the server.
    """
    connection = await asyncpg.connect(superuser_dsn, timeout=_TIMEOUT_S)
    try:
        for role, password in passwords.by_role().items():
            await _role(connection, role, password)
        if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", database):
            # Not inside a transaction, so two at once may meet here.
            with contextlib.suppress(asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
                await connection.execute(
                    f"CREATE DATABASE {_identifier(database)} OWNER {MIGRATION_ROLE} TEMPLATE template0 ENCODING 'UTF8'"
                )
        await connection.execute(
            f"REVOKE ALL ON DATABASE {_identifier(database)} FROM PUBLIC;"
            f"GRANT CONNECT ON DATABASE {_identifier(database)} TO {RUNTIME_ROLE}, {SLEEP_ROLE};"
            f"GRANT ALL ON DATABASE {_identifier(database)} TO {MIGRATION_ROLE}"
        )
    finally:
        await connection.close(timeout=_TIMEOUT_S)
    connection = await asyncpg.connect(with_database(superuser_dsn, database), timeout=_TIMEOUT_S)
    try:
        if not await connection.fetchval("SELECT true FROM pg_extension WHERE extname = 'vector'"):
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await connection.execute(
            f"ALTER SCHEMA public OWNER TO {MIGRATION_ROLE};"
            "REVOKE ALL ON SCHEMA public FROM PUBLIC;"
            f"GRANT USAGE ON SCHEMA public TO {RUNTIME_ROLE}, {SLEEP_ROLE}"
        )
    finally:
        await connection.close(timeout=_TIMEOUT_S)


def with_database(dsn: str, database: str) -> str:
    """The same server and credentials, another database."""
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{quote(database)}"))


def password_of(variable: str, dsn: str, role: str) -> str:
    """The password in `dsn`, the value of `variable`, which must be for `role`.

    Raises:
        SettingError: it is for another role, or has no password.
    """
    parts = urlsplit(dsn)
    if parts.username != role or not parts.password:
        raise SettingError(f"{variable}: expected postgresql://{role}:password@host/database")
    return parts.password


async def _role(connection: asyncpg.Connection, role: str, password: str) -> None:
    if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
        with contextlib.suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            await connection.execute(f"CREATE ROLE {role}")
    await connection.execute(
        f"ALTER ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION "
        f"PASSWORD '{scram_verifier(password, secrets.token_bytes(16))}'"
    )


def scram_verifier(password: str, salt: bytes) -> str:
    """What PostgreSQL stores for `password` (RFC 5803), so that the password itself is in no statement and no log."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _SCRAM_ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    encoded = [base64.b64encode(part).decode("ascii") for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_SCRAM_ITERATIONS}:{encoded[0]}${encoded[1]}:{encoded[2]}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
