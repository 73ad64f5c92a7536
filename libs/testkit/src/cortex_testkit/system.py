"""The whole system as plain processes that a test may kill and start again: nothing restarts them by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Final

import asyncpg
import httpx
import nats
from nats.aio.client import Client

from cortex_contracts import subjects
from cortex_contracts.messages.commands import Capture
from cortex_contracts.permissions import inbox_prefix, publisher_user
from cortex_infra import installation, ports
from cortex_infra.bootstrap import bootstrap
from cortex_infra.home import Home
from cortex_infra.migrate import migrate
from cortex_infra.provision import provision
from cortex_infra.servers import nats as nats_module
from cortex_infra.servers import postgres as postgres_module
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer
from cortex_infra.services import SERVICES
from cortex_runtime.publishing import publish
from cortex_testkit import provider
from cortex_testkit.eventually import eventually
from cortex_testkit.process import RunningService, service_process

ORG: Final = "local"
SETTINGS: Final = {"CORTEX_WEBHOOK_SECRETS": "test-secret"}
COUNT: Final = """
SELECT count(*) AS memories, count(DISTINCT content) AS contents,
    (SELECT count(*) FROM memory_events WHERE op = 'retain' AND namespace = $1) AS events,
    (SELECT count(*) FROM outbox) AS waiting
FROM memories WHERE namespace = $1
"""


class System:
    """Five servers and five services, by name. Tests that share it each set a `namespace` of their own."""

    def __init__(self, prepared: installation.Installation, stack: ExitStack) -> None:
        self.installation = prepared
        self.namespace = "test"
        self._stack = stack
        self._processes: dict[str, ServerProcess] = {p.name: p for p in (*prepared.servers, *prepared.services)}
        self._running: dict[str, RunningServer] = {}

    @property
    def services(self) -> list[str]:
        """Names of the five services."""
        return [process.name for process in self.installation.services]

    @property
    def names(self) -> list[str]:
        """Names of all processes."""
        return list(self._processes)

    def settings(self, name: str) -> Mapping[str, str]:
        """What one process was told."""
        return self._processes[name].environment

    def add_replica(self, service: str, name: str) -> None:
        """One more process of a service, to be launched by its own name."""
        more = {key: value for key, value in self.settings(service).items() if not key.endswith("_PORT")}
        self._processes[name] = service_process(service, **{**more, "CORTEX_INSTANCE": ""})

    def alive(self, name: str) -> bool:
        """Whether one process runs."""
        return self._running[name].alive()

    def url(self, service: str) -> str:
        """Where a service answers HTTP."""
        return self._processes[service].url

    @property
    def headers(self) -> dict[str, str]:
        """The credentials for the gateway."""
        return {"Authorization": f"Bearer {self.installation.home.token()}"}

    async def start(self) -> None:
        """Start everything and wait until it is ready."""
        for process in self.installation.servers:
            self.launch(process.name)
        await asyncio.gather(*(self.ready(process.name) for process in self.installation.servers))
        await bootstrap(self.installation.superuser_dsn, self.installation.role_passwords)
        await migrate(self.installation.migration_dsn)
        await provision(self.installation.provisioner_url)
        for name in self.services:
            self.launch(name)
        await self.all_ready()

    def launch(self, name: str) -> None:
        """Start one process, again if it ran before."""
        directory = self.installation.home.run / name
        start = RunningService if self._processes[name].name in self.services else RunningServer
        self._running[name] = self._stack.enter_context(start(self._processes[name], directory))

    def kill(self, name: str) -> None:
        """End one process at once, as a crash would."""
        self._running[name].kill()

    def kill_services(self) -> None:
        """End every service at once."""
        for name in self._running.keys() & set(self.services):
            self.kill(name)

    def stop(self, name: str) -> None:
        """End one process politely."""
        self._running[name].stop()

    def pid(self, name: str) -> int:
        """Process id of one process."""
        return self._running[name].pid

    async def restore(self) -> None:
        """Start again what a test has left dead, and wait until everything is ready."""
        for name, running in self._running.items():
            if not running.alive():
                self.launch(name)
        await asyncio.gather(*(self.ready(name) for name in self._running))

    async def ready(self, name: str) -> None:
        """Wait until one process answers."""
        await self._running[name].wait_ready()

    async def all_ready(self) -> None:
        """Wait until every service says that it is ready."""
        await asyncio.gather(*(self.ready(name) for name in self.services))

    async def unready(self, service: str) -> None:
        """Wait until a service says that it is not ready."""
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            await eventually(lambda: client.get(f"{self.url(service)}/health/ready"), lambda r: r.status_code == 503)

    async def outage(self, name: str, seconds: float) -> None:
        """Kill a server, keep it away for `seconds`, start it again. The time is what is tested, not a wait."""
        self.kill(name)
        await asyncio.sleep(seconds)
        self.launch(name)
        await self.ready(name)

    @asynccontextmanager
    async def publisher(self) -> AsyncIterator[Client]:
        """A connection as an outside publisher, which reconnects by itself."""
        user = publisher_user(ORG)

        async def ignore(_: Exception) -> None:
            """An outage is what the test makes."""

        client = await nats.connect(
            self.installation.publisher_url,
            inbox_prefix=inbox_prefix(user),
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.2,
            error_cb=ignore,
        )
        try:
            yield client
        finally:
            with contextlib.suppress(nats.errors.Error):
                await client.close()

    async def capture(
        self, client: Client, message_id: str, content: str, more: Mapping[str, str] | None = None
    ) -> None:
        """Publish one capture and wait for the acknowledgement."""
        body = Capture(namespace=self.namespace, content=content).model_dump_json().encode()
        await publish(client, subjects.capture(ORG, "chat"), body, message_id=message_id, more=more or {})

    async def counts(self) -> dict[str, int]:
        """Memories, distinct contents and retain events of the namespace, and events that wait in the outbox."""
        connection = await asyncpg.connect(installation.database_url(self.installation.home))
        try:
            async with connection.transaction():
                await connection.execute("SELECT bind_principal($1, 'testkit', NULL, NULL)", ORG)
                row = await connection.fetchrow(COUNT, self.namespace)
                return dict(row) if row else {}
        finally:
            await connection.close()

    async def ask(self, question: str) -> httpx.Response:
        """Ask the gateway."""
        async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
            return await client.post(f"{self.url('gateway')}/ask", json={"query": question}, headers=self.headers)


def own_ports() -> dict[str, str]:
    """Ports for the services: two systems that start at the same moment would both take the default ones."""
    taken: dict[str, int] = {}
    for service in SERVICES:
        for what in ("PORT", *(f"{name.upper()}_PORT" for name in service.more_ports)):
            taken[service.variable(what)] = ports.choose(taken.values())
    return {variable: str(port) for variable, port in taken.items()}


@asynccontextmanager
async def running_system(settings: Mapping[str, str] | None = None) -> AsyncIterator[System]:
    """A whole system in a folder of its own; nothing of it is left at the end."""
    with provider.folder() as directory, ExitStack() as stack:
        home = Home(directory / "home")
        home.prepare()
        with home.locked():
            # A folder is the cold store, unless a test says otherwise: starting an object store would cost seconds.
            cold = {"CORTEX_COLD_STORE_WAREHOUSE": str(directory / "cold")}
            told = {**SETTINGS, **cold, **own_ports(), **(settings or {})}
            system = System(installation.prepare(home, settings=told), stack)
            try:
                await system.start()
                yield system
            finally:
                # A polite end is another test's: each would take a second or two.
                system.kill_services()


NATS: Final = nats_module.NAME
POSTGRES: Final = postgres_module.NAME
CACHE: Final = "cache"
