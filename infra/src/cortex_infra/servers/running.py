"""A server as a plain child process, for tests and tools that want one without a supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from cortex_infra.servers.process import ServerProcess, wait_ready


class Child(Protocol):
    """A child process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its id."""
        ...

    def poll(self) -> int | None:
        """Its exit code; none while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired."""
        ...

    def send_signal(self, sig: int) -> None:
        """Send it a signal."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class RunningServer:
    """Owns one child process; as a context manager it stops it at the end."""

    def __init__(self, process: ServerProcess, directory: Path) -> None:
        """Start `process`; its log and launch file go to `directory`. It ends when this process ends."""
        self.process = process
        self.log = directory / f"{process.name}.log"
        directory.mkdir(parents=True, exist_ok=True)
        self._child = self._spawn()

    def _spawn(self) -> Child:
        launch_file = self.log.with_suffix(".json")
        command = self.process.write_launch_file(launch_file, os.getpid())
        launch_file.with_suffix(".started").unlink(missing_ok=True)
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._child.pid

    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child.poll() is None

    async def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait until the server answers; raises as `process.wait_ready` does."""
        await wait_ready(self.process, timeout_s=timeout_s, log=self.log, alive=self.alive)

    def stop(self) -> None:
        """Ask it to end and kill it if it does not within its time."""
        if self.alive():
            self._child.send_signal(getattr(signal, f"SIG{self.process.stop_signal}"))
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(self.process.stop_wait_s)
        self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.alive():
            self._child.kill()
        self._child.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
