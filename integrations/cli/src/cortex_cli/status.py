"""`cortex status`: what runs, where, and how much memory it takes."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer

from cortex_cli.failure import NOT_RUNNING, reported
from cortex_infra import status as infra_status
from cortex_infra.home import Home

MIB = 1024 * 1024


def status(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show every process with its address, pid, version and memory; exit code 3 when nothing runs."""
    with reported():
        found = asyncio.run(infra_status.status(Home.from_environment()))
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        show(found)
    if found.supervisor_pid is None:
        raise typer.Exit(NOT_RUNNING)


def show(found: infra_status.Status) -> None:
    """Print the status for people; addresses are whole, however narrow the terminal is."""
    if found.supervisor_pid is None:
        print(f"Nothing runs in {found.home}; `cortex start` starts it.")
        if found.failure:
            print(f"The last run ended because {found.failure}")
        return
    rows = [("process", "status", "pid", "MiB", "address", "version")]
    for process in (*found.services, *found.infra):
        memory = f"{process.memory_bytes / MIB:.0f}"
        rows.append((process.name, process.status, str(process.pid or ""), memory, process.url, process.version))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"\nhome {found.home}, memory of all processes {found.memory_bytes / MIB:.0f} MiB")
