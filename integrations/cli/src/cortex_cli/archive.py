"""`cortex archive`: the memories of the cold tier that answer a query, years later, with where they come from."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from cortex_cli import moment
from cortex_cli.failure import reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, escape
from cortex_cli.recall import (
    AsJson,
    AsOf,
    Explain,
    Most,
    Namespaces,
    Query,
    Since,
    Until,
    explained,
    indented,
    told,
    understood,
)
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.rpc.archive import ARCHIVE_LIMIT_S, ArchivedMemory, ArchiveQuestion, ArchiveReply
from cortex_contracts.rpc.recall import RecallFilter
from cortex_runtime.settle import describe


def archive(
    query: Query,
    namespaces: Namespaces = None,
    k: Most = 10,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    limit: Annotated[
        float, typer.Option(min=0.1, max=55.0, help="Seconds for it; then what was found so far is the answer.")
    ] = 50.0,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Find memories that left the hot tier; `cortex get` shows one whole. Finding none is an answer: exit code 0."""
    with reported():
        try:
            question = ArchiveQuestion(
                query=query,
                namespaces=tuple(namespaces) if namespaces else None,
                k=k,
                filter=RecallFilter(since=since, until=until),
                as_of=as_of,
                explain=explain,
                timezone=moment.zone(),
                limit_s=limit,
            )
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        reply = Gateway.here().post(f"{MEMORY}/archive/recall", ArchiveReply, question, timeout_s=ARCHIVE_LIMIT_S + 5)
    if as_json:
        print(reply.model_dump_json(indent=2))
    else:
        show(reply, console())


def show(reply: ArchiveReply, terminal: Console) -> None:
    """Print what was found, for people."""
    if not reply.memories:
        terminal.print("The archive holds nothing about this.")
    for found in reply.memories:
        _show_one(found, terminal)
    terminal.print(f"[dim]{escape(_footer(reply))}[/dim]")


def _show_one(found: ArchivedMemory, terminal: Console) -> None:
    told(found.memory, found.score, terminal)
    if found.occurrences:
        indented(f"said again {len(found.occurrences)} times", terminal, "dim")
    if found.explanation:
        indented(explained(found.explanation), terminal, "dim")


def _footer(reply: ArchiveReply) -> str:
    count = len(reply.memories)
    parts = [
        f"{count} {'memory' if count == 1 else 'memories'} of {reply.rows:,} compared, {reply.took_ms} ms",
        f"{reply.files_read} of {reply.files} files read",
    ]
    if reply.dropped.below_floor:
        parts.append(f"{reply.dropped.below_floor} below {reply.floor:.2f}")
    parts += [f"without {part}" for part in reply.degraded]
    if not reply.complete:
        parts.append("there was no time for the oldest: narrow it with --since and --until")
    if reply.time:
        parts.append(understood(reply.time))
    return "; ".join(parts)
