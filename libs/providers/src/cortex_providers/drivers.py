"""Drivers: implementations of a port that packages bring along, found by entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from cortex_contracts.errors import ErrorCode, Permanent


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
