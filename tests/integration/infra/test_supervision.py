"""A real supervisord with processes that live, die and refuse to end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from cortex_infra.errors import HomeInUse
from cortex_infra.home import Home
from cortex_infra.journal import deaths, failure
from cortex_infra.servers.process import ServerProcess
from cortex_infra.supervision import Group, Program, Supervisor
from cortex_testkit.eventually import eventually

SLEEPER = "import time; print('here', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


async def ready() -> None:
    pass


def program(name: str, code: str = SLEEPER, group: Group = "servers", stop_wait_s: float = 10) -> Program:
    process = ServerProcess(name, (sys.executable, "-c", code), "x://", "1", ready, stop_wait_s=stop_wait_s)
    return Program(process, group)


@pytest.fixture
def home(folder: Path) -> Home:
    home = Home(folder / "home")
    home.prepare()
    return home


@contextmanager
def killed_at_the_end(supervisor: Supervisor) -> Iterator[None]:
    try:
        yield
    finally:
        pid = supervisor.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


def family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def still_alive(processes: list[psutil.Process], within_s: float = 20) -> list[psutil.Process]:
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


async def started(home: Home, supervisor: Supervisor, programs: list[Program], *, foreground: bool = True) -> None:
    with home.locked() as lock:
        await supervisor.start(programs, lock, foreground=foreground)
    await supervisor.start_group("servers")


async def all_running(supervisor: Supervisor) -> None:
    async def states() -> set[str]:
        return {state.state for state in (await supervisor.states()).values()}

    await eventually(states, lambda found: found == {"RUNNING"})


async def test_processes_run_and_end_in_order(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("one"), program("two", group="services")])
        await supervisor.start_group("services")
        await all_running(supervisor)
        pid = supervisor.pid()
        assert pid is not None
        processes = family(pid)
        assert len(processes) == 4  # supervisor, watchdog and two
        await supervisor.stop()
        assert still_alive(processes) == []
    log = (home.logs / "supervisord.log").read_text()
    assert log.index("stopped: two") < log.index("stopped: one") < log.index("stopped: watchdog")
    assert failure(home) is None


async def test_the_home_is_locked_for_as_long_as_the_supervisor_lives(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("one")], foreground=False)
        with pytest.raises(HomeInUse), home.locked():
            pass
        await supervisor.stop()
    with home.locked():
        pass


async def test_a_process_that_dies_is_started_again_and_the_death_is_told(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("one")])
        await all_running(supervisor)
        first = (await supervisor.states())["one"].pid
        assert first is not None
        await eventually(lambda: asyncio.to_thread((home.logs / "one.log").read_text))
        os.kill(first, signal.SIGKILL)

        async def another() -> bool:
            return (await supervisor.states())["one"].pid not in (None, first)

        await eventually(another)
        [death] = await eventually(lambda: asyncio.to_thread(deaths, home))
        assert (death["process"], death["event"], death["status"]) == ("one", "exited", "terminated by SIGKILL")
        assert death["log"] == ["here"]
        await supervisor.stop()


async def test_a_process_that_keeps_dying_ends_everything_with_the_reason(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    flapping = program("flapping", "print('cannot find my keys'); raise SystemExit(7)")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("one"), flapping])
        pid = supervisor.pid()
        assert pid is not None
        processes = family(pid)
        async with asyncio.timeout(60):
            await supervisor.ended()
        assert still_alive(processes) == []
    found = failure(home)
    assert found is not None
    assert found.process == "flapping"
    assert str(found).startswith("flapping ended 5 times in 60 s, the last time with exit status 7")
    assert "cannot find my keys" in str(found)


async def test_nothing_survives_a_supervisor_that_is_killed(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("one"), program("stubborn", STUBBORN)])
        await all_running(supervisor)
        pid = supervisor.pid()
        assert pid is not None
        processes = family(pid)
        os.kill(pid, signal.SIGKILL)
        assert still_alive(processes) == []


async def test_a_process_that_ignores_its_signal_is_killed_after_its_time(home: Home) -> None:
    supervisor = Supervisor(home, "pw")
    with killed_at_the_end(supervisor):
        await started(home, supervisor, [program("stubborn", STUBBORN, stop_wait_s=1)])
        await all_running(supervisor)
        pid = supervisor.pid()
        assert pid is not None
        processes = family(pid)
        async with asyncio.timeout(30):
            await supervisor.stop()
        assert still_alive(processes) == []


async def test_nothing_survives_the_process_that_brought_it_up_in_the_foreground(home: Home) -> None:
    script = textwrap.dedent(
        f"""
        import asyncio, sys
        from pathlib import Path
        from cortex_infra.home import Home
        from cortex_infra.servers.process import ServerProcess
        from cortex_infra.supervision import Program, Supervisor

        async def ready(): pass

        async def main():
            home = Home(Path({str(home.path)!r}))
            supervisor = Supervisor(home, "pw")
            process = ServerProcess("one", (sys.executable, "-c", {SLEEPER!r}), "x://", "1", ready)
            with home.locked() as lock:
                await supervisor.start([Program(process, "servers")], lock, foreground=True)
                await supervisor.start_group("servers")
                print(supervisor.pid(), flush=True)
                await asyncio.sleep(600)

        asyncio.run(main())
        """
    )
    with subprocess.Popen((sys.executable, "-c", script), stdout=subprocess.PIPE, text=True) as up:  # noqa: ASYNC220
        try:
            assert up.stdout is not None
            pid = int(await asyncio.to_thread(up.stdout.readline))
            await all_running(Supervisor(home, "pw"))
            processes = family(pid)
            assert len(processes) == 3
        finally:
            up.kill()
    assert still_alive(processes) == []
