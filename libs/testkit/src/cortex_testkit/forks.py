"""Processes of our own programs without the second that Python takes to import one.

A server that has imported the programs forks a process for each: with its own arguments, environment, folder and
standard streams, as if it had been started with `python -m`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final

SERVICES: Final = ("gateway", "webhook", "ingest", "recall", "sleep")
_PR_SET_PDEATHSIG: Final = 1

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["cortex_cli.main", *(f"cortex_{name}.app" for name in SERVICES)])


class Forked:
    """A child process that runs `python -m <module>`, with the part of `subprocess.Popen` that tests use.

    `streams` are the files of its standard input, output and error; it dies with this process.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Sequence[Path],
        folder: Path | None = None,
    ) -> None:
        plan = (module, list(arguments), dict(environment), list(map(str, streams)), str(folder or Path.cwd()))
        self._process: ForkServerProcess = _context.Process(target=_run, args=plan)
        self._process.start()

    @property
    def pid(self) -> int:
        """Its id."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    def poll(self) -> int | None:
        """Its exit code; none while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("forked process", timeout or 0.0)
        return code

    def send_signal(self, sig: int) -> None:
        """Send it a signal."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _run(module: str, arguments: list[str], environment: dict[str, str], streams: list[str], folder: str) -> None:
    """What the forked process does; its exit code is that of the program."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.setsid()
    for number, (name, mode) in enumerate(
        zip(streams, (os.O_RDONLY, *[os.O_WRONLY | os.O_APPEND | os.O_CREAT] * 2), strict=True)
    ):
        os.dup2(os.open(name, mode), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115 - for good
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    sys.argv = [module, *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module(module, run_name="__main__")
