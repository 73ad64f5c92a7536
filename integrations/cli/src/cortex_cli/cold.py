"""`cortex cold`: the memories that left the hot tier. How many there are, and whether they are whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeVar

import typer
from nats.aio.client import Client
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from cortex_cli import moment, running
from cortex_cli.failure import FAILED, reported
from cortex_cli.output import console, escape
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.cold import (
    COLD_STATUS,
    COLD_VERIFY,
    ColdStatusReply,
    ColdStatusRequest,
    ColdVerification,
    ColdVerifyRequest,
    VerificationState,
)
from cortex_runtime.rpc import call
from cortex_runtime.settings import CommonSettings, read

app = typer.Typer(help="The cold tier: what left the database for files.", no_args_is_help=True)

ResultT = TypeVar("ResultT")
ASK_EVERY_S: Final = 1.0
MEGABYTE: Final = 1_000_000

Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


@app.command()
def status(as_json: Json = False) -> None:
    """Show how many memories are cold, per namespace and in the store; exit code 1 if the store does not answer."""
    found = _with_client(_status)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        show(found)
    if found.table is None:
        raise typer.Exit(FAILED)


@app.command()
def verify(as_json: Json = False) -> None:
    """Read every cold memory again and compare it with what went in; exit code 1 if anything is damaged or missing.

    Ctrl-C leaves it going; `cortex cold status` tells what it found.
    """
    ended = _with_client(lambda client, principal: _verify(client, principal, quiet=as_json))
    if as_json:
        print(ended.model_dump_json(indent=2))
    else:
        show_verification(ended)
    if ended.state is not VerificationState.DONE or ended.damaged:
        raise typer.Exit(FAILED)


def show(found: ColdStatusReply) -> None:
    """Print the status for people."""
    terminal = console()
    if found.namespaces:
        table = Table("namespace", "memories", "MB", "on their way", "last")
        for one in found.namespaces:
            last = moment.told(one.last_done_at) if one.last_done_at else "-"
            size = f"{one.size_bytes / MEGABYTE:.1f}"
            table.add_row(one.namespace, str(one.rows), size, str(one.unfinished), last)
        terminal.print(table)
    else:
        terminal.print("Nothing has gone cold yet.")
    if found.table is None:
        terminal.print(f"[red]The cold store does not answer: {escape(found.reason or 'no reason')}[/red]")
    else:
        store = found.table
        terminal.print(
            f"In the store: {store.rows} memories in {store.files} files of {store.months} months "
            f"({store.size_bytes / MEGABYTE:.1f} MB), {store.small_files} of them small; {store.snapshots} snapshots.",
            soft_wrap=True,
        )
    if found.verification is not None:
        show_verification(found.verification)


def show_verification(one: ColdVerification) -> None:
    """Print a verification for people."""
    terminal = console()
    if one.state is VerificationState.RUNNING:
        terminal.print(f"A verification is under way: {one.files_done} of {one.files or '?'} files.")
    elif one.state is VerificationState.FAILED:
        terminal.print(f"[red]The verification of {moment.told(one.began_at)} failed: {escape(one.reason or '')}[/red]")
    else:
        verdict = f"[red]{one.damaged} damaged[/red]" if one.damaged else "all whole"
        terminal.print(
            f"Verified {moment.told(one.finished_at or one.began_at)}: {one.rows} memories of {one.batches} batches in "
            f"{one.files} files, {verdict}.",
            soft_wrap=True,
        )
        for damage in one.damages:
            ids = f" ({', '.join(map(str, damage.ids))})" if damage.ids else ""
            terminal.print(f"  {escape(damage.what)}: {escape(damage.where)}, {damage.rows} rows{ids}", soft_wrap=True)
        if one.damaged > len(one.damages):
            terminal.print(f"  and {one.damaged - len(one.damages)} more")


async def _status(client: Client, principal: Principal) -> ColdStatusReply:
    return await call(client, COLD_STATUS, ColdStatusRequest(principal=principal), timeout_s=COLD_STATUS.timeout_s)


async def _verify(client: Client, principal: Principal, *, quiet: bool) -> ColdVerification:
    asked = await call(client, COLD_VERIFY, ColdVerifyRequest(principal=principal), timeout_s=COLD_VERIFY.timeout_s)
    terminal = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, disable=quiet or not terminal.is_terminal, transient=True) as progress:
        bar = progress.add_task("files", total=None)
        wanted = ColdVerifyRequest(principal=principal, verification_id=asked.verification_id)
        while asked.state is VerificationState.RUNNING:
            await asyncio.sleep(ASK_EVERY_S)
            asked = await call(client, COLD_VERIFY, wanted, timeout_s=COLD_VERIFY.timeout_s)
            progress.update(bar, completed=asked.files_done, total=asked.files)
    return asked


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
