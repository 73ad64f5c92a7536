"""One installation in embedded mode: its programs made from its home, its secrets and its ports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from cortex_contracts.permissions import PROVISIONER, USERS, publisher_user
from cortex_infra import services
from cortex_infra.bootstrap import DATABASE, MIGRATION_ROLE, RUNTIME_ROLE, SLEEP_ROLE, RolePasswords
from cortex_infra.credentials import Credentials
from cortex_infra.errors import SettingError
from cortex_infra.home import Home
from cortex_infra.ports import LOOPBACK, Ports
from cortex_infra.servers import cache, embedder, nats, objects, postgres
from cortex_infra.servers.process import ServerProcess
from cortex_infra.services import SERVICES, Service
from cortex_infra.supervision import Program
from cortex_runtime.settings_part import PREFIX, config_file

DEFAULT_ORG: Final = "local"
BUCKET: Final = "cortex"
# Who brings one of these needs no server of ours. NATS and PostgreSQL are always ours in embedded mode.
_REPLACEABLE: Final = {
    cache.NAME: ("CORTEX_CACHE_URL",),
    objects.NAME: ("CORTEX_COLD_STORE_ENDPOINT", "COLD_STORE_ENDPOINT", "CORTEX_COLD_STORE_WAREHOUSE"),
    embedder.NAME: ("CORTEX_EMBEDDINGS_URL", "TEI_EMBEDDINGS_URL"),
}


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything that is to run, and how the orchestrator reaches it. Holds secrets."""

    home: Home
    servers: tuple[ServerProcess, ...]
    services: tuple[ServerProcess, ...]
    superuser_dsn: str
    migration_dsn: str
    role_passwords: RolePasswords
    webhook_secret: str
    """What a push delivery is signed with; the first one during a rotation."""
    provisioner_url: str
    operator_url: str
    publisher_url: str

    @property
    def programs(self) -> list[Program]:
        """What the supervisor gets."""
        return [
            *(Program(process, "servers") for process in self.servers),
            *(Program(process, "services") for process in self.services),
        ]


def credentials(home: Home) -> Credentials:
    """The secrets of an installation."""
    return Credentials(home.credentials_file)


def nats_url(home: Home, user: str) -> str:
    """Where a NATS user of the embedded server connects, for the command line (`operator`) and publishers."""
    ports = Ports(home.ports_file)
    return nats.url(user, credentials(home).get(f"nats-{user}"), ports.remembered(nats.NAME) or 0)


def database_url(home: Home, role: str = RUNTIME_ROLE) -> str:
    """Where a role connects to the embedded database."""
    ports = Ports(home.ports_file)
    return postgres.url(role, credentials(home).get(f"postgres-{role}"), ports.remembered(postgres.NAME) or 0, DATABASE)


