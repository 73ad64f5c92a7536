"""Everything this package raises on purpose.

InfraError
├── HomeError             the state folder cannot be used
│   ├── NetworkFileSystem   it lies on a file system that databases must not use
│   ├── HomeInUse           another process runs it
│   └── PortTaken           a port that was asked for is in use
├── ServerError           a server cannot be prepared or started
│   ├── ServerDied          its process ended while it was waited for
│   ├── ServerNotReady      it did not answer in time
│   └── ForeignService      another installation answers on its port
├── SupervisionError      the supervisor cannot be reached, or gave up
├── MigrationError        the database cannot be migrated (tree in `migrate.py`)
├── ProvisionError        the bus cannot be brought to the wanted state
└── SettingError          a variable is missing or invalid
"""

from __future__ import annotations


class InfraError(Exception):
    """Base of all errors of the infrastructure."""


class HomeError(InfraError):
    """The state folder cannot be used."""


class NetworkFileSystem(HomeError):
    """The state folder lies on a network file system."""


class HomeInUse(HomeError):
    """Another process runs this state folder."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class PortTaken(HomeError):
    """A port that was asked for by name is in use."""


class ServerError(InfraError):
    """A server cannot be prepared or started."""


class ServerDied(ServerError):
    """The process of a server ended while it was waited for."""


class ServerNotReady(ServerError):
    """A server did not become ready in time."""


class ForeignService(ServerError):
    """A service of another installation answers on a port of this one."""


class SupervisionError(InfraError):
    """The supervisor cannot be reached, or it gave up on a process."""


class MigrationError(InfraError):
    """The database cannot be migrated."""


class ProvisionError(InfraError):
    """The bus cannot be brought to the wanted state."""


class SettingError(InfraError):
    """A variable is missing or invalid; the message names it."""
