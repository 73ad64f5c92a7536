"""The configuration of the supervisor, as its own parser reads it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from supervisor.options import ServerOptions  # type: ignore[import-untyped]

from cortex_infra.errors import SupervisionError
from cortex_infra.home import Home
from cortex_infra.servers.process import ServerProcess
from cortex_infra.supervision import Program, configuration_file, render


async def ready() -> None:
    pass


def program(name: str, group: str = "servers", **changes: object) -> Program:
    process = ServerProcess(name, (sys.executable, "-c", "pass"), "x://", "1", ready, **changes)  # type: ignore[arg-type]
    return Program(process, group)  # type: ignore[arg-type]


@pytest.fixture(params=["plain", "with space", "100%s 50%", "quo'te\"s"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    home = Home(tmp_path / request.param)
    home.prepare()
    return home


def parse(home: Home) -> ServerOptions:
    options = ServerOptions()
    options.realize(["-c", str(configuration_file(home)), "-n"], doc="")
    return options


def test_every_path_survives_the_supervisors_expansion_and_quoting(home: Home) -> None:
    environment = {"SECRET": "70% of \"it\", 'quoted'; #no comment"}
    text = render(home, [program("nats", environment=environment, stop_signal="INT", stop_wait_s=30)], "s3cret%")
    configuration_file(home).write_text(text)
    options = parse(home)
    [group] = [group for group in options.process_group_configs if group.name == "servers"]
    [process] = group.process_configs
    launch_file = home.run / "nats.json"
    assert shlex.split(process.command)[-1] == str(launch_file)
    assert process.stdout_logfile == str(home.logs / "nats.log")
    assert (process.stopsignal, process.stopwaitsecs, process.startsecs, process.autostart) == (2, 30, 0, False)
    assert json.loads(launch_file.read_text())["environment"] == environment
    assert launch_file.stat().st_mode & 0o777 == 0o600
    assert "70%" not in text


def test_services_stop_before_servers_and_the_watchdog_last(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    configuration_file(home).write_text(render(home, [program("nats"), program("recall", "services")], "x"))
    groups = sorted(parse(home).process_group_configs)
    assert [group.name for group in groups] == ["watchdog", "servers", "services"]


@pytest.mark.parametrize("name", ["a ;b", "a #b", "a\nb"])
def test_a_path_the_supervisor_would_cut_is_refused(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / name)
    home.prepare()
    with pytest.raises(SupervisionError, match="set CORTEX_HOME to a plainer one"):
        render(home, [program("nats")], "x")
