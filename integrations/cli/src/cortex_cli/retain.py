"""`cortex retain`: remember one statement, and say what became of it."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import datetime
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.console import Console

from cortex_cli import moment, running
from cortex_cli.failure import reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, escape
from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.commands import Capture
from cortex_contracts.messages.memory import MemoryDraft, RedactionCounts, Retained, Visibility, WriteDecision
from cortex_contracts.permissions import publisher_user
from cortex_infra.installation import DEFAULT_ORG
from cortex_runtime.publishing import publish
from cortex_runtime.settle import describe

DONE: Final = {
    WriteDecision.ADD: "remembered as",
    WriteDecision.UPDATE: "remembered, as the new value, as",
    WriteDecision.INVALIDATE: "remembered, as the end of a state, as",
    WriteDecision.NOOP: "known already as",
}


def retain(
    content: Annotated[str, typer.Argument(help="What to remember; - reads standard input.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Project it belongs to.")] = "default",
    source: Annotated[str, typer.Option("--source", "--source-kind", help="Kind of source.")] = "manual",
    session: Annotated[str | None, typer.Option(help="Conversation it comes from.")] = None,
    turn: Annotated[int | None, typer.Option(min=0, help="Its number in the conversation.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    at: Annotated[
        datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="When it became true; default: now.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Only its owner may read it.")] = False,
    explicit: Annotated[bool, typer.Option(help="Somebody asked to remember this.")] = True,
    message_id: Annotated[
        str | None,
        typer.Option(help="Publish it as a capture with this identity, which is retained once, and do not wait."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False,
) -> None:
    """Remember a statement. Private spans and credentials are cut out before anything is stored."""
    if message_id is not None and (private or as_json):
        raise typer.BadParameter("a capture has no reply and no owner: leave out --message-id, or --private and --json")
    text = sys.stdin.read() if content == "-" else content
    with reported():
        try:
            draft = MemoryDraft(
                namespace=namespace,
                content=text,
                source_kind=source,
                session=session,
                turn=turn,
                speaker=speaker,
                occurred_at=at,
                visibility=Visibility.PRIVATE if private else Visibility.TEAM,
                explicit=explicit,
            )
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        if message_id is not None:
            print(asyncio.run(_publish(draft, message_id)))
            return
        retained = Gateway.here().post(MEMORY, Retained, draft)
    if as_json:
        print(retained.model_dump_json(indent=2))
    else:
        show(retained, console())


def show(retained: Retained, terminal: Console) -> None:
    """Print what became of a statement, for people."""
    terminal.print(f"{DONE[retained.decision]} [bold]{retained.memory_id}[/bold]", soft_wrap=True)
    if retained.reason:
        terminal.print(f"  [dim]{escape(retained.reason)}[/dim]")
    for old in retained.superseded:
        terminal.print(f"  supersedes {old}", soft_wrap=True)
    if cut := cut_out(retained.redactions):
        terminal.print(f"  [yellow]cut out[/yellow] {cut}")
    if not retained.embedded:
        terminal.print("  [yellow]found by its words only[/yellow] until it is embedded")


def cut_out(counts: RedactionCounts) -> str:
    """What was cut out of a text, in words; empty: nothing."""
    return ", ".join(
        f"{count} {what}{'' if count == 1 else 's'}"
        for count, what in (
            (counts.private, "private span"),
            (counts.credentials, "credential"),
            (counts.injected, "recalled block"),
        )
        if count
    )


async def _publish(draft: MemoryDraft, message_id: str) -> str:
    """Publish a capture, as any other service would."""
    org = os.environ.get("CORTEX_ORG") or DEFAULT_ORG
    capture = Capture.model_validate(draft.model_dump(exclude={"source_kind", "visibility", "network", "memory_type"}))
    subject = subjects.capture(org, draft.source_kind)
    client = await running.connect(publisher_user(org))
    try:
        done = await publish(client, subject, capture.model_dump_json().encode(), message_id=message_id, more={})
    finally:
        await client.close()
    return f"{'already accepted' if done.duplicate else 'accepted'} as {message_id} ({done.stream} {done.sequence})"
