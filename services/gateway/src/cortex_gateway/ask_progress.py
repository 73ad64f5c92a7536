"""Progress of `darwin_ask` for MCP clients that gave a progress token: engines as they answer, sentences as they come.

Each engine is one step and the answer is the last one, so that progress rises to the total and, as MCP demands, with
every notification: sentences divide the last step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.mcpserver import Context

from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.ask_events import AskEvent, Asking, EngineHeard, Heard, SentenceSaid

MESSAGE_LENGTH: Final = 300


@asynccontextmanager
async def reporting(context: Context) -> AsyncIterator[Heard]:
    """What `Asker.ask` tells inside of the block is reported before the block ends; nothing without a token."""
    happened: asyncio.Queue[AskEvent | None] = asyncio.Queue()

    async def report() -> None:
        steps = Steps()
        while (event := await happened.get()) is not None:
            if (progress := steps.after(event)) is not None:
                await context.report_progress(progress, steps.total, message(event))

    task = asyncio.create_task(report())
    try:
        yield happened.put_nowait
        happened.put_nowait(None)
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Steps:
    """How far an answer is."""

    def __init__(self) -> None:
        self.total: float | None = None
        self._heard = self._said = 0

    def after(self, event: AskEvent) -> float | None:
        """Progress after the next event: more than before it, less than the total; none: it is no step."""
        if isinstance(event, Asking):
            self.total = len(event.engines) + 1.0
            return None
        if isinstance(event, EngineHeard):
            self._heard += 1
        else:
            self._said += 1
        return self._heard + self._said / (self._said + 1)


def message(event: AskEvent) -> str:
    """An event in a few words."""
    if isinstance(event, Asking):
        text = f"asking {', '.join(event.engines)}"
    elif isinstance(event, SentenceSaid):
        text = event.text
    elif event.state.status is EngineStatus.UP:
        text = f"{event.state.engine}: {event.hits} {'hit' if event.hits == 1 else 'hits'}"
    else:
        text = f"{event.state.engine} is {event.state.status.value}: {event.state.error or 'no reason given'}"
    return text if len(text) <= MESSAGE_LENGTH else f"{text[: MESSAGE_LENGTH - 1]}…"
