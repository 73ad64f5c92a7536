"""`cortex dlq`: list, inspect, replay and purge what nobody could process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from nats.aio.client import Client
from rich.table import Table
from rich.text import Text

from cortex_cli import running
from cortex_cli.failure import reported
from cortex_cli.output import console, plain
from cortex_contracts.messages.dead_letter import DeadLetter
from cortex_runtime import dead_letters

app = typer.Typer(help="Dead letters: messages nobody could process.", no_args_is_help=True)

ResultT = TypeVar("ResultT")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[int, typer.Argument(help="Number of the letter, from `cortex dlq list`.")]


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(help="At most this many, oldest first.")] = 100, as_json: Json = False
) -> None:
    """List the dead letters."""

    async def read(client: Client) -> list[DeadLetter]:
        return [letter async for letter in dead_letters.browse(client, limit)]

    letters = _with_client(read)
    if as_json:
        print(json.dumps([letter.model_dump(mode="json") for letter in letters]))
        return
    if not letters:
        print("There are no dead letters.")
        return
    table = Table("id", "died", "consumer", "message", "tries", "reason")
    for letter in letters:
        table.add_row(
            str(letter.id),
            f"{letter.died_at:%Y-%m-%d %H:%M:%S}",
            letter.consumer,
            Text(plain(letter.message_id or "")),
            str(letter.deliveries),
            Text(plain(letter.reason)),
        )
    console().print(table)


@app.command()
def show(letter_id: Id, as_json: Json = False) -> None:
    """Show one dead letter with its body."""
    letter, body = _with_client(lambda client: dead_letters.inspect(client, letter_id))
    text = body.decode("utf-8", "replace")
    if as_json:
        print(json.dumps({**letter.model_dump(mode="json"), "body": text}))
        return
    for name, value in letter.model_dump(mode="json").items():
        print(f"{name:>12}: {plain(str(value))}")
    print(f"\n{plain(text)}")


@app.command()
def replay(letter_id: Id, as_json: Json = False) -> None:
    """Publish a dead letter again on its first subject, with its first identity."""
    letter = _with_client(lambda client: dead_letters.replay(client, letter_id))
    print(letter.model_dump_json() if as_json else f"replayed {letter.message_id} on {letter.subject}")


@app.command()
def purge(
    letter_id: Annotated[int | None, typer.Argument(help="Number of the letter.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Drop every letter.")] = False,
) -> None:
    """Drop one dead letter, or all of them."""
    if (letter_id is None) != everything:
        raise typer.BadParameter("give the number of one letter, or --all")
    print(f"purged {_with_client(lambda client: dead_letters.purge(client, letter_id))}")


def _with_client(work: Callable[[Client], Awaitable[ResultT]]) -> ResultT:
    async def run() -> ResultT:
        client = await running.connect()
        try:
            return await work(client)
        finally:
            await client.close()

    with reported():
        return asyncio.run(run())
