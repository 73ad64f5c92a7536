"""Drivers: implementations of a port that packages bring along, found by entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, Protocol

from cortex_contracts.errors import ErrorCode, Permanent


class Driver(Protocol):
    """What every driver has: it is a resource of the service that uses it."""

    async def open(self) -> None:
        """Make it usable."""
        ...

    async def check(self) -> None:
        """Is it usable? Raises Unavailable when not."""
        ...

    async def close(self) -> None:
        """Let its connections go."""
        ...


class InProcess:
    """A driver that needs nothing but the process."""

    async def open(self) -> None:
        """Nothing to do."""

    async def check(self) -> None:
        """It cannot fail."""

    async def close(self) -> None:
        """Nothing is held."""


def load(group: str, name: str, *, what: str, setting: str) -> Any:
    """The factory of the driver `name` in an entry-point group; `what` and `setting` are for the sentence of the error.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    found = {point.name: point for point in entry_points(group=group)}
    if name not in found:
        raise Permanent(
            f"no {what} driver {name!r} is installed (there are: {', '.join(sorted(found)) or 'none'}); "
            f"set {setting} to one of them or install the package that brings it",
            code=ErrorCode.NOT_FOUND,
        )
    return found[name].load()
