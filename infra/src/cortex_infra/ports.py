"""Loopback ports: remembered from the last start, otherwise chosen free."""

from __future__ import annotations

import json
import random
import socket
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from cortex_infra.errors import PortTaken
from cortex_infra.home import write_private

LOOPBACK: Final = "127.0.0.1"
CANDIDATES = range(15_000, 32_000)
"""Below the range the kernel takes for outgoing connections, so that a remembered port is likely free again. Processes
that choose many at the same time take parts of it: what is chosen is free until its server listens."""
_ATTEMPTS: Final = 200
_given: Final[deque[int]] = deque(maxlen=64)
"""What this process chose last: its server may not listen yet."""


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on `port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose(taken: Iterable[int] = ()) -> int:
    """A port that is free now and not in `taken`.

    Raises:
        PortTaken: none was found.
    """
    avoided = {*taken, *_given}
    for _ in range(_ATTEMPTS):
        port = random.choice(CANDIDATES)
        if port not in avoided and is_free(port):
            _given.append(port)
            return port
    raise PortTaken(f"found no free port between {CANDIDATES.start} and {CANDIDATES.stop} on {LOOPBACK}")


class Ports:
    """The ports of one installation by name, kept in a file between starts."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._remembered: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            self._remembered = {}
        self._chosen: dict[str, int] = {}

    def remembered(self, name: str) -> int | None:
        """The port `name` had at the last start."""
        return self._remembered.get(name)

    def take(self, name: str, *, default: int | None = None, explicit: int | None = None, host: str = LOOPBACK) -> int:
        """Choose the port of `name`: the explicit one, else the remembered, else the default, else any free one.

        Raises:
            PortTaken: the explicit port is in use.
        """
        if explicit is not None:
            if explicit in self._chosen.values() or not is_free(explicit, host):
                raise PortTaken(f"port {explicit} for {name} is already in use on {host}")
            self._chosen[name] = explicit
            return explicit
        for port in (self._remembered.get(name), default):
            if port is not None and port not in self._chosen.values() and is_free(port, host):
                break
        else:
            port = choose({*self._chosen.values(), *self._remembered.values()})
        self._chosen[name] = port
        return port

    def save(self) -> None:
        """Remember what was taken."""
        self._remembered |= self._chosen
        write_private(self._file, json.dumps(self._remembered, indent=2, sort_keys=True) + "\n")
