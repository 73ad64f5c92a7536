"""`cortex status`: what runs, where, and how much memory it takes."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

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
        show(found, Console())
    if found.supervisor_pid is None:
        raise typer.Exit(NOT_RUNNING)


def show(found: infra_status.Status, console: Console) -> None:
    """Print the status for people."""
    if found.supervisor_pid is None:
        console.print(f"Nothing runs in {found.home}; `cortex start` starts it.")
        return
    table = Table("process", "status", "address", "pid", "memory MiB", "version", box=None)
    for process in (*found.services, *found.infra):
        table.add_row(
            process.name,
            process.status,
            process.url,
            str(process.pid or ""),
            f"{process.memory_bytes / MIB:.0f}",
            process.version,
        )
    console.print(table)
    console.print(f"\nhome {found.home}, memory of all processes {found.memory_bytes / MIB:.0f} MiB")
