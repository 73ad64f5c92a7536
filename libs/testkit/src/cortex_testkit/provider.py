"""Where a test server comes from (ADR 0007): an address, the embedded binary, a container, or a clear failure."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from cortex_infra.errors import ServerError
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer
from cortex_testkit.eventually import eventually

PINNED: Final = "CORTEX_TEST_PROVIDER"
EMBEDDED: Final = "embedded"
CONTAINERS: Final = "containers"

ServerT = TypeVar("ServerT")


class NoServer(Exception):
    """No way to get a server; the message says what to set or install."""


def find(
    name: str,
    external: Callable[[str], ServerT],
    embedded: Callable[[ExitStack], ServerT],
    container: Callable[[ExitStack], ServerT],
    stack: ExitStack,
) -> ServerT:
    """The server called `name` from the first provider that has it; what it started ends with `stack`.

    Raises:
        NoServer: none has it.
    """
    variable = f"CORTEX_TEST_{name.upper()}_URL"
    if address := os.environ.get(variable):
        return external(address)
    pinned = os.environ.get(PINNED)
    if pinned not in (None, EMBEDDED, CONTAINERS):
        raise NoServer(f"{PINNED} must be {EMBEDDED} or {CONTAINERS}, got {pinned!r}")
    problems = []
    if pinned != CONTAINERS:
        try:
            return embedded(stack)
        except ServerError as error:
            problems.append(f"embedded: {error}")
    if pinned != EMBEDDED:
        # testcontainers raises docker.errors.DockerException at the first use when no engine answers.
        from docker.errors import DockerException

        try:
            return container(stack)
        except DockerException as error:
            problems.append(f"container: {type(error).__name__}")
    raise NoServer(
        f"no {name} server for the tests: set {variable}, run `make setup`, or start Docker ({'; '.join(problems)})"
    )


@contextmanager
def folder() -> Iterator[Path]:
    """A private folder with a short path (sockets have a limit of about 100 bytes), removed at the end."""
    with tempfile.TemporaryDirectory(prefix="cortex-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def run(process: ServerProcess, directory: Path, stack: ExitStack) -> RunningServer:
    """Start an embedded server and wait until it answers; it ends with `stack`."""
    server = stack.enter_context(RunningServer(process, directory / "logs"))
    asyncio.run(server.wait_ready())
    return server


async def answers(ask: Callable[[], Awaitable[object]], within_s: float = 60.0) -> None:
    """Wait until a server in a container answers; whatever its client raises means not yet."""
    await eventually(lambda: _asked(ask), within_s=within_s, ignoring=(Exception,))


async def _asked(ask: Callable[[], Awaitable[object]]) -> bool:
    await ask()
    return True
