"""Times on the command line: ISO 8601 in, the reader's own time zone out."""

from __future__ import annotations

import os
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer


def parse(text: str) -> datetime:
    """A date or time such as `2026-11-30` or `2026-11-30T09:30+02:00`; without an offset it is local.

    Raises:
        typer.BadParameter: it is neither.
    """
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"expected a date or time such as 2026-11-30T09:30, got {text!r}") from None


def told(when: datetime | None) -> str:
    """A time for people, to the minute and local; empty: none."""
    return f"{when.astimezone():%Y-%m-%d %H:%M}" if when else ""


def day(when: datetime) -> str:
    """The local day of a time."""
    return f"{when.astimezone():%Y-%m-%d}"


def zone() -> str:
    """IANA name of the reader's time zone; UTC where it cannot be told."""
    link = os.path.realpath("/etc/localtime")
    name = os.environ.get("TZ", "").lstrip(":") or link.partition("/zoneinfo/")[2]
    try:
        return ZoneInfo(name).key if name else "UTC"
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"
