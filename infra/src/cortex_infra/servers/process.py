"""What every server module yields: a process to start, and the question that tells whether it is ready."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import tenacity

from cortex_infra import launch
from cortex_infra.errors import ServerDied, ServerError, ServerNotReady
from cortex_infra.home import write_private

_PROBE_TIMEOUT_S: Final = 3.0
_LOG_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A process that is ready to be started by whoever wants to own it."""

    name: str
    command: tuple[str, ...]
    url: str
    """Where it answers, without credentials."""
    version: str
    ready: Callable[[], Awaitable[None]]
    """Asks the server itself; raises whatever the client raises while it is not ready."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment it is started from; may hold secrets."""
    inherit_environment: bool = False
    """Whether it sees all of the environment, not just the part without secrets."""
    run_as: str | None = None
    """The user to become, for a server that refuses to run as root."""
    stop_signal: str = "TERM"
    stop_wait_s: float = 10.0
    """After this long it is killed."""
    orphan_signal: str = "KILL"
    """What it gets when its parent dies: nobody is left to insist on a polite one."""

    def write_launch_file(self, file: Path, parent: int | Path) -> tuple[str, ...]:
        """Write what `cortex_infra.launch` needs (mode 0600: it holds secrets); returns the command that reads it.

        `parent` is the id of the process that will run the command, or the file in which it will keep its id.
        """
        write_private(
            file,
            json.dumps(
                {
                    "command": self.command,
                    "environment": dict(self.environment),
                    "inherit_environment": self.inherit_environment,
                    "run_as": self.run_as,
                    "orphan_signal": self.orphan_signal,
                    "parent": parent if isinstance(parent, int) else str(parent),
                }
            ),
        )
        # -I and -S: the launcher needs the standard library only, and starts twice as fast without site-packages.
        return (sys.executable, "-I", "-S", launch.__file__, str(file))


def binary(name: str, distribution: str) -> Path:
    """The program that `distribution` installed beside the running Python.

    Raises:
        ServerError: it is not there.
    """
    path = Path(sysconfig.get_path("scripts")) / name
    if not path.is_file():
        raise ServerError(f"expected the program {path}: install cortex-infra[embedded], which brings {distribution}")
    return path


def distribution_version(distribution: str) -> str:
    """Version of an installed distribution.

    Raises:
        ServerError: it is not installed.
    """
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise ServerError(f"{distribution} is not installed: install cortex-infra[embedded]") from None


async def wait_ready(
    process: ServerProcess, *, timeout_s: float, log: Path | None = None, alive: Callable[[], bool] = lambda: True
) -> None:
    """Ask the server until it answers as it should.

    Raises:
        ServerDied: `alive` says that its process ended.
        ServerNotReady: `timeout_s` is over. Both messages end with the last lines of `log`.
    """

    def check_alive(_: tenacity.RetryCallState) -> None:
        if not alive():
            raise ServerDied(f"{process.name} ended before it was ready{_quoted(log)}")

    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_after_delay(timeout_s),
        wait=tenacity.wait_exponential(multiplier=0.05, max=0.5),
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, Exception) and not isinstance(error, ServerDied)
        ),
        after=check_alive,
    )

    async def probe() -> None:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            await process.ready()

    try:
        await retrying(probe)
    except tenacity.RetryError as error:
        cause = error.last_attempt.exception()
        raise ServerNotReady(
            f"{process.name} was not ready after {timeout_s:g} s "
            f"({type(cause).__name__}: {str(cause)[:200]}){_quoted(log)}"
        ) from cause


def log_tail(log: Path, lines: int = _LOG_LINES) -> list[str]:
    """The last lines of a log; empty when there is none."""
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 16_384))
            return stream.read().decode("utf-8", "replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def _quoted(log: Path | None) -> str:
    lines = log_tail(log) if log else []
    return "".join(f"\n  {line}" for line in (f"; the end of {log}:", *lines)) if lines else ""
