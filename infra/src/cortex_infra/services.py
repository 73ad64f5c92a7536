"""The services that run beside the embedded servers: what they are called, where they listen, what they are told."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import httpx

from cortex_infra.errors import ForeignService, SettingError
from cortex_infra.ports import LOOPBACK, Ports
from cortex_infra.servers.process import ServerProcess


@dataclass(frozen=True, slots=True)
class Service:
    """One `python -m cortex_<name>`."""

    name: str
    port: int
    """The default; a setting or a remembered port goes before it."""
    needs: frozenset[str]
    """Names of the connection settings it gets: a service has no business with another one's secrets."""
    more_ports: Mapping[str, int] = field(default_factory=dict)
    """Other listeners, for example `sse`."""
    command: tuple[str, ...] = ()
    """Another program to start instead, for tests."""

    def variable(self, what: str) -> str:
        """Name of one of its own settings."""
        return f"CORTEX_{self.name.upper()}_{what}"


_CACHE: Final = frozenset({"CORTEX_CACHE_URL"})
_EMBEDDINGS: Final = frozenset(f"CORTEX_EMBEDDINGS_{part}" for part in ("URL", "MODEL", "DIMENSION", "API_KEY"))
_DATABASE: Final = frozenset({"CORTEX_DATABASE_URL"})
_COLD_STORE: Final = frozenset(
    f"CORTEX_COLD_STORE_{part}" for part in ("ENDPOINT", "BUCKET", "REGION", "ACCESS_KEY", "SECRET_KEY", "CATALOG")
)

SERVICES: Final = (
    Service(
        "gateway",
        9890,
        frozenset(
            {
                "CORTEX_HTTP_TOKEN",
                "CORTEX_JWT_SECRET",
                "CORTEX_CHAT_UPSTREAM_API_KEY",
                "CORTEX_ENGINES",
                "CORTEX_INBOX_TOKEN",
                "CORTEX_SYNTHESIS_CLAUDE_API_KEY",
            }
        ),
        {"sse": 9891},
    ),
    Service("webhook", 9892, frozenset({"CORTEX_WEBHOOK_SECRETS"})),
    Service("ingest", 9893, _DATABASE | _CACHE | _EMBEDDINGS),
    Service("recall", 9894, _DATABASE | _CACHE | _EMBEDDINGS),
    Service(
        "sleep",
        9895,
        frozenset({"CORTEX_SLEEP_DATABASE_URL", "CORTEX_WAKE_WEBHOOK_URL", "CORTEX_WAKE_WEBHOOK_SECRETS"})
        | _CACHE
        | _EMBEDDINGS
        | _COLD_STORE,
    ),
)


def prepare(
    service: Service,
    *,
    ports: Ports,
    settings: Mapping[str, str],
    connections: Mapping[str, str],
    common: Mapping[str, str],
) -> ServerProcess:
    """The process of `service`, its ports taken.

    `settings` are the user's (explicit ports and hosts), `connections` where the embedded servers answer (filtered by
    what the service needs), `common` goes to every service.

    Raises:
        PortTaken, SettingError: of the user's own ports.
    """
    host = settings.get(service.variable("HOST")) or LOOPBACK
    port = _port(service, "PORT", service.name, service.port, ports, settings, host)
    foreign = frozenset().union(*(other.needs for other in SERVICES)) - service.needs
    given = {name: value for name, value in settings.items() if name.startswith("CORTEX_") and name not in foreign}
    environment = given | dict(common)
    environment |= {name: value for name, value in connections.items() if name in service.needs}
    environment |= {service.variable("HOST"): host, service.variable("PORT"): str(port)}
    for name, default in service.more_ports.items():
        variable = f"{name.upper()}_PORT"
        more = _port(service, variable, f"{service.name}-{name}", default, ports, settings, host)
        environment[service.variable(variable)] = str(more)
    reachable = LOOPBACK if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
    url = f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{port}"

    async def ready() -> None:
        await ask(url, environment.get("CORTEX_INSTANCE", ""))

    return ServerProcess(
        service.name,
        # -P: the folder in which it is started holds files of the user, not modules.
        service.command or (sys.executable, "-P", "-m", f"cortex_{service.name}"),
        url,
        _version(service),
        ready,
        environment=environment,
        inherit_environment=True,
        # What is in flight is finished or given back.
        stop_wait_s=20.0,
    )


async def ask(url: str, instance: str, timeout_s: float = 2.5) -> None:
    """Return when the service of this installation says it is ready.

    Raises:
        httpx.HTTPError: it does not answer, or says why it is not.
        ForeignService: another installation's service answers on its port.
    """
    async with httpx.AsyncClient(timeout=timeout_s, trust_env=False) as client:
        answer = await client.get(f"{url}/health/ready")
    if answer.status_code != 200:
        raise httpx.HTTPStatusError(answer.text[:500], request=answer.request, response=answer)
    if answer.json().get("instance") != instance:
        raise ForeignService(f"a service of another installation answers at {url}")


def _port(
    service: Service, what: str, name: str, default: int, ports: Ports, settings: Mapping[str, str], host: str
) -> int:
    variable = service.variable(what)
    given = settings.get(variable)
    if given and (not given.isdecimal() or not 0 < int(given) < 65_536):
        raise SettingError(f"{variable}: expected a port number between 1 and 65535")
    return ports.take(name, default=default, explicit=int(given) if given else None, host=host)


def _version(service: Service) -> str:
    try:
        return importlib.metadata.version(f"cortex-{service.name}")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
