"""`cortex operation`: work that goes on in the background; `cortex improve`, which starts some."""

from __future__ import annotations

import time
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from cortex_cli import moment
from cortex_cli.failure import FAILED, reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, escape
from cortex_contracts.rpc.ingest import MAX_BATCH, Improve, Improved
from cortex_contracts.rpc.operations import Operation, OperationReply, OperationsReply, OperationStatus

app = typer.Typer(help="Operations: work in the background.", no_args_is_help=True)

OPERATIONS: Final = f"{MEMORY}/operations"
ASK_EVERY_S: Final = 0.5
SHOWN_FAILURES: Final = 20

Id = Annotated[UUID, typer.Argument(metavar="ID", help="Id of the operation, from `cortex operation list`.")]
Wait = Annotated[bool, typer.Option("--wait", help="Show its progress until it ends; exit code 1 if it fails.")]
Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


@app.command("list")
def list_(
    status: Annotated[OperationStatus | None, typer.Option(help="Only those in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only those of this kind, for instance retain_batch.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_BATCH, help="At most this many, newest first.")] = 20,
    as_json: Json = False,
) -> None:
    """List your operations, newest first; finished ones are kept for 30 days."""
    narrow = {"limit": str(limit), "status": status.value if status else "", "kind": kind or ""}
    with reported():
        reply = Gateway.here().get(
            OPERATIONS, OperationsReply, {name: value for name, value in narrow.items() if value}
        )
    if as_json:
        print(reply.model_dump_json(indent=2))
        return
    if not reply.operations:
        print("There are no operations.")
        return
    table = Table("id", "kind", "status", "done", "failed", "started")
    for one in reply.operations:
        table.add_row(
            str(one.operation_id),
            one.kind,
            _status(one),
            _done(one),
            str(one.failed or ""),
            moment.told(one.created_at),
        )
    console().print(table)


@app.command()
def get(operation_id: Id, wait: Wait = False, as_json: Json = False) -> None:
    """Show how far an operation is; exit code 4 when there is none."""
    tell(operation_id, wait=wait, as_json=as_json)


@app.command()
def cancel(operation_id: Id, wait: Wait = False, as_json: Json = False) -> None:
    """End an operation after the item that it is at. What is done stays."""
    _change(operation_id, "cancel")
    tell(operation_id, wait=wait, as_json=as_json, wanted=OperationStatus.CANCELLED)


@app.command()
def retry(operation_id: Id, wait: Wait = False, as_json: Json = False) -> None:
    """Go on with an operation where it stopped, with the items that failed again."""
    _change(operation_id, "retry")
    tell(operation_id, wait=wait, as_json=as_json)


def improve(
    memory_ids: Annotated[list[UUID] | None, typer.Argument(metavar="[ID]...", help="Memories.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="All of a namespace instead.")] = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Extract, score and index memories again, by the rules of today, in the background."""
    if bool(memory_ids) == bool(namespace):
        raise typer.BadParameter("give ids, or --namespace")
    with reported():
        wanted = Improve(memory_ids=tuple(memory_ids or ()), namespace=namespace, background=True)
        started = Gateway.here().post(f"{MEMORY}/improve", Improved, wanted)
    assert started.operation_id is not None, "the contract says so"
    tell(started.operation_id, wait=wait, as_json=as_json)


def show(reply: OperationReply, terminal: Console) -> None:
    """Print an operation for people, and its items that failed."""
    operation = reply.operation
    rows = {
        "id": str(operation.operation_id),
        "kind": operation.kind,
        "status": _status(operation),
        "done": _done(operation) + (f", {operation.failed} failed" if operation.failed else ""),
        "reason": operation.error.message if operation.error else "",
        "started": moment.told(operation.created_at),
        "finished": moment.told(operation.finished_at),
    }
    for name, value in rows.items():
        if value:
            terminal.print(f"[dim]{name:<10}[/dim]{escape(value)}", soft_wrap=True)
    failed = [(one.item, one.error) for one in reply.items if one.error]
    for item, error in failed[:SHOWN_FAILURES]:
        terminal.print(f"  item {item}: {escape(error.message)}", soft_wrap=True)
    if operation.failed > SHOWN_FAILURES:
        terminal.print(f"  and {operation.failed - SHOWN_FAILURES} more; --json has up to {MAX_BATCH}")


def tell(operation_id: UUID, *, wait: bool, as_json: bool, wanted: OperationStatus = OperationStatus.SUCCEEDED) -> None:
    """Print how far an operation is, or, if one may `wait`, how it ended."""
    with reported():
        reply = ended(operation_id, quiet=as_json) if wait else _asked(operation_id)
    if as_json:
        print(reply.model_dump_json(indent=2))
    else:
        show(reply, console())
    if wait and reply.operation.status is not wanted:
        raise typer.Exit(FAILED)


def ended(operation_id: UUID, *, quiet: bool) -> OperationReply:
    """Show a bar, on a terminal, until the operation has ended."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    terminal = console()
    with Progress(*columns, console=terminal, disable=quiet or not terminal.is_terminal, transient=True) as bars:
        task = bars.add_task("queued", total=None)
        while True:
            reply = _asked(operation_id)
            operation = reply.operation
            bars.update(task, description=_status(operation), completed=operation.done, total=operation.total)
            if operation.finished_at is not None:
                return reply
            time.sleep(ASK_EVERY_S)


def _asked(operation_id: UUID) -> OperationReply:
    return Gateway.here().get(f"{OPERATIONS}/{operation_id}", OperationReply)


def _change(operation_id: UUID, verb: str) -> None:
    with reported():
        Gateway.here().post(f"{OPERATIONS}/{operation_id}/{verb}", Operation)


def _status(operation: Operation) -> str:
    ending = operation.cancel_requested and operation.finished_at is None
    waiting = operation.error is not None and operation.finished_at is None
    return operation.status.value + (", to be cancelled" if ending else "") + (", waiting" if waiting else "")


def _done(operation: Operation) -> str:
    return str(operation.done) if operation.total is None else f"{operation.done} of {operation.total}"
