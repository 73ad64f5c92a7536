"""`cortex sleep`: the background work. To run it now, to see what it does and did, to stop it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Final, TypeVar
from uuid import UUID

import typer
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from cortex_cli import moment, running
from cortex_cli.failure import FAILED, reported
from cortex_cli.output import console, escape
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import SleepRunEvent, SleepRunState
from cortex_contracts.rpc.sleep import (
    MAX_RUNS,
    SLEEP_RUN,
    SLEEP_RUNS,
    SLEEP_STATUS,
    SLEEP_STOP,
    SleepPhaseReport,
    SleepRun,
    SleepRunRequest,
    SleepRuns,
    SleepRunsRequest,
    SleepStatus,
    SleepStatusRequest,
    SleepStopRequest,
)
from cortex_contracts.subjects import SLEEP_EVENT_PATTERN, SleepPhase
from cortex_runtime.rpc import call
from cortex_runtime.settings import CommonSettings, read

app = typer.Typer(help="The background work: consolidate, forget slowly, go cold.", no_args_is_help=True)

ResultT = TypeVar("ResultT")
ASK_EVERY_S: Final = 2.0
"""Events say how far it is; that an event got lost must not keep us waiting."""
GOES_ON: Final = "It goes on; `cortex sleep status` tells how far it is, `cortex sleep stop` ends it."

Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Only this namespace; every one that has memories otherwise.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


@app.command()
def run(
    namespace: Namespace = None,
    phase: Annotated[
        list[str] | None, typer.Option("--phase", "-p", help="Only this phase; may be given more than once.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be done, change nothing.")] = False,
    background: Annotated[bool, typer.Option("--background", help="Do not wait for its end.")] = False,
    as_json: Json = False,
) -> None:
    """Run it now and show how far it is; exit code 1 if something failed. Ctrl-C leaves the run going."""
    phases = tuple(map(_phase, phase or ()))

    async def work(client: Client, principal: Principal) -> list[SleepRun]:
        asked = SleepRunRequest(principal=principal, namespace=namespace, phases=phases, dry_run=dry_run)
        return await _run(client, asked, wait=not background, quiet=as_json)

    try:
        ended = _with_client(work)
    except KeyboardInterrupt:
        print(f"\n{GOES_ON}", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    if as_json:
        # May be more than one reply of the service holds.
        print(SleepRuns.model_construct(runs=tuple(ended)).model_dump_json(indent=2))
    elif not ended:
        print("There are no memories to work on yet.")
    else:
        show(ended)
        if background:
            print(GOES_ON)
    if not background and any(one.state is not SleepRunState.DONE for one in ended):
        raise typer.Exit(FAILED)


@app.command()
def status(as_json: Json = False) -> None:
    """Show what it has seen, does and did, per namespace, and when it is time again."""

    async def work(client: Client, principal: Principal) -> SleepStatus:
        return await call(
            client, SLEEP_STATUS, SleepStatusRequest(principal=principal), timeout_s=SLEEP_STATUS.timeout_s
        )

    found = _with_client(work)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    if found.namespaces:
        table = Table("namespace", "events seen", "last event")
        for one in found.namespaces:
            table.add_row(one.namespace, str(one.events_seen), moment.told(one.last_event_at))
        console().print(table)
    if found.runs:
        show(found.runs)
    else:
        print("Nothing has run yet.")
    print(f"The next run of everything is due at {moment.told(found.next_at)}." if found.next_at else "No schedule.")


@app.command()
def stop(namespace: Namespace = None, as_json: Json = False) -> None:
    """Stop what runs, after the step that it is at, and what waits. What is done stays."""

    async def work(client: Client, principal: Principal) -> SleepRuns:
        request = SleepStopRequest(principal=principal, namespace=namespace)
        return await call(client, SLEEP_STOP, request, timeout_s=SLEEP_STOP.timeout_s)

    stopped = _with_client(work)
    if as_json:
        print(stopped.model_dump_json(indent=2))
    elif not stopped.runs:
        print("Nothing runs.")
    for one in stopped.runs if not as_json else ():
        print(f"{one.namespace}: {'stops' if one.finished_at is None else 'stopped'}")


def show(runs: Sequence[SleepRun]) -> None:
    """Print runs for people: a line for each, and one for each phase that was begun."""
    terminal = console()
    for one in runs:
        when = moment.told(one.finished_at or one.began_at or one.requested_at)
        state = f"{one.state}, to be stopped" if one.stop_requested and one.finished_at is None else str(one.state)
        dry = " (dry run)" if one.dry_run else ""
        terminal.print(f"[bold]{escape(one.namespace)}[/bold] {state}{dry} [dim]{when}, by {one.cause}[/dim]")
        for report in one.reports:
            terminal.print(f"  {report.phase:<14}{told(report)}", soft_wrap=True)


def told(report: SleepPhaseReport) -> str:
    """How a phase is or went, as one line of markup."""
    total = f" of {report.total}" if report.total is not None else ""
    parts = [f"{report.state:<8}[dim]{report.seconds:6.1f} s[/dim]  {report.done}{total}"]
    parts += [f"{escape(name)} {number}" for name, number in report.counts.items()]
    return ", ".join(parts) + (f"  [red]{escape(report.reason)}[/red]" if report.reason else "")


async def _run(client: Client, asked: SleepRunRequest, *, wait: bool, quiet: bool) -> list[SleepRun]:
    # Before it is asked for: what it tells first must be heard as well.
    arrived = asyncio.Queue[Msg]()
    await client.subscribe(SLEEP_EVENT_PATTERN, cb=arrived.put)
    runs = await _begin(client, asked)
    if not wait or not runs:
        return runs
    terminal = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, disable=quiet or not terminal.is_terminal, transient=True) as progress:
        bars = _Bars(progress, runs)
        while True:
            event = await _heard(arrived)
            if event is not None:
                bars.move(event)
            if event is not None and event.state is SleepRunState.RUNNING:
                continue
            runs = await _reached(client, asked.principal, runs)
            if all(one.finished_at is not None for one in runs):
                return runs


async def _begin(client: Client, asked: SleepRunRequest) -> list[SleepRun]:
    """Ask for runs everywhere, a page of namespaces at a time."""
    runs: list[SleepRun] = []
    while True:
        page = (await call(client, SLEEP_RUN, asked, timeout_s=SLEEP_RUN.timeout_s)).runs
        runs += page
        if asked.namespace is not None or len(page) < MAX_RUNS:
            return runs
        asked = asked.model_copy(update={"after": max(one.namespace for one in page)})


async def _reached(client: Client, principal: Principal, runs: Sequence[SleepRun]) -> list[SleepRun]:
    """How far they are by now."""
    reached: list[SleepRun] = []
    for first in range(0, len(runs), MAX_RUNS):
        ids = tuple(one.run_id for one in runs[first : first + MAX_RUNS])
        wanted = SleepRunsRequest(principal=principal, run_ids=ids)
        reached += (await call(client, SLEEP_RUNS, wanted, timeout_s=SLEEP_RUNS.timeout_s)).runs
    return reached


async def _heard(arrived: asyncio.Queue[Msg]) -> SleepRunEvent | None:
    """The next event, none after a while without one."""
    try:
        async with asyncio.timeout(ASK_EVERY_S):
            return SleepRunEvent.model_validate_json((await arrived.get()).data)
    except (TimeoutError, ValidationError):
        return None


class _Bars:
    """A bar for each run: the phase that it is at."""

    def __init__(self, progress: Progress, runs: Sequence[SleepRun]) -> None:
        self._progress = progress
        self._tasks: dict[UUID, TaskID] = {}
        for one in runs:
            self._tasks[one.run_id] = progress.add_task(f"{one.namespace}: {one.phase or one.state}", total=None)

    def move(self, event: SleepRunEvent) -> None:
        """Show how far a run is."""
        if (task := self._tasks.get(event.run_id)) is not None:
            name = f"{event.namespace}: {event.phase}"
            self._progress.update(task, description=name, completed=event.done, total=event.total)


def _phase(text: str) -> SleepPhase:
    try:
        return SleepPhase(text)
    except ValueError:
        known = ", ".join(phase for phase in SleepPhase if phase is not SleepPhase.OBSERVE)
        raise typer.BadParameter(f"expected one of {known}, got {text!r}") from None


def _with_client(work: Callable[[Client, Principal], Awaitable[ResultT]]) -> ResultT:
    async def connected() -> ResultT:
        principal = Principal(org=read(CommonSettings).org, subject="operator", authenticated_by="operator")
        client = await running.connect()
        try:
            return await work(client, principal)
        finally:
            await client.close()

    with reported():
        return asyncio.run(connected())
