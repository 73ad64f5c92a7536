"""What runs: the answer to `cortex status --json`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from cortex_contracts.permissions import PROVISIONER
from cortex_infra import installation, journal, services
from cortex_infra.errors import SupervisionError
from cortex_infra.home import Home
from cortex_infra.installation import Installation
from cortex_infra.memory import proportional_bytes
from cortex_infra.servers import cache, embedder, nats, objects, postgres
from cortex_infra.supervision import ProcessState, Supervisor

MANIFEST: Final = "manifest.json"
"""Name, address and version of what the last start started."""
READY, STARTING, STOPPED, FAILED = "ready", "starting", "stopped", "failed"
_PROBE_TIMEOUT_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """One process."""

    name: str
    url: str
    pid: int | None
    status: str
    """`ready` (it was asked), `starting` (it runs), `stopped` or `failed`."""
    version: str
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """The whole system."""

    home: str
    token_file: str
    services: tuple[ProcessStatus, ...]
    infra: tuple[ProcessStatus, ...]
    supervisor_pid: int | None
    memory_bytes: int
    """Of all processes, the supervisor's and the watchdog's included."""
    failure: str | None = None
    """Why the last run was ended by the watchdog; none while something runs, and after an orderly end."""

    @property
    def ready(self) -> bool:
        """Whether everything is."""
        return bool(self.infra) and all(process.status == READY for process in (*self.services, *self.infra))

    def as_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return asdict(self)


def manifest(prepared: Installation) -> dict[str, list[dict[str, str]]]:
    """What `status` needs to know of a start, without secrets."""
    return {
        group: [{"name": process.name, "url": process.url, "version": process.version} for process in processes]
        for group, processes in (("services", prepared.services), ("infra", prepared.servers))
    }


async def status(home: Home) -> Status:
    """Ask the supervisor and every process; writes nothing and works while nothing runs."""
    try:
        known = json.loads((home.run / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = {"services": [], "infra": []}
    secrets = installation.credentials(home)
    supervisor = Supervisor(home, secrets.get("supervisor"))
    pid = supervisor.pid()
    states: dict[str, ProcessState] = {}
    if pid is not None:
        try:
            states = await supervisor.states()
        except SupervisionError:
            # Ending, or not answering yet: its processes are shown as stopped.
            states = {}
    service_states, infra_states = await asyncio.gather(
        *(
            asyncio.gather(*(_process(entry, states.get(entry["name"]), group, home) for entry in known[group]))
            for group in ("services", "infra")
        )
    )
    return Status(
        str(home.path),
        str(home.token_file),
        tuple(service_states),
        tuple(infra_states),
        pid,
        proportional_bytes(pid) if pid is not None else 0,
        str(found) if pid is None and (found := journal.failure(home)) else None,
    )


async def _process(entry: dict[str, str], state: ProcessState | None, group: str, home: Home) -> ProcessStatus:
    pid = state.pid if state else None
    found = {"FATAL": FAILED, "BACKOFF": FAILED, "EXITED": FAILED}.get(state.state if state else "", STOPPED)
    if pid is not None:
        found = await _probed(_probe(entry["name"], entry["url"], group, home))
    return ProcessStatus(
        entry["name"], entry["url"], pid, found, entry["version"], proportional_bytes(pid) if pid is not None else 0
    )


async def _probed(probe: Awaitable[None]) -> str:
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            await probe
    except Exception:  # whatever the client raises, it is not ready
        return STARTING
    return READY


def _probe(name: str, url: str, group: str, home: Home) -> Awaitable[None]:
    parts, secrets = urlsplit(url), installation.credentials(home)
    host, port = parts.hostname or "", parts.port or 0
    if group == "services":
        return services.ask(url, home.instance)
    if name == nats.NAME:
        return nats.ask(nats.url(PROVISIONER, secrets.get(f"nats-{PROVISIONER}"), port, host))
    if name == postgres.NAME:
        return postgres.ask(postgres.url(postgres.SUPERUSER, secrets.get("postgres-superuser"), port, "postgres", host))
    if name == cache.NAME:
        return cache.ask(host, port, secrets.get("cache"))
    return {objects.NAME: objects.ask, embedder.NAME: embedder.ask}[name](url)
