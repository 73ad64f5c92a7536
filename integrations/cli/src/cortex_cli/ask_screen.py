"""What `cortex ask` shows: engines that light up as they answer, then the answer with its receipts and conflicts.

All text comes from others: it is never markup, never commands the terminal, and what belongs on one line stays there.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from cortex_cli.ask_stream import AskEvent, Asking, EngineHeard, SentenceSaid
from cortex_cli.output import line
from cortex_contracts.rpc.ask import AskHit, AskReply, Conflict, EngineState, Receipt
from cortex_contracts.rpc.engine import EngineStatus

REFRESHES_PER_S: Final = 10
INDENT: Final = 2
HANGING: Final = 5
"""Of what goes on on the next line: below the title of a receipt."""
LEAST_WIDTH: Final = 10


class Plain:
    """Engines as lines of their own, for logs, pipes and whoever wants nothing to move."""

    def __init__(self, terminal: Console) -> None:
        self._terminal = terminal

    def heard(self, event: AskEvent) -> None:
        """Tell an event of the answer."""
        if isinstance(event, EngineHeard):
            self._terminal.print(Text(f"{' ' * INDENT}{_told(event)}"), soft_wrap=True)


class Lights:
    """Engines as lights above the sentences that a model has written so far; all of it goes when the answer comes."""

    def __init__(self) -> None:
        self._engines: dict[str, EngineHeard | None] = {}
        self._sentences: list[str] = []
        self._spinner = Spinner("dots", style="cyan")
        self._started = time.monotonic()

    def heard(self, event: AskEvent) -> None:
        """Take an event of the answer in."""
        if isinstance(event, Asking):
            self._engines |= dict.fromkeys(event.engines)
        elif isinstance(event, EngineHeard):
            self._engines[event.state.engine] = event
        elif isinstance(event, SentenceSaid):
            self._sentences.append(event.text)

    def __rich__(self) -> RenderableType:
        """How it looks now."""
        table = Table.grid(padding=(0, 1))
        for engine, event in self._engines.items():
            up = event is not None and event.state.status is EngineStatus.UP
            table.add_row(
                Text("●" if up else "○", style="green" if up else "red" if event else "dim"),
                Text(line(engine), style="" if event else "dim"),
                Text(_outcome(event) if event else "", style="dim", no_wrap=True, overflow="ellipsis"),
            )
        doing = "writing" if self._sentences else "asking"
        self._spinner.update(text=Text(f"{doing} … {time.monotonic() - self._started:.1f} s", style="dim"))
        said = [Text(line(sentence)) for sentence in self._sentences]
        return Padding(Group(table, *said, self._spinner), (0, 0, 0, INDENT))


@contextlib.contextmanager
def screen(terminal: Console, *, still: bool) -> Iterator[Plain | Lights]:
    """Where events are told: lights on a terminal, lines elsewhere or when nothing is to move."""
    if still or not terminal.is_terminal or terminal.is_dumb_terminal:
        yield Plain(terminal)
        return
    lights = Lights()
    with Live(lights, console=terminal, transient=True, refresh_per_second=REFRESHES_PER_S):
        yield lights


def without_colour() -> bool:
    """Whether the reader wants none (no-color.org: the variable is there and not empty)."""
    return bool(os.environ.get("NO_COLOR"))


def show(reply: AskReply, terminal: Console) -> None:
    """Print an answer for people."""
    if reply.answer:
        terminal.print()
        for sentence in reply.answer.splitlines():
            _wrapped(Text(line(sentence), style="bold"), terminal, 0, 0)
        terminal.print()
    for receipt in reply.receipts:
        _wrapped(_receipt(receipt), terminal)
    for conflict in reply.conflicts:
        _wrapped(_conflict(conflict), terminal)
    if reply.answer is None:
        for number, hit in enumerate(reply.hits, 1):
            _wrapped(_hit(number, hit), terminal)
        if not reply.hits:
            terminal.print(Text(" " * INDENT + "no hits"))
    engines = ", ".join(map(_state, reply.engines))
    _wrapped(Text(f"engines: {engines}; took {reply.took_ms} ms", style="dim"), terminal)


def _receipt(receipt: Receipt) -> Text:
    seen = f", {receipt.last_seen:%Y-%m-%d}" if receipt.last_seen else ""
    return Text.assemble(
        (f"[{receipt.id}]", "green"),
        " ",
        line(receipt.title) or line(receipt.source),
        (f" ({line(receipt.path) or line(receipt.source)}{seen}){_also(receipt.corroborated_by)}", "dim"),
    )


def _hit(number: int, hit: AskHit) -> Text:
    # The score of an old page that fits well is next to nothing; the order is that of the scores.
    fits = "" if hit.relevance is None else f", fits {hit.relevance:.0%}"
    place = f": {line(hit.path)}" if hit.path else ""
    return Text.assemble(
        (f"{number:>2}  {hit.score:.3f}", "green"),
        f"  {line(hit.title) or line(hit.snippet)[:80]}",
        (f" ({line(hit.engine)}{place}{fits}){_also(hit.corroborated_by)}", "dim"),
    )


def _also(engines: tuple[str, ...]) -> str:
    return f", also in {line(', '.join(engines))}" if engines else ""


def _conflict(conflict: Conflict) -> Text:
    losers = ", ".join(loser.value for loser in conflict.losers)
    return Text.assemble(
        ("conflict", "yellow"),
        f" {line(conflict.claim)}: {line(conflict.value)} ",
        (f"({conflict.winner.value})", "dim"),
        f" over {line(', '.join(conflict.losing_values))} ",
        (f"({losers}; {line(conflict.reason)})", "dim"),
    )


def _state(state: EngineState) -> str:
    took = "" if state.ms is None else f" {state.ms} ms"
    why = f" ({line(state.error)})" if state.error else ""
    return f"{line(state.engine)} {state.status.value}{took}{why}"


def _told(event: EngineHeard) -> str:
    return f"{line(event.state.engine)}: {_outcome(event)}"


def _outcome(event: EngineHeard) -> str:
    state = event.state
    took = "" if state.ms is None else f", {state.ms} ms"
    if state.status is not EngineStatus.UP:
        return f"{state.status.value}{took}{f', {line(state.error)}' if state.error else ''}"
    return f"{event.hits} {'hit' if event.hits == 1 else 'hits'}{took}"


def _wrapped(text: Text, terminal: Console, indent: int = INDENT, hanging: int = HANGING) -> None:
    """Print text wrapped to the terminal, without the spaces that would push Arabic away from its edge."""
    for number, part in enumerate(text.wrap(terminal, max(terminal.width - indent - hanging, LEAST_WIDTH))):
        part.rstrip()
        terminal.print(Text(" " * (indent + hanging * (number > 0))) + part, soft_wrap=True)