def prepare(
    home: Home, *, settings: Mapping[str, str] = os.environ, wanted: Sequence[Service] = SERVICES
) -> Installation:
    """Write every server's configuration and choose every port. The home must be prepared and locked.

    Raises:
        HomeError, ServerError, SettingError: something is missing, taken or invalid.
    """
    secrets = credentials(home)
    ports = Ports(home.ports_file)
    settings = _from_file(home, settings) | dict(settings)
    org = settings.get("CORTEX_ORG") or DEFAULT_ORG
    replaced = {name for name, variables in _REPLACEABLE.items() if any(settings.get(name) for name in variables)}
    webhook_secrets = settings.get("CORTEX_WEBHOOK_SECRETS") or secrets.get("webhook-secret")
    connections: dict[str, str] = {
        "CORTEX_WEBHOOK_SECRETS": webhook_secrets,
        "CORTEX_HTTP_TOKEN": settings.get("CORTEX_HTTP_TOKEN") or home.token(),
    }
    servers: list[ServerProcess] = []

    users = [*USERS, publisher_user(org)]
    passwords = {user: secrets.get(f"nats-{user}") for user in users}
    nats_port = ports.take(nats.NAME)
    servers.append(nats.prepare(home.data / "nats", port=nats_port, passwords=passwords, publishers=(org,)))

    superuser = secrets.get("postgres-superuser")
    roles = {role: secrets.get(f"postgres-{role}") for role in (MIGRATION_ROLE, RUNTIME_ROLE, SLEEP_ROLE)}
    # The superuser's password is set once, when the cluster is made: it must not be lost before.
    secrets.save()
    postgres_port = ports.take(postgres.NAME)
    servers.append(postgres.prepare(home.data / "postgres", port=postgres_port, password=superuser))
    dsn = {role: postgres.url(role, password, postgres_port, DATABASE) for role, password in roles.items()}
    connections |= {"CORTEX_DATABASE_URL": dsn[RUNTIME_ROLE], "CORTEX_SLEEP_DATABASE_URL": dsn[SLEEP_ROLE]}

    if cache.NAME not in replaced:
        port, password = ports.take(cache.NAME), secrets.get("cache")
        servers.append(cache.prepare(home.data / "cache", port=port, password=password))
        connections["CORTEX_CACHE_URL"] = cache.url(password, port)
    if objects.NAME not in replaced:
        taken = {listener: ports.take(f"{objects.NAME}-{listener}") for listener in objects.LISTENERS}
        access_key, secret_key = secrets.get("objects-access-key"), secrets.get("objects-secret-key")
        servers.append(
            objects.prepare(
                home.data / "objects",
                ports=taken,
                sockets=home.sockets(),
                access_key=access_key,
                secret_key=secret_key,
                internal_key=secrets.get("objects-internal-key"),
            )
        )
        connections |= {
            "CORTEX_COLD_STORE_ENDPOINT": objects.url(taken["s3"]),
            "CORTEX_COLD_STORE_BUCKET": settings.get("CORTEX_COLD_STORE_BUCKET") or BUCKET,
            "CORTEX_COLD_STORE_REGION": objects.REGION,
            "CORTEX_COLD_STORE_ACCESS_KEY": access_key,
            "CORTEX_COLD_STORE_SECRET_KEY": secret_key,
        }
    if embedder.NAME not in replaced:
        port, api_key = ports.take(embedder.NAME), secrets.get("embedder")
        model = embedder.bundled(settings.get("CORTEX_EMBEDDER_MODEL") or embedder.MODEL)
        servers.append(embedder.prepare(port=port, api_key=api_key, model=model.name))
        connections |= {
            "CORTEX_EMBEDDINGS_URL": embedder.url(port),
            "CORTEX_EMBEDDINGS_MODEL": model.name,
            "CORTEX_EMBEDDINGS_DIMENSION": str(model.dimensions),
            "CORTEX_EMBEDDINGS_API_KEY": api_key,
        }

    dimension = (settings | connections).get("CORTEX_EMBEDDINGS_DIMENSION") or embedder.DIMENSIONS
    processes = []
    for service in wanted:
        common = {
            "CORTEX_HOME": str(home.path),
            "CORTEX_INSTANCE": home.instance,
            "CORTEX_ORG": org,
            "CORTEX_NATS_URL": nats.url(service.name, secrets.get(f"nats-{service.name}"), nats_port),
        }
        processes.append(
            services.prepare(service, ports=ports, settings=settings, connections=connections, common=common)
        )
    secrets.get("supervisor")
    secrets.save()
    ports.save()
    publisher = publisher_user(org)
    return Installation(
        home,
        tuple(servers),
        tuple(processes),
        superuser_dsn=postgres.url(postgres.SUPERUSER, superuser, postgres_port, "postgres", LOOPBACK),
        # What a database is made for, the first time (0001_foundation.sql).
        migration_dsn=f"{dsn[MIGRATION_ROLE]}?cortex.embedding_dimension={dimension}",
        role_passwords=RolePasswords(*(roles[role] for role in (MIGRATION_ROLE, RUNTIME_ROLE, SLEEP_ROLE))),
        webhook_secret=webhook_secrets.split(",")[0].strip(),
        provisioner_url=nats.url(PROVISIONER, passwords[PROVISIONER], nats_port),
        operator_url=nats.url("operator", passwords["operator"], nats_port),
        publisher_url=nats.url(publisher, passwords[publisher], nats_port),
    )


def _from_file(home: Home, settings: Mapping[str, str]) -> dict[str, str]:
    """The single values of `cortex.yaml` under the names of their variables; the services read the rest themselves."""
    path = config_file({**settings, "CORTEX_HOME": str(home.path)})
    if path is None:
        return {}
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SettingError(f"{path} cannot be read: {type(error).__name__}") from error
    if not isinstance(values, dict):
        return {}
    single = {
        name: value for name, value in values.items() if isinstance(value, (str, int)) and not isinstance(value, bool)
    }
    return {f"{PREFIX}{name}".upper(): str(value) for name, value in single.items()}
