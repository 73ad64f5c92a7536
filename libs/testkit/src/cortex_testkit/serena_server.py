"""Serena as it is, from the environment that `make engines` builds, with a language server that needs no network.

What it keeps for itself goes to a home of the test's own; it opens no dashboard and reports to nobody.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, Literal

from cortex_infra import ports
from cortex_infra.servers.process import ServerProcess

PROGRAMS: Final = Path(__file__).resolve().parents[4] / ".venv-engines" / "bin"
SETTINGS: Final = 'project_name: "{name}"\nlanguage_servers: ["python_jedi"]\nencoding: "utf-8"\n'

Interface = Literal["tools", "repl"]


def prepare(project: Path) -> None:
    """Make a folder a project of Serena's."""
    (project / ".serena").mkdir(parents=True, exist_ok=True)
    (project / ".serena" / "project.yml").write_text(SETTINGS.format(name=project.name), encoding="utf-8")


def command(project: Path, interface: Interface | None = "tools") -> tuple[str, ...]:
    """The command that serves `project` over stdio; no interface is the one that Serena chooses by itself."""
    program = PROGRAMS / "serena"
    assert program.is_file(), f"{program} is missing: run `make engines`"
    chosen = ("--agent-interface", interface) if interface else ()
    quiet = ("--enable-web-dashboard", "false", "--open-web-dashboard", "false", "--log-level", "WARNING")
    return (str(program), "start-mcp-server", "--project", str(project), *chosen, *quiet)


def environment(home: Path, *, language_server: bool = True) -> dict[str, str]:
    """What it needs to see; without its language server, of Serena alone."""
    system = "/usr/bin:/bin"
    return {
        "HOME": str(home),
        "PATH": f"{PROGRAMS}:{system}" if language_server else system,
        "SERENA_USAGE_REPORTING": "false",
    }


def process(project: Path, home: Path, transport: Literal["sse", "streamable-http"]) -> ServerProcess:
    """A server on a free port, to be run by `RunningServer`; its `url` is where clients connect."""
    port = ports.choose()

    async def ready() -> None:
        _, writer = await asyncio.open_connection(ports.LOOPBACK, port)
        writer.close()

    return ServerProcess(
        f"serena-{transport}",
        (*command(project), "--transport", transport, "--port", str(port)),
        f"http://{ports.LOOPBACK}:{port}/{'sse' if transport == 'sse' else 'mcp'}",
        "2.1.0",
        ready,
        environment=environment(home),
    )
