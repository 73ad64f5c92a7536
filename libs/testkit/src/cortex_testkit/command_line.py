"""The command line in processes of its own, as if a shell had started it (`forks`)."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cortex_testkit.forks import Forked

LIMIT_S: Final = 60.0


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
        subprocess.TimeoutExpired: it did not end within `LIMIT_S`; it is killed.
    """
    return await asyncio.to_thread(_run, arguments, os.environ | environment, stdin, folder)


def _run(arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes, folder: Path | None) -> Ended:
    with TemporaryDirectory() as directory:
        streams = [Path(directory, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(stdin)
        command = Forked("cortex_cli", arguments, environment, streams, folder)
        try:
            code = command.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            command.kill()
            command.wait()
            raise
        return Ended(code, *(file.read_text(encoding="utf-8") for file in streams[1:]))
