"""The webhook service as a process, on a real bus."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from cortex_infra import ports
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer, open_nats
from cortex_webhook.signature import sign

SECRETS = ("the-old-secret", "the-new-secret")
VAULTS = [
    {"name": "notes", "repository": "/nowhere", "github": "Rasif/Notes"},
    {"name": "twin", "repository": "/nowhere", "github": "rasif/twins"},
    {"name": "other", "repository": "/nowhere", "github": "rasif/twins"},
]


@dataclass(frozen=True)
class Webhook:
    """A running webhook service."""

    http: httpx.AsyncClient
    log: Path

    async def deliver(
        self,
        body: bytes,
        *,
        event: str = "push",
        delivery: str | None = None,
        secret: str = SECRETS[0],
        content_type: str = "application/json",
        **headers: str,
    ) -> httpx.Response:
        """Send what GitHub would send."""
        sent = {
            "content-type": content_type,
            "x-github-event": event,
            "x-github-delivery": delivery or str(uuid4()),
            "x-hub-signature-256": sign(body, secret.encode()),
        }
        return await self.http.post("/api/v1/brain/sync/webhook", content=body, headers=sent | headers)

    async def is_ready(self) -> bool:
        return (await self.http.get("/health/ready")).status_code == 200


Start = Callable[[NatsServer], Awaitable[Webhook]]


def launch(bus: NatsServer, home: Path, stack: ExitStack) -> tuple[subprocess.Popen[bytes], int]:
    """Start the service on a free port; it ends with the stack."""
    port = ports.choose()
    environment = {
        **os.environ,
        "CORTEX_HOME": str(home),
        "CORTEX_NATS_URL": bus.url("webhook"),
        "CORTEX_WEBHOOK_PORT": str(port),
        "CORTEX_WEBHOOK_SECRETS": ",".join(SECRETS),
        "CORTEX_VAULTS": json.dumps(VAULTS),
    }
    log = stack.enter_context((home / "log").open("wb"))
    process = subprocess.Popen([sys.executable, "-m", "cortex_webhook"], env=environment, stderr=log)

    def stop() -> None:
        process.terminate()
        process.wait(30)

    stack.callback(stop)
    return process, port


@pytest.fixture(scope="module")
def shared(nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """The home and port of the service that the tests of a module share: it has no state of its own."""
    home = tmp_path_factory.mktemp("home")
    with ExitStack() as stack:
        yield home, launch(nats_server, home, stack)[1]


@pytest.fixture
async def webhook(shared: tuple[Path, int], nats: NatsServer) -> AsyncIterator[Webhook]:
    """The service, ready, on an empty bus."""
    home, port = shared
    async with connect(port, home) as running:
        await eventually(running.is_ready, ignoring=(httpx.HTTPError,))
        yield running


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a service of the test's own."""
    async with AsyncExitStack() as stack:
        processes = ExitStack()
        stack.push_async_callback(asyncio.to_thread, processes.close)

        async def run(bus: NatsServer) -> Webhook:
            _, port = launch(bus, tmp_path, processes)
            webhook = await stack.enter_async_context(connect(port, tmp_path))
            await eventually(lambda: webhook.http.get("/health/live"), ignoring=(httpx.HTTPError,))
            return webhook

        yield run


@asynccontextmanager
async def connect(port: int, home: Path) -> AsyncIterator[Webhook]:
    """A client of the service on a port."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as http:
        yield Webhook(http, home / "log")


@pytest.fixture
def own_nats() -> Iterator[tuple[NatsServer, ExitStack]]:
    """A NATS server that a test may stop: it stops when the stack closes."""
    with ExitStack() as stack:
        yield open_nats(stack), stack
