"""The life of a service: open what it needs for as long as it takes, work, and on SIGTERM or SIGINT stop in order.

The HTTP port answers from the first moment (alive, not ready). Resources open in the order of `use`, then the bus, so
that no message arrives before its handler can work. Stopping goes the other way: no new work, finish, flush, close.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Protocol, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from cortex_contracts.errors import CortexError
from cortex_runtime import VERSION, logs, tracing
from cortex_runtime.bus import Bus
from cortex_runtime.health import Health
from cortex_runtime.http_connection import Connection
from cortex_runtime.settings import WRONG_SETTINGS, ServiceSettings, load

OPEN_RETRY_S: Final = 1.0
BACKGROUND_STOP_S: Final = 10.0

log = logs.get(__name__)


class Resource(Protocol):
    """Something a service needs: opened before work starts, checked for readiness, closed after work ends."""

    async def open(self) -> None:
        """Make it usable. Raises CortexError when it cannot be yet."""
        ...

    async def check(self) -> None:
        """Is it usable? Raises CortexError when not."""
        ...

    async def close(self) -> None:
        """Let it go."""
        ...


ResourceT = TypeVar("ResourceT", bound=Resource)
SettingsT = TypeVar("SettingsT", bound=ServiceSettings)


class Service:
    """One service process. Declare what it uses, serves and runs, then `run`."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.name = settings.service
        self._settings = settings
        self._stop = asyncio.Event()
        self._exit_code = 0
        self.health = Health(self.name, settings.instance)
        self.bus = Bus(settings.nats_url.get_secret_value(), self.name, VERSION, on_closed=self.fail)
        self._resources: list[tuple[str, Resource]] = []
        self._background: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        self._servers = [_Http(settings.host, settings.port)]
        self._app: ASGIApp | None = None

    def use(self, name: str, resource: ResourceT, *, required: bool = True) -> ResourceT:
        """Open `resource` before work starts; a `required` one decides about readiness."""
        self._resources.append((name, resource))
        if required:
            self.health.add(name, resource.check)
        return resource

    def background(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a task beside the handlers from the time everything is open. When it fails, the service ends."""
        self._background.append((name, run))

    def mount(self, app: ASGIApp) -> None:
        """Serve `app` on the service's port, beside the health routes."""
        self._app = app

    def listen(self, host: str, port: int, app: ASGIApp) -> None:
        """Serve `app` on a port of its own."""
        self._servers.append(_Http(host, port, app))

    def fail(self, exit_code: int = 1) -> None:
        """End the process with an error; 1: what supervises it starts it again, `WRONG_SETTINGS`: it gives up."""
        self._exit_code = exit_code
        self._stop.set()

    def run(self) -> None:
        """Run until told to stop; ends the process with a non-zero exit code when something failed for good."""
        logs.configure(self.name, self._settings.log_level, self._settings.log_format)
        tracing.configure(self.name, VERSION)
        asyncio.run(self._main())
        if self._exit_code:
            raise SystemExit(self._exit_code)

    async def _main(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        self.health.add("bus", self.bus.check)
        async with self._http(), asyncio.TaskGroup() as group:
            work = group.create_task(self._work())
            await self._stop.wait()
            work.cancel()

    async def _work(self) -> None:
        opened: list[Resource] = []
        try:
            for name, resource in (*self._resources, ("bus", self.bus)):
                opened.append(resource)
                await self._open(name, resource)
            self.health.started = True
            # What the start has made stays to the end: no collection looks through it again, during a request or at the
            # exit, where it takes a fifth of all that starting and stopping costs (measured: 0.2 s of a processor).
            gc.freeze()
            log.info("service is working", version=VERSION)
            async with asyncio.TaskGroup() as group:
                for name, run in self._background:
                    group.create_task(self._guard(name, run))
                await asyncio.Event().wait()
        finally:
            self.health.started = False
            for resource in reversed(opened):
                try:
                    async with asyncio.timeout(BACKGROUND_STOP_S):
                        await resource.close()
                except Exception as error:  # edge: whatever fails to close, the rest must still be closed
                    log.warning("not closed cleanly", resource=type(resource).__name__, error=repr(error))
            log.info("service has stopped")

    async def _open(self, name: str, resource: Resource) -> None:
        last = ""
        while True:
            try:
                return await resource.open()
            except CortexError as error:
                if not error.retryable:
                    log.error("cannot start", resource=name, reason=error.message)
                    self.fail(WRONG_SETTINGS)
                    await asyncio.Event().wait()
                if error.message != last:
                    log.warning("waiting", resource=name, reason=error.message)
                    last = error.message
                await asyncio.sleep(OPEN_RETRY_S)

    async def _guard(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        try:
            await run()
        except Exception as error:  # edge: a background task has no caller to tell
            log.error("background task failed", task=name, exc_info=error)
            self.fail()

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[None]:
        self._servers[0].app = self._app
        for server in self._servers:
            own = Starlette(routes=[*self.health.routes()])
            if server.app:
                # Not as a Mount: no pattern of a route matches a path with a line end.
                own.router.default = server.app
            server.app = own
        tasks = [asyncio.create_task(server.serve(self.fail)) for server in self._servers]
        try:
            yield
        finally:
            for server in self._servers:
                server.stop()
            await asyncio.gather(*tasks)


def main(settings_class: type[SettingsT], build: Callable[[SettingsT], Service]) -> None:
    """Run one service: settings, composition, work. Wrong settings end the process with a sentence and exit code 2."""
    settings = load(settings_class)
    try:
        service = build(settings)
    except CortexError as error:
        print(f"cortex {settings.service}: {error.message}", file=sys.stderr)
        raise SystemExit(WRONG_SETTINGS) from None
    service.run()


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Any:
        """Leave the signals to the service: it stops the bus before HTTP."""
        yield


class _Http:
    """One HTTP port."""

    def __init__(self, host: str, port: int, app: ASGIApp | None = None) -> None:
        self._host = host
        self._port = port
        self.app = app
        self._server: _Server | None = None

    async def serve(self, failed: Callable[[], None]) -> None:
        """Serve until `stop`; a port that is taken fails the service."""
        assert self.app is not None
        self._server = _Server(
            uvicorn.Config(
                self.app,
                host=self._host,
                port=self._port,
                http=Connection,
                log_config=None,
                access_log=False,
                lifespan="auto",
                timeout_graceful_shutdown=3,
            )
        )
        try:
            await self._server.serve()
        except SystemExit:
            log.error("HTTP port cannot be served", host=self._host, port=self._port)
            failed()

    def stop(self) -> None:
        """Finish running requests and close the port."""
        if self._server is not None:
            self._server.should_exit = True
