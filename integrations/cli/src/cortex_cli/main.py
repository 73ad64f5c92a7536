"""`cortex`: human output by default, `--json` for scripts.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 not running, 4 there is no such thing.
"""

from __future__ import annotations

import atexit
import gc
from typing import Annotated

import typer

from cortex_cli import (
    archive,
    ask,
    cold,
    dead_letters,
    document,
    keys,
    mcp,
    memory,
    operations,
    recall,
    reindex,
    retain,
    sleep,
    status,
    up,
    watch,
)
from cortex_runtime import VERSION

# Nothing is left to collect at the end, and looking for it takes a fifth of a short command's time.
atexit.register(gc.freeze)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        print(VERSION)
        raise typer.Exit


@app.callback()
def cortex(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """One memory for every agent."""


app.command("up")(up.up)
app.command("start")(up.start)
app.command("stop")(up.stop)
app.command("down", hidden=True)(up.stop)
app.command("status")(status.status)
app.command("ask")(ask.ask)
app.command("retain")(retain.retain)
app.command("recall")(recall.recall)
app.command("archive")(archive.archive)
app.command("get")(memory.get)
app.command("forget")(memory.forget)
app.command("restore")(memory.restore)
app.command("share")(memory.share)
app.command("improve")(operations.improve)
app.command("reindex")(reindex.reindex)
app.command("watch")(watch.watch)
app.command("mcp")(mcp.mcp)
app.add_typer(operations.app, name="operation")
app.add_typer(document.app, name="document")
app.add_typer(keys.app, name="keys")
app.add_typer(dead_letters.app, name="dlq")
app.add_typer(sleep.app, name="sleep")
app.add_typer(cold.app, name="cold")
