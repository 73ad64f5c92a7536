"""From an empty folder to a system that answers: what `cortex up`, `start` and `stop` do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from cortex_infra import bootstrap, installation, migrate, provision
from cortex_infra.errors import InfraError, SupervisionError
from cortex_infra.home import Home, record_holder, starting, write_private
from cortex_infra.installation import Installation
from cortex_infra.journal import deaths, failure
from cortex_infra.ports import Ports
from cortex_infra.servers import nats, objects, postgres
from cortex_infra.servers.process import ServerProcess, wait_ready
from cortex_infra.services import SERVICES, Service
from cortex_infra.status import MANIFEST, manifest
from cortex_infra.supervision import Supervisor

_SERVER_TIMEOUT_S: Final = 60.0
_SERVICE_TIMEOUT_S: Final = 60.0
_FAILURE_CHECK_S: Final = 0.2

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of one part of a start: reported once when it begins (`seconds` is None) and once when it is done."""

    name: str
    seconds: float | None = None
    detail: str = ""


Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class System:
    """A system that was brought up."""

    installation: Installation
    supervisor: Supervisor
    started_at: float = field(default_factory=time.time)

    def url(self, service: str) -> str:
        """Where a service answers."""
        return next(process.url for process in self.installation.services if process.name == service)

    def deaths(self) -> list[dict[str, Any]]:
        """What the watchdog saw die since the start (see `journal.deaths`)."""
        return deaths(self.installation.home)

    async def ended(self) -> None:
        """Return when the system was stopped by somebody else.

        Raises:
            SupervisionError: the watchdog ended it; the message has the reason and the end of the log.
        """
        await self.supervisor.ended()
        found = failure(self.installation.home)
        if found:
            raise SupervisionError(str(found))


@contextlib.asynccontextmanager
async def running(
    home: Home,
    *,
    settings: Mapping[str, str] = os.environ,
    services: Sequence[Service] = SERVICES,
    progress: Progress = lambda _: None,
) -> AsyncIterator[System]:
    """A system for as long as the block runs (`cortex up`); whatever ends the block, nothing of it is left behind.

    SIGTERM and SIGHUP cancel the block, as SIGINT does under `asyncio.run`.

    Raises:
        InfraError: it did not come up; what had started is stopped.
    """
    home.prepare()
    with home.locked() as lock, _terminable():
        system = await _begin(home, settings, services, progress, lock, foreground=True)
        try:
            yield system
        finally:
            await _stop(home, system.supervisor)


async def start(
    home: Home,
    *,
    settings: Mapping[str, str] = os.environ,
    services: Sequence[Service] = SERVICES,
    progress: Progress = lambda _: None,
) -> System:
    """Bring a system up that stays when this process ends (`cortex start`).

    Raises:
        InfraError: it did not come up; what had started is stopped.
    """
    home.prepare()
    with home.locked() as lock, _terminable():
        system = await _begin(home, settings, services, progress, lock, foreground=False)
        record_holder(lock, system.supervisor.pid() or os.getpid())
        return system


async def stop(home: Home) -> bool:
    """End what runs in `home`, whoever started it (`cortex stop`); False if nothing did."""
    supervisor = Supervisor(home, "")
    if supervisor.pid() is None:
        return False
    await _stop(home, supervisor)
    return True


async def _begin(
    home: Home,
    settings: Mapping[str, str],
    services: Sequence[Service],
    progress: Progress,
    lock: int,
    *,
    foreground: bool,
) -> System:
    """Bring everything up while no other installation of this user does; if it fails, what had started is stopped."""
    async with starting():
        prepared, supervisor = _prepare(home, settings, services, progress)
        try:
            await _bring_up(prepared, supervisor, lock, progress, foreground=foreground)
        except BaseException:
            await _stop(home, supervisor)
            raise
        return System(prepared, supervisor)


