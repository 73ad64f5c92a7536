"""supervisord as the owner of every process: its configuration, its start, and the calls made to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import subprocess
import sys
import xmlrpc.client
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import psutil
import tenacity

from cortex_infra import launch, watchdog
from cortex_infra.errors import SupervisionError
from cortex_infra.home import Home, write_private
from cortex_infra.servers.process import ServerProcess, log_tail

Group: TypeAlias = Literal["servers", "services"]

_USER: Final = "cortex"
_START_TIMEOUT_S: Final = 15.0
_LOG_BYTES: Final = "5MB"


@dataclass(frozen=True, slots=True)
class Program:
    """A process and the group it is started and stopped with; services stop before servers."""

    process: ServerProcess
    group: Group


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What the supervisor knows of one process."""

    name: str
    state: str
    """supervisord's word: STOPPED, STARTING, RUNNING, BACKOFF, STOPPING, EXITED, FATAL or UNKNOWN."""
    pid: int | None


def render(home: Home, programs: Sequence[Program], password: str) -> str:
    """The configuration file; writes the launch file of every program, which holds what must not be in it."""
    lines = [
        "[unix_http_server]",
        f"file = {_value(socket_file(home))}",
        "chmod = 0700",
        f"username = {_USER}",
        f"password = {_value(password)}",
        "",
        "[supervisord]",
        f"logfile = {_value(home.logs / 'supervisord.log')}",
        f"logfile_maxbytes = {_LOG_BYTES}",
        "logfile_backups = 1",
        f"pidfile = {_value(pid_file(home))}",
        f"directory = {_value(home.run)}",
        f"childlogdir = {_value(home.logs)}",
        "umask = 077",
        "nodaemon = true",
        "silent = true",
        *(["user = root"] if os.geteuid() == 0 else []),
        "",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
        "",
        "[eventlistener:watchdog]",
        f"command = {_command((sys.executable, '-I', '-S', watchdog.__file__, str(home.run), str(home.logs)))}",
        "events = PROCESS_STATE_EXITED,PROCESS_STATE_BACKOFF,PROCESS_STATE_FATAL",
        "buffer_size = 100",
        "autorestart = true",
        "startsecs = 0",
        "stdout_logfile = NONE",
        f"stderr_logfile = {_program_log(home, 'watchdog')}",
        "stderr_logfile_maxbytes = 1MB",
        "stderr_logfile_backups = 0",
        "",
    ]
    for program in programs:
        process = program.process
        lines += [
            f"[program:{process.name}]",
            f"command = {_command(process.write_launch_file(home.run / f'{process.name}.json', pid_file(home)))}",
            "autostart = false",
            "autorestart = true",
            # Every death is an exit, none is "too quick": the watchdog decides when it is enough.
            "startsecs = 0",
            "startretries = 3",
            f"stopsignal = {process.stop_signal}",
            f"stopwaitsecs = {max(1, round(process.stop_wait_s))}",
            "killasgroup = true",
            "redirect_stderr = true",
            f"stdout_logfile = {_program_log(home, process.name)}",
            f"stdout_logfile_maxbytes = {_LOG_BYTES}",
            "stdout_logfile_backups = 2",
            "",
        ]
    # The higher number stops first, and has stopped before the lower one is asked to.
    for group, priority in (("servers", 100), ("services", 900)):
        names = [program.process.name for program in programs if program.group == group]
        if names:
            lines += [f"[group:{group}]", f"programs = {','.join(names)}", f"priority = {priority}", ""]
    return "\n".join(lines)


def socket_file(home: Home) -> Path:
    """Where the supervisor listens."""
    return home.sockets() / "supervisor.sock"


def pid_file(home: Home) -> Path:
    """Where the supervisor leaves its process id."""
    return home.run / "supervisord.pid"


def configuration_file(home: Home) -> Path:
    """The generated configuration."""
    return home.run / "supervisord.conf"


