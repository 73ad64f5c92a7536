"""`cortex reindex`: another embedding model, while everything runs."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from cortex_cli import output
from cortex_cli.failure import reported
from cortex_infra import model_change
from cortex_infra.home import Home
from cortex_infra.reindex import Progress as Reached
from cortex_infra.servers.embedder import MODELS


def reindex(
    model: Annotated[str, typer.Option(help=f"The bundled model to move to: {', '.join(MODELS)}.")],
    restart: Annotated[bool, typer.Option("--restart", help="Give up an unfinished move to another model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress and outcome as JSON, one a line.")] = False,
) -> None:
    """Embed everything again with another model. Recalls go on; killed, it goes on where it was when run again.

    With an embedder of your own, or outside embedded mode, run `python -m cortex_infra reindex` instead.
    """
    with reported():
        home = Home.from_environment()
        if as_json:
            outcome = asyncio.run(model_change.change_model(home, model, restart=restart, progress=_print))
            print(json.dumps({"outcome": outcome}))
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=output.console()) as bars:
            outcome = asyncio.run(model_change.change_model(home, model, restart=restart, progress=_Bars(bars)))
        print(outcome)


def _print(reached: Reached) -> None:
    print(json.dumps({"phase": reached.phase, "done": reached.done, "total": reached.total}), flush=True)


class _Bars:
    """One bar for each phase that was reached."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, reached: Reached) -> None:
        if reached.phase not in self._tasks:
            for task in self._tasks.values():
                self._bars.stop_task(task)
            self._tasks[reached.phase] = self._bars.add_task(str(reached.phase), total=reached.total or None)
        self._bars.update(self._tasks[reached.phase], completed=reached.done, total=reached.total or None)
