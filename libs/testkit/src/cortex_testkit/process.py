"""One service as a process of its own, with exactly the settings a test gives it."""

from __future__ import annotations

import sys

from cortex_infra import ports, services
from cortex_infra.servers.process import ServerProcess


def service_process(name: str, **settings: str) -> ServerProcess:
    """`python -m cortex_<name>` on a free port, to be run by `RunningServer`."""
    port = ports.choose()
    url = f"http://{ports.LOOPBACK}:{port}"

    async def ready() -> None:
        await services.ask(url, "")

    return ServerProcess(
        name,
        (sys.executable, "-m", f"cortex_{name}"),
        url,
        "test",
        ready,
        environment={f"CORTEX_{name.upper()}_PORT": str(port), **settings},
        inherit_environment=True,
        stop_wait_s=20.0,
    )
