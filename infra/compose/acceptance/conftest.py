"""A Compose project of its own for the acceptance test: built, brought up, and taken down with its data."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from cortex_infra.ports import Ports
from cortex_testkit.eventually import eventually

ROOT: Final = Path(__file__).resolve().parents[3]
MAKE_ENV: Final = ROOT / "infra/compose/make_env.py"
SERVICES: Final = ("gateway", "webhook", "ingest", "recall", "sleep")
# Without a health check: its image has nothing that could check.
UNCHECKED: Final = ("nats",)
CHECKED: Final = ("postgres", "cache", "objects", "embedder", *SERVICES)
ONE_SHOTS: Final = ("nats-config", "bootstrap", "migrate", "provision", "example-vault")
READY_S: Final = 240.0
TAG: Final = "acceptance"
# The one port that nobody but this test needs from outside.
OVERRIDE: Final = """\
services:
  nats:
    ports: ["127.0.0.1:{nats}:4222"]
"""
STATE: Final = (
    '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{.State.ExitCode}} '
    "{{if .State.Health}}{{.State.Health.Status}}{{else}}-{{end}} {{.Config.User}}"
)


def compose_command() -> tuple[str, ...]:
    """`docker compose` if there is one, else `docker-compose`; fails the test without an engine or without either."""
    if not shutil.which("docker"):
        pytest.fail("expected a Docker engine, but there is no `docker` command: install one and run this again")
    engine = subprocess.run(["docker", "info"], capture_output=True, text=True, check=False, timeout=60)
    if engine.returncode:
        pytest.fail(f"expected a Docker engine, but none answers: {engine.stderr.strip()[:300]}")
    for command in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(command[0]) and not subprocess.run([*command, "version"], capture_output=True).returncode:
            return command
    pytest.fail("expected `docker compose` or `docker-compose`: install one and run this again")


def environment() -> dict[str, str]:
    """Ours without what would go before the project's own variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("CORTEX_", "COMPOSE_"))}


class Installation:
    """One Compose project."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """Make its secrets and choose its ports in `folder`."""
        self.project = f"cortex-acceptance-{secrets.token_hex(3)}"
        ports = Ports(folder / "ports.json")
        self.ports = {name: ports.take(name) for name in ("gateway", "gateway-sse", "webhook", "nats")}
        env, override = folder / "env", folder / "override.yaml"
        subprocess.run([sys.executable, str(MAKE_ENV), str(env)], check=True, capture_output=True)
        with env.open("a", encoding="utf-8") as file:
            file.write(
                f"CORTEX_VERSION={TAG}\nCORTEX_GATEWAY_PORT={self.ports['gateway']}\n"
                f"CORTEX_GATEWAY_SSE_PORT={self.ports['gateway-sse']}\nCORTEX_WEBHOOK_PORT={self.ports['webhook']}\n"
            )
        override.write_text(OVERRIDE.format(nats=self.ports["nats"]), encoding="utf-8")
        lines = (line for line in env.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
        self.variables: Mapping[str, str] = {
            name: "".join(shlex.split(value)) for name, _, value in (line.partition("=") for line in lines)
        }
        self._command = (
            *command,
            "-p",
            self.project,
            "--env-file",
            str(env),
            "-f",
            "compose.yaml",
            "-f",
            str(override),
        )

    def url(self, port: str) -> str:
        """Where a published port answers."""
        return f"http://127.0.0.1:{self.ports[port]}"

    def compose(self, *arguments: str, stdin: str = "", timeout_s: float = 600.0) -> str:
        """Run a command of Compose; returns its output, fails with it."""
        done = subprocess.run(
            [*self._command, *arguments],
            cwd=ROOT,
            env=environment(),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
        if done.returncode:
            pytest.fail(f"compose {arguments[0]}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def run(self, service: str, *command: str, stdin: str = "") -> str:
        """Run a command inside a container; returns its output."""
        return docker("exec", "--interactive", self.containers()[service], *command, stdin=stdin).strip()

    def containers(self) -> dict[str, str]:
        """Container ids by service, those that have ended among them."""
        mine = f"label=com.docker.compose.project={self.project}"
        shown = docker("ps", "--all", "--filter", mine, "--format", '{{.Label "com.docker.compose.service"}} {{.ID}}')
        return dict(line.split() for line in shown.splitlines())

    def states(self) -> dict[str, list[str]]:
        """Status, exit code, health ("-": no check) and configured user by service."""
        found = docker("inspect", "--format", STATE, *self.containers().values())
        return {service: state for service, *state in (line.split(" ") for line in found.splitlines())}

    def unready(self) -> dict[str, list[str]]:
        """What is not as it should be."""
        states = self.states()
        wanted = {
            **{service: ["exited", "0"] for service in ONE_SHOTS},
            **{service: ["running", "0", "-"] for service in UNCHECKED},
            **{service: ["running", "0", "healthy"] for service in CHECKED},
        }
        return {
            service: states.get(service, ["missing"])
            for service, state in wanted.items()
            if states.get(service, [])[: len(state)] != state
        }

    async def ready(self) -> None:
        """Wait until every container is healthy or has done its work."""

        async def ask() -> dict[str, list[str]]:
            return await asyncio.to_thread(self.unready)

        try:
            await eventually(ask, lambda unready: not unready, within_s=READY_S)
        except AssertionError as error:
            logs = self.compose("logs", "--no-color", "--tail", "15", *self.unready())
            raise AssertionError(f"{error}\n{logs}") from None

    async def restart(self, service: str) -> None:
        """Restart one container and wait until everything is ready again."""
        await asyncio.to_thread(self.compose, "restart", service)
        await self.ready()


def docker(*arguments: str, stdin: str = "") -> str:
    """Output of a docker command; fails the test with its error output."""
    done = subprocess.run(["docker", *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        pytest.fail(f"docker {arguments[0]}: {done.stdout[-1000:]}\n{done.stderr[-1000:]}")
    return done.stdout


@pytest.fixture(scope="session")
def compose() -> tuple[str, ...]:
    """The command of Compose."""
    return compose_command()


@pytest.fixture(scope="session")
def installation(compose: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The running system. The images stay for the next run; containers, networks and volumes do not."""
    one = Installation(compose, tmp_path_factory.mktemp("compose"))
    one.compose("build", timeout_s=1800)
    try:
        one.compose("up", "--detach", "--no-build")
        asyncio.run(one.ready())
        yield one
    finally:
        one.compose("down", "--volumes", "--remove-orphans")