def _prepare(
    home: Home, settings: Mapping[str, str], services: Sequence[Service], progress: Progress
) -> tuple[Installation, Supervisor]:
    with _step("prepare", progress):
        prepared = installation.prepare(home, settings=settings, wanted=services)
        write_private(home.run / MANIFEST, json.dumps(manifest(prepared)))
        return prepared, Supervisor(home, installation.credentials(home).get("supervisor"))


async def _bring_up(
    prepared: Installation, supervisor: Supervisor, lock: int, progress: Progress, *, foreground: bool
) -> None:
    with _step("supervisor", progress):
        await supervisor.start(prepared.programs, lock, foreground=foreground)
    await _unless_failed(prepared.home, supervisor, _start_all(prepared, supervisor, progress))


async def _start_all(prepared: Installation, supervisor: Supervisor, progress: Progress) -> None:
    await supervisor.start_group("servers")
    servers = {process.name: process for process in prepared.servers}
    try:
        async with asyncio.TaskGroup() as ready:
            for name, process in servers.items():
                if name not in (nats.NAME, postgres.NAME):
                    ready.create_task(_server(prepared.home, process, progress))
            # The services need the bus and the database to start; they wait for the others by themselves.
            async with asyncio.TaskGroup() as needed:
                needed.create_task(_bus(prepared, servers[nats.NAME], progress))
                needed.create_task(_database(prepared, servers[postgres.NAME], progress))
            if prepared.services:
                await supervisor.start_group("services")
                for process in prepared.services:
                    ready.create_task(_service(prepared.home, process, progress))
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors


async def _server(home: Home, process: ServerProcess, progress: Progress) -> None:
    def alive() -> bool:
        return not any(death["process"] == process.name for death in deaths(home))

    with _step(process.name, progress, process.url):
        await wait_ready(process, timeout_s=_SERVER_TIMEOUT_S, log=home.logs / f"{process.name}.log", alive=alive)


async def _service(home: Home, process: ServerProcess, progress: Progress) -> None:
    # A service may die and be started again; the watchdog says when that is hopeless.
    with _step(process.name, progress, process.url):
        await wait_ready(process, timeout_s=_SERVICE_TIMEOUT_S, log=home.logs / f"{process.name}.log")


async def _bus(prepared: Installation, process: ServerProcess, progress: Progress) -> None:
    await _server(prepared.home, process, progress)
    with _step("provision", progress):
        await provision.provision(prepared.provisioner_url)


async def _database(prepared: Installation, process: ServerProcess, progress: Progress) -> None:
    await _server(prepared.home, process, progress)
    with _step("migrate", progress):
        await bootstrap.bootstrap(prepared.superuser_dsn, prepared.role_passwords)
        await migrate.migrate(prepared.migration_dsn)


async def _unless_failed(home: Home, supervisor: Supervisor, work: Coroutine[Any, Any, _T]) -> _T:
    """The result of `work`; stops waiting for it when the watchdog gave up or the supervisor is gone."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=_FAILURE_CHECK_S))[0]:
            found = failure(home)
            if found:
                raise SupervisionError(str(found))
            if supervisor.pid() is None:
                raise SupervisionError(f"the supervisor ended during the start, see {home.logs / 'supervisord.log'}")
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _stop(home: Home, supervisor: Supervisor) -> None:
    stopping = asyncio.ensure_future(supervisor.stop())
    while not stopping.done():
        # A second Ctrl-C changes nothing: leaving now would leave processes behind.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(stopping)
    stopping.result()
    ports = Ports(home.ports_file)
    grpc = {name: ports.remembered(f"{objects.NAME}-{name}") for name in objects.LISTENERS}
    objects.remove_stray_sockets({name: port for name, port in grpc.items() if port})


@contextlib.contextmanager
def _step(name: str, progress: Progress, detail: str = "") -> Iterator[None]:
    progress(Step(name))
    begun = time.monotonic()
    yield
    progress(Step(name, time.monotonic() - begun, detail))


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    assert task is not None, "inside a task"
    signals = (signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error to show: one of ours if there is one."""
    leaves = list(_leaves(errors))
    return next((error for error in leaves if isinstance(error, InfraError)), leaves[0])


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
