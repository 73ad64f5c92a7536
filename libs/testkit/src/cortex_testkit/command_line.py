"""Command-line programs in processes of their own, without the second that Python takes to import one.

A server that has imported the program forks a process for each command: with its own arguments, environment, folder and
standard streams, as if a shell had started it.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

CORTEX: Final = "cortex_cli.main"
"""Module of the program; it has it as `app`."""
LIMIT_S: Final = 60.0
_STREAMS: Final = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_WRONLY), (2, "stderr", os.O_WRONLY))

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([CORTEX])


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


async def cortex(
    *arguments: str, environment: Mapping[str, str], stdin: bytes = b"", folder: Path | None = None
) -> Ended:
    """Run `cortex` with the environment of this process and `environment` over it.

    Raises:
        TimeoutError: it did not end within `LIMIT_S`; it is killed.
    """
    return await asyncio.to_thread(_run, arguments, os.environ | environment, stdin, folder or Path.cwd())


def _run(arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes, folder: Path) -> Ended:
    with TemporaryDirectory() as streams:
        files = [Path(streams, name) for _, name, _ in _STREAMS]
        for file in files:
            file.touch()
        files[0].write_bytes(stdin)
        process = _context.Process(target=_command, args=(list(arguments), dict(environment), str(folder), streams))
        process.start()
        process.join(LIMIT_S)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"cortex {' '.join(arguments)} did not end")
        return Ended(process.exitcode, *(file.read_bytes().decode() for file in files[1:]))


def _command(arguments: list[str], environment: dict[str, str], folder: str, streams: str) -> None:
    """What the forked process does; its exit code is that of the program."""
    for number, name, mode in _STREAMS:
        os.dup2(os.open(Path(streams, name), mode), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115 - for good
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    sys.argv = ["cortex", *arguments]
    importlib.import_module(CORTEX).app()
