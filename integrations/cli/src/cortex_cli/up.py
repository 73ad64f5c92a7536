"""`cortex up`, `start` and `stop`: the whole system on this machine, in the foreground or in the background."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cortex_cli import demo as demonstration
from cortex_cli import output
from cortex_cli.failure import reported
from cortex_cli.output import escape
from cortex_infra import bringup
from cortex_infra.bringup import Step, System
from cortex_infra.home import Home
from cortex_runtime.settings import CommonSettings, read
from cortex_runtime.settings_vaults import VaultsSettings

Demo = Annotated[Path | None, typer.Option(help="Folder with an example vault, captures and a question.", exists=True)]

FOLLOW_S = 0.5
USUAL_PORTS = {"gateway": 9890, "webhook": 9892}


def up(demo: Demo = None) -> None:
    """Start everything in the foreground; Ctrl-C ends it and leaves nothing behind."""
    with reported(), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_up(demo, output.console()))


def start(demo: Demo = None) -> None:
    """Start everything in the background."""
    with reported():
        asyncio.run(_start(demo, output.console()))


def stop() -> None:
    """End what runs in this home."""
    with reported():
        stopped = asyncio.run(bringup.stop(Home.from_environment()))
    print("stopped" if stopped else "nothing was running")


async def _up(demo: Path | None, console: Console) -> None:
    home = Home.from_environment()
    async with bringup.running(home, settings=_settings(home, demo), progress=_progress(console)) as system:
        shown = len(system.deaths())
        if demo:
            await demonstration.run(system, demo, console)
        addresses(system, console)
        console.print("[dim]Ctrl-C ends everything.[/dim]")
        ended = asyncio.ensure_future(system.ended())
        try:
            while not ended.done():
                await asyncio.wait({ended}, timeout=FOLLOW_S)
                for death in system.deaths()[shown:]:
                    shown += 1
                    console.print(f"[red]{escape(_told(death))}[/red]")
                    for line in death.get("log", ()):
                        console.print(f"  [dim]{escape(str(line))}[/dim]")
            ended.result()
        except asyncio.CancelledError:
            console.print("\nstopping…")
            raise
        finally:
            ended.cancel()


async def _start(demo: Path | None, console: Console) -> None:
    home = Home.from_environment()
    system = await bringup.start(home, settings=_settings(home, demo), progress=_progress(console))
    if demo:
        await demonstration.run(system, demo, console)
    addresses(system, console)


def _settings(home: Home, demo: Path | None) -> dict[str, str]:
    """The settings of this start: the environment and, for the demonstration, its vault.

    Raises:
        SettingsError: a variable that concerns every service is unknown or invalid.
    """
    read(CommonSettings)
    read(VaultsSettings)
    home.prepare()
    return ({"CORTEX_VAULTS": demonstration.vault_setting(home)} if demo else {}) | dict(os.environ)


def addresses(system: System, console: Console) -> None:
    """Print where to go and what to try next."""
    gateway, webhook = system.url("gateway"), system.url("webhook")
    home = system.installation.home
    console.print(
        f"\n  REST and MCP  {gateway} (MCP at /mcp)\n  webhook       {webhook}/api/v1/brain/sync/webhook\n"
        f"  token         {home.token_file}\n"
    )
    for name, usual in USUAL_PORTS.items():
        url = system.url(name)
        if not url.endswith(f":{usual}") and f"CORTEX_{name.upper()}_PORT" not in os.environ:
            console.print(f"  {usual} was in use at the first start: the {name} listens on {url}\n")
    command = _command()
    console.print("Try next:")
    for line in (
        f'{command} ask "Why did we choose H3 over geohash?"',
        f'{command} retain "The harbour team meets on Mondays at 09:30."',
        f"{command} watch",
    ):
        console.print(f"  {line}")


def _command() -> str:
    """How this command was called, as a person in the same folder would type it."""
    import sys

    called = Path(sys.argv[0])
    with contextlib.suppress(ValueError):
        return str(called.resolve().relative_to(Path.cwd()))
    return "cortex" if called.name == "cortex" else str(called)


def _progress(console: Console) -> bringup.Progress:
    def report(step: Step) -> None:
        if step.seconds is not None:
            console.print(
                f"  [green]✓[/green] {step.name} [dim]{step.seconds:.1f} s {step.detail}[/dim]", highlight=False
            )

    return report


def _told(death: dict[str, object]) -> str:
    return f"{death['process']} ended ({death['status']}) and is started again; the end of its log:"