class Supervisor:
    """The calls made to a running supervisord. Every call is short and runs in a thread."""

    def __init__(self, home: Home, password: str) -> None:
        self._home = home
        self._password = password
        self._child: subprocess.Popen[bytes] | None = None

    async def start(self, programs: Sequence[Program], lock: int, *, foreground: bool) -> None:
        """Start supervisord, which keeps `lock` open; in the foreground it ends when this process does.

        Call it from the main thread: the kernel takes the end of the calling thread for the end of the parent.

        Raises:
            SupervisionError: it did not come up.
        """
        home = self._home
        for stale in (watchdog.EVENTS_FILE, watchdog.FAILURE_FILE):
            (home.run / stale).unlink(missing_ok=True)
        for stamp in home.run.glob("*.started"):
            stamp.unlink()
        # What a process says about its end is about this run; the run before is kept beside it.
        for log in home.logs.glob("*.log"):
            log.replace(log.with_suffix(".log.previous"))
        pid_file(home).unlink(missing_ok=True)
        write_private(configuration_file(home), render(home, programs, self._password))
        plan = {
            "command": [sys.executable, "-P", "-m", "supervisor.supervisord", "-c", str(configuration_file(home))],
            "environment": {},
            "inherit_environment": True,
            "run_as": None,
            "orphan_signal": "TERM" if foreground else None,
            "parent": os.getpid(),
            "lock": lock,
            "detach": not foreground,
        }
        launch_file = home.run / "supervisord.json"
        write_private(launch_file, json.dumps(plan))
        with (home.logs / "supervisord.out").open("wb") as output:
            child = subprocess.Popen(  # noqa: ASYNC220 - asyncio's own would kill it when its loop ends
                (sys.executable, "-I", "-S", launch.__file__, str(launch_file)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Its own session: Ctrl-C in the terminal reaches the caller only, who ends things in order.
                start_new_session=True,
                pass_fds=(lock,),
            )
        if foreground:
            self._child = child
        else:
            await asyncio.to_thread(child.wait)
        await self._wait_started()

    async def _wait_started(self) -> None:
        try:
            async for attempt in tenacity.AsyncRetrying(
                stop=tenacity.stop_after_delay(_START_TIMEOUT_S), wait=tenacity.wait_fixed(0.03)
            ):
                with attempt:
                    if self._child is not None and self._child.poll() is not None:
                        break
                    await self._call("supervisor.getState")
                    return
        except tenacity.RetryError:
            pass
        output = "".join(f"\n  {line}" for line in log_tail(self._home.logs / "supervisord.out"))
        raise SupervisionError(f"the supervisor did not start{output}")

    async def start_group(self, group: Group) -> None:
        """Start every process of a group without waiting for it."""
        await self._call("supervisor.startProcessGroup", group, False)

    async def states(self) -> dict[str, ProcessState]:
        """Every process by name.

        Raises:
            SupervisionError: the supervisor does not answer.
        """
        found = cast("list[dict[str, Any]]", await self._call("supervisor.getAllProcessInfo"))
        return {
            info["name"]: ProcessState(info["name"], info["statename"], info["pid"] or None)
            for info in found
            if info["group"] != "watchdog"
        }

    def pid(self) -> int | None:
        """Process id of the supervisor of this home, if it runs."""
        if self._child is not None:
            return self._child.pid if self._child.poll() is None else None
        try:
            pid = int(pid_file(self._home).read_text(encoding="ascii"))
            command = psutil.Process(pid).cmdline()
        except (FileNotFoundError, ValueError, psutil.Error):
            return None
        return pid if str(configuration_file(self._home)) in command else None

    async def stop(self, timeout_s: float = 60.0) -> None:
        """End everything in order: services, then servers, then the supervisor itself. Nothing to do if it is gone."""
        process = self._process()
        if process is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._gone(process)
            except TimeoutError:
                # What it started dies with it.
                process.kill()
                await self._gone(process)

    async def ended(self) -> None:
        """Return when the supervisor has ended; at once if it does not run."""
        process = self._process()
        if process is not None:
            await self._gone(process)

    def _process(self) -> psutil.Process | None:
        pid = self.pid()
        try:
            return psutil.Process(pid) if pid is not None else None
        except psutil.NoSuchProcess:
            return None

    async def _gone(self, process: psutil.Process) -> None:
        # The process itself, not its id file, which goes before it does. It is not always our child.
        with contextlib.suppress(psutil.NoSuchProcess):
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        if self._child is not None:
            self._child.wait()

    async def _call(self, method: str, *arguments: object) -> object:
        return await asyncio.to_thread(self._call_now, method, *arguments)

    def _call_now(self, method: str, *arguments: object) -> object:
        # Imported late: most commands never talk to the supervisor.
        from supervisor.xmlrpc import SupervisorTransport  # type: ignore[import-untyped]

        transport = SupervisorTransport(_USER, self._password, f"unix://{socket_file(self._home)}")
        try:
            return transport.request(
                "localhost", "/RPC2", xmlrpc.client.dumps(cast("tuple[Any, ...]", arguments), method)
            )[0]
        except (OSError, xmlrpc.client.Error) as error:
            raise SupervisionError(f"the supervisor does not answer {method} ({error})") from error
        finally:
            transport.close()


def _command(command: Sequence[str]) -> str:
    return _value(shlex.join(command))


def _program_log(home: Home, name: str) -> str:
    # The logs of programs are expanded twice, everything else once.
    return _value(_value(home.logs / f"{name}.log"))


def _value(value: str | Path) -> str:
    text = str(value)
    if any(mark in text for mark in ("\n", "\r", " ;", " #", "\t;", "\t#")):
        raise SupervisionError(f"the supervisor cannot take this path, set CORTEX_HOME to a plainer one: {text!r}")
    return text.replace("%", "%%")
