"""S3 servers: the embedded SeaweedFS, and moto's from the environment of the engines as another maker's."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from cortex_infra import ports
from cortex_infra.home import write_private
from cortex_infra.servers import objects
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer
from cortex_testkit import provider

ACCESS_KEY: Final = "test-access"
SECRET_KEY: Final = "test-secret-that-nobody-may-see"
READER_KEY: Final = "test-reader"
MOTO: Final = Path(__file__).resolve().parents[4] / ".venv-engines" / "bin" / "moto_server"


@dataclass(frozen=True, slots=True)
class ObjectServer:
    """Where an S3 server is. It takes `ACCESS_KEY` and `SECRET_KEY`; SeaweedFS lets `READER_KEY` read only."""

    url: str
    running: RunningServer


def open_seaweed(stack: ExitStack) -> ObjectServer:
    """The object store of an embedded installation, of this process's own."""
    directory = stack.enter_context(provider.folder())
    listeners = {name: ports.choose() for name in objects.LISTENERS}
    stack.callback(objects.remove_stray_sockets, listeners)
    sockets = directory / "run"
    sockets.mkdir(mode=0o700)
    process = objects.prepare(
        directory / "objects",
        ports=listeners,
        sockets=sockets,
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
        internal_key="k" * 32,
    )
    write_private(directory / "objects" / "s3.json", _identities())
    return ObjectServer(process.url, provider.run(process, directory, stack))


def open_moto(stack: ExitStack) -> ObjectServer:
    """An S3 server that shares no code with the embedded one."""
    directory = stack.enter_context(provider.folder())
    port = ports.choose()
    url = f"http://{ports.LOOPBACK}:{port}"
    process = _moto(url, (str(MOTO), "-H", ports.LOOPBACK, "-p", str(port)))
    return ObjectServer(url, provider.run(process, directory, stack))


def _moto(url: str, command: Sequence[str]) -> ServerProcess:
    async def ready() -> None:
        async with httpx.AsyncClient(timeout=2.0, trust_env=False) as client:
            (await client.get(f"{url}/moto-api/")).raise_for_status()

    # It decides by the host's name what is a bucket; its log of requests is of no use.
    environment = {"PATH": os.environ["PATH"], "MOTO_PORT": url.rpartition(":")[2]}
    return ServerProcess("moto", tuple(command), url, "5", ready, environment=environment, stop_wait_s=1.0)


def _identities() -> str:
    def identity(name: str, key: str, actions: list[str]) -> dict[str, object]:
        return {"name": name, "credentials": [{"accessKey": key, "secretKey": SECRET_KEY}], "actions": actions}

    everything = ["Admin", "Read", "Write", "List", "Tagging"]
    return json.dumps(
        {"identities": [identity("cortex", ACCESS_KEY, everything), identity("reader", READER_KEY, ["Read", "List"])]}
    )
