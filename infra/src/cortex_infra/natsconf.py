"""The configuration text of nats-server: listener, JetStream, and one user per part of the system."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cortex_contracts.permissions import USERS, UserPermissions, of_publisher, publisher_user

_MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class NatsSettings:
    """What differs between one nats-server and another."""

    host: str
    port: int
    store: Path
    passwords: Mapping[str, str]
    """By user; every user of the contracts needs one, and every publisher."""
    publishers: tuple[str, ...] = ()
    """Orgs that outside publishers send captures for."""
    monitor_port: int | None = None
    """Health, statistics and connections over HTTP, without credentials: off unless somebody wants it."""
    server_name: str = "cortex"
    max_memory_store: int = 64 * _MEBIBYTE
    max_file_store: int = 16 * 1024 * _MEBIBYTE
    extra: tuple[str, ...] = field(default=())
    """Lines to add, for what a cluster or TLS needs."""


def render(settings: NatsSettings) -> str:
    """The configuration file as text. It holds passwords: write it for its owner only.

    Raises:
        KeyError: a user has no password.
    """
    users = {**USERS, **{publisher_user(org): of_publisher(org) for org in settings.publishers}}
    lines = [
        f"server_name: {_quote(settings.server_name)}",
        f"listen: {_quote(f'{settings.host}:{settings.port}')}",
        *([f"http: {_quote(f'{settings.host}:{settings.monitor_port}')}"] if settings.monitor_port else []),
        # A slow or dead client must not hold a shutdown back.
        "lame_duck_grace_period: '0s'",
        "lame_duck_duration: '30s'",
        "jetstream {",
        f"  store_dir: {_quote(str(settings.store))}",
        f"  max_memory_store: {settings.max_memory_store}",
        f"  max_file_store: {settings.max_file_store}",
        # What a publisher was told is stored must survive a power cut, too.
        "  sync_interval: always",
        "}",
        "authorization {",
        "  users: [",
        *(line for name, granted in users.items() for line in _user(name, settings.passwords[name], granted)),
        "  ]",
        "}",
        *settings.extra,
    ]
    return "\n".join(lines) + "\n"


def _user(name: str, password: str, granted: UserPermissions) -> Iterable[str]:
    yield "    {"
    yield f"      user: {_quote(name)}, password: {_quote(password)}"
    yield "      permissions: {"
    yield f"        publish: {{ allow: {_allow_list(granted.publish)} }}"
    denied = f", deny: {json.dumps(list(granted.not_subscribe))}" if granted.not_subscribe else ""
    yield f"        subscribe: {{ allow: {_allow_list(granted.subscribe)}{denied} }}"
    if granted.allow_responses:
        yield "        allow_responses: true"
    yield "      }"
    yield "    }"


def _allow_list(subjects: tuple[str, ...]) -> str:
    # An empty list would mean "everything" to the server; a subject nobody uses means "nothing".
    return json.dumps(list(subjects) or ["cortex.nothing"])


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
