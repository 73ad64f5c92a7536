"""`cortex ask`: one question at the gateway, its answer with receipts, conflicts and the state of every engine."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from cortex_cli import running
from cortex_cli.failure import reported
from cortex_cli.gateway import Gateway
from cortex_cli.output import console, escape
from cortex_contracts.rpc.ask import AskMode, AskReply, Question


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    mode: Annotated[AskMode, typer.Option(help="Prose, ranked hits, or both.")] = AskMode.BOTH,
    scope: Annotated[list[str] | None, typer.Option(help="Ask these engines only.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False,
) -> None:
    """Ask every engine one question."""
    with reported():
        reply = put(running.gateway_url(), running.token(), question, mode, scope)
    if as_json:
        print(reply.model_dump_json(indent=2))
    else:
        show(reply, console())


def put(url: str, token: str, question: str, mode: AskMode = AskMode.BOTH, scope: list[str] | None = None) -> AskReply:
    """Put a question to the gateway at `url`.

    Raises:
        NotRunning: the gateway does not answer.
        Permanent: it refuses the question; the message is its own.
    """
    body = Question(query=question, mode=mode, scope=tuple(scope) if scope else None)
    return Gateway(url, token).post("/ask", AskReply, body)


def show(reply: AskReply, terminal: Console) -> None:
    """Print an answer for people."""
    if reply.answer:
        terminal.print(f"\n[bold]{escape(reply.answer)}[/bold]\n")
    for receipt in reply.receipts:
        seen = f", {receipt.last_seen:%Y-%m-%d}" if receipt.last_seen else ""
        terminal.print(
            f"  [green]\\[{receipt.id}][/green] {escape(receipt.title)} [dim]({escape(receipt.path)}{seen})[/dim]"
        )
    for conflict in reply.conflicts:
        terminal.print(
            f"  [yellow]conflict[/yellow] {escape(conflict.claim)}: {escape(conflict.value)} "
            f"[dim]({conflict.winner.value})[/dim] over {escape(', '.join(conflict.losing_values))} "
            f"[dim]({', '.join(loser.value for loser in conflict.losers)}; {escape(conflict.reason)})[/dim]"
        )
    if not reply.answer:
        for hit in reply.hits:
            terminal.print(f"  {hit.score:.2f} {escape(hit.title)} [dim]({escape(hit.path)})[/dim]")
    engines = ", ".join(
        f"{state.engine} {state.status.value}"
        + (f" {state.ms} ms" if state.ms is not None else "")
        + (f" ({state.error})" if state.error else "")
        for state in reply.engines
    )
    terminal.print(f"  [dim]engines: {escape(engines)}; took {reply.took_ms} ms[/dim]")
