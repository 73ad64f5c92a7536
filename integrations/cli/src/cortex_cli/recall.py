"""`cortex recall`: the memories that answer a query, with where they come from and, on request, how they got there."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from cortex_cli import moment
from cortex_cli.failure import reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, escape, plain
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.memory import MemoryView
from cortex_contracts.rpc.recall import (
    Explanation,
    RecalledMemory,
    RecallFilter,
    RecallQuestion,
    RecallReply,
    TimeWindow,
)
from cortex_runtime.settle import describe

SHOWN_CHARS: Final = 600
"""Of one memory in a list; `cortex get` shows all of it."""
INDENT: Final = 6

# What a search takes, of the hot tier and of the archive alike.
Query = Annotated[str, typer.Argument(help="What you want to know.")]
Namespaces = Annotated[
    list[str] | None, typer.Option("--namespace", "-n", help="Search this project; may be repeated. Default: all.")
]
Most = Annotated[int, typer.Option("-k", min=1, max=100, help="Most memories.")]
Since = Annotated[datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="Became true at or after.")]
Until = Annotated[datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="Became true before.")]
AsOf = Annotated[datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="What was believed then.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each got its score.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


def recall(
    query: Query,
    namespaces: Namespaces = None,
    k: Most = 10,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Most tokens of their text.")] = None,
    neighbours: Annotated[int, typer.Option(min=0, max=10, help="Turns to show around each, each side.")] = 0,
    context: Annotated[
        str | None,
        typer.Option(help="What you know now: a memory that it contradicts is corrected. `-` reads standard input."),
    ] = None,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Find memories. Finding none is an answer: the exit code is 0."""
    with reported():
        try:
            question = RecallQuestion(
                query=query,
                namespaces=tuple(namespaces) if namespaces else None,
                k=k,
                budget_tokens=budget,
                filter=RecallFilter(since=since, until=until),
                as_of=as_of,
                explain=explain,
                neighbours=neighbours,
                timezone=moment.zone(),
                context=sys.stdin.read() if context == "-" else context,
            )
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        reply = Gateway.here().post(f"{MEMORY}/recall", RecallReply, question)
    if as_json:
        print(reply.model_dump_json(indent=2))
    else:
        show(reply, console())


def show(reply: RecallReply, terminal: Console) -> None:
    """Print what was found, for people."""
    if not reply.memories:
        terminal.print("Nothing is remembered about this.")
    for memory in reply.memories:
        _show_one(memory, terminal)
    if reply.facts:
        terminal.print("Facts that sleep made of several memories:")
    for fact in reply.facts:
        _show_one(fact, terminal)
    terminal.print(f"[dim]{escape(_footer(reply))}[/dim]")


def _show_one(memory: RecalledMemory, terminal: Console) -> None:
    told(memory, memory.score, terminal)
    for turn in memory.neighbours:
        number = "" if turn.turn is None else f"{turn.turn} "
        said = f"{turn.speaker}: " if turn.speaker else ""
        indented(f"{number}{said}{turn.content}", terminal, "dim")
    if memory.explanation:
        indented(explained(memory.explanation), terminal, "dim")


def told(memory: RecalledMemory | MemoryView, score: float, terminal: Console) -> None:
    """Print one memory: its score, when, where, its id and origin, its text, and until when it was true."""
    # The text stands on lines of its own: a terminal then writes Arabic from the right without moving the columns.
    terminal.print(
        f"[bold]{score:.2f}[/bold]  {moment.day(memory.valid_at)}  [cyan]{escape(memory.namespace)}[/cyan]  "
        f"[dim]{memory.memory_id}  {escape(origin(memory))}[/dim]",
        soft_wrap=True,
    )
    text = memory.content if len(memory.content) <= SHOWN_CHARS else memory.content[: SHOWN_CHARS - 1] + "…"
    indented(text, terminal)
    if memory.invalid_at:
        indented(f"until {moment.told(memory.invalid_at)}", terminal, "yellow")


def indented(text: str, terminal: Console, style: str = "") -> None:
    """Print text wrapped to the terminal, without the spaces that would push Arabic away from its edge."""
    for line in Text(plain(text), style=style).wrap(terminal, max(terminal.width - INDENT, INDENT)):
        line.rstrip()
        terminal.print(Text(" " * INDENT) + line)


def origin(memory: RecalledMemory | MemoryView) -> str:
    """Where a memory comes from, on one line."""
    parts = (memory.source_kind, memory.source_ref, memory.session, memory.speaker)
    return ", ".join(dict.fromkeys(part for part in parts if part))


def explained(found: Explanation) -> str:
    """How a memory got its score, on one line."""
    parts = [f"bm25 {found.lexical:.2f}" + (f" (#{found.lexical_rank})" if found.lexical_rank else "")]
    if found.cosine is not None:
        parts.append(f"cosine {found.cosine:.3f}" + (f" (#{found.cosine_rank})" if found.cosine_rank else ""))
    parts += [f"{stage} {points:+.3f}" for stage, points in found.contributions.items()]
    if found.reranked is not None:
        parts.append(f"reranked {found.reranked:.3f}")
    return ", ".join(parts)


def understood(time: TimeWindow) -> str:
    """How words of the query were read as a time."""
    ends = [moment.told(end) or "…" for end in (time.since, time.until)]
    return f"“{time.text}” read as {ends[0]} to {ends[1]}"


def _footer(reply: RecallReply) -> str:
    count = len(reply.memories)
    parts = [
        f"{count} {'memory' if count == 1 else 'memories'}, {reply.took_ms} ms{' (cached)' if reply.cached else ''}"
    ]
    dropped = reply.dropped
    for number, why in (
        (dropped.below_floor, f"below {reply.floor:.2f}"),
        (dropped.beyond_k, "more than -k"),
        (dropped.over_budget, "over the budget"),
    ):
        if number:
            parts.append(f"{number} {why}")
    parts += [f"without {part}" for part in reply.degraded]
    if reply.time:
        parts.append(understood(reply.time))
    parts += [f"{stage} {took:.1f} ms" for stage, took in reply.stages_ms.items()]
    return "; ".join(parts)
