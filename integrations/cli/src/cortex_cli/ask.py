"""`cortex ask`: one question at the gateway, its answer with receipts, conflicts and the state of every engine."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.console import Console

from cortex_cli import running
from cortex_cli.failure import reported
from cortex_cli.gateway import Gateway
from cortex_cli.output import console
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.rpc.ask import AskMode, AskReply, Question
from cortex_runtime.settle import describe

INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    mode: Annotated[AskMode, typer.Option(help="Prose, ranked hits, or both.")] = AskMode.BOTH,
    scope: Annotated[list[str] | None, typer.Option(help="Ask this engine only; may be repeated.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=100, help="Most hits of each engine.")] = 12,
    synthesize: Annotated[bool, typer.Option(help="Let a language model write, where one is configured.")] = True,
    plain: Annotated[bool, typer.Option("--plain", help="Nothing that moves, no colours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the gateway's reply, byte for byte.")] = False,
) -> None:
    """Ask every engine one question. Nothing known is an answer: the exit code is 0. Ctrl-C ends the engines' work."""
    try:
        with reported():
            asking = _question(question, mode=mode, scope=tuple(scope) if scope else None, k=k, synthesize=synthesize)
            _ask(asking, plain=plain, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def put(url: str, token: str, question: str) -> AskReply:
    """Put a question to the gateway at `url` and wait for the whole answer.

    Raises:
        NotRunning: the gateway does not answer.
        Permanent: it refuses the question; the message is its own.
    """
    return Gateway(url, token).post("/ask", AskReply, Question(query=question))


def show(reply: AskReply, terminal: Console) -> None:
    """Print an answer for people."""
    from cortex_cli import ask_screen

    ask_screen.show(reply, terminal)


def _question(query: str, **more: object) -> Question:
    try:
        return Question.model_validate({"query": query, **more})
    except ValidationError as error:
        raise InvalidMessage(describe(error)) from None


def _ask(question: Question, *, plain: bool, as_json: bool) -> None:
    # Another HTTP client and the moving screen, which no other command needs.
    from cortex_cli import ask_screen, ask_stream

    still = plain or ask_screen.without_colour()
    terminal = console(colours=not still)
    events = ask_stream.asked(running.gateway_url(), running.token(), question)
    with closing(events):
        if as_json:
            for event in events:
                if isinstance(event, ask_stream.Answered):
                    sys.stdout.write(f"{event.json}\n")
            return
        with ask_screen.screen(terminal, still=still) as screen:
            for event in events:
                screen.heard(event)
        assert isinstance(event, ask_stream.Answered), "the last event is the answer"
    ask_screen.show(event.reply, terminal)
