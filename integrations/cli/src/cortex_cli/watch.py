"""`cortex watch`: what happens on the bus, one line per event, as a story."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Annotated, Any

import typer
from nats.aio.msg import Msg

from cortex_cli import running
from cortex_cli.failure import reported
from cortex_cli.output import console, escape
from cortex_contracts.subjects import DEAD_LETTER_PATTERN, EVENT_PATTERN, PREFIX


def watch(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    count: Annotated[int, typer.Option(help="End after this many events; 0: never.")] = 0,
) -> None:
    """Show memory, page, sleep and wake events and dead letters as they happen; Ctrl-C ends it."""
    with reported(), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(as_json, count))


async def _watch(as_json: bool, count: int) -> None:
    client = await running.connect()
    terminal, arrived = console(), asyncio.Queue[Msg]()
    for pattern in (EVENT_PATTERN, DEAD_LETTER_PATTERN):
        await client.subscribe(pattern, cb=arrived.put)
    # The server has the subscriptions once it answers: what is published from now on is shown.
    await client.flush()
    if not as_json:
        terminal.print("[dim]watching; Ctrl-C ends it[/dim]")
    shown = 0
    try:
        while not count or shown < count:
            message = await arrived.get()
            shown += 1
            if as_json:
                print(json.dumps({"subject": message.subject, **_body(message)}, ensure_ascii=False), flush=True)
            else:
                terminal.print(line(message.subject, _body(message)))
    finally:
        await client.close()


def line(subject: str, body: dict[str, Any]) -> str:
    """One event for people: when, what, where, and a preview."""
    kind = subject.removeprefix(f"{PREFIX}.evt.").split(".")
    if subject.startswith(f"{PREFIX}.dlq."):
        return f"[red]dead letter[/red] {escape(subject.removeprefix(f'{PREFIX}.dlq.'))}"
    when = str(body.get("occurred_at", ""))[11:19]
    if kind[0] == "wake":
        about = ": ".join(escape(str(body[name])) for name in ("entity", "preview") if body.get(name))
        what, place, reason = (
            escape(str(one)) for one in (body.get("kind") or "", "/".join(kind[1:]), body.get("reason") or "")
        )
        return f"[dim]{when}[/dim] [bold yellow]wake[/bold yellow] {what} {place} [yellow]{reason}[/yellow] {about}"
    place = escape("/".join(kind[2:]))
    told = body.get("preview") or body.get("title") or ""
    numbers = " ".join(
        f"{name}={body[name]}"
        for name in ("decision", "slug", "pages_changed", "errors", "events_seen", "state", "done", "total")
        if body.get(name)
    )
    counts = body.get("counts")
    if isinstance(counts, dict):
        numbers += "".join(f" {name}={number}" for name, number in counts.items())
    told = told or body.get("reason") or ""
    return (
        f"[dim]{when}[/dim] [cyan]{kind[0]}[/cyan] {kind[1]} {place} [dim]{escape(numbers)}[/dim] {escape(str(told))}"
    )


def _body(message: Msg) -> dict[str, Any]:
    try:
        body = json.loads(message.data)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
