"""A gateway process on real NATS, with engines that the tests play."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from cortex_contracts.rpc import engine
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
)
from cortex_infra import ports
from cortex_runtime.bus import Bus
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer

TOKEN = "the-token-of-the-test"
Answer = Callable[[EngineAskRequest], Awaitable[EngineAskReply]]


@dataclass
class PlayedEngine:
    """An engine whose answers the test decides."""

    key: str
    hits: tuple[Hit, ...] = ()
    answer: Answer | None = None
    asked: list[EngineAskRequest] = field(default_factory=list)
    last_ingest: datetime | None = None

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        self.asked.append(request)
        if self.answer is not None:
            return await self.answer(request)
        return EngineAskReply(engine=self.key, status=EngineStatus.UP, hits=self.hits)

    async def health(self, _: EngineHealthRequest) -> EngineHealth:
        return EngineHealth(engine=self.key, status=EngineStatus.UP, last_ingest=self.last_ingest)


@dataclass
class Gateway:
    """A running gateway process."""

    url: str
    sse_url: str
    process: subprocess.Popen[bytes]
    token: str = TOKEN

    def http(self, token: str | None = TOKEN) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=20, trust_env=False)

    def stop(self) -> int:
        """End it as a supervisor does, and return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=20)


@pytest.fixture
async def played(nats_server: NatsServer) -> AsyncIterator[dict[str, PlayedEngine]]:
    """The engines `memory` and `pages`, served over NATS by the user that serves them in production."""
    engines = {key: PlayedEngine(key) for key in engine.BUILT_IN_ENGINES}
    bus = Bus(nats_server.url("recall"), "recall", "0.0.1")
    for key, one in engines.items():
        bus.serve(engine.ask(key), one.ask)
        bus.serve(engine.health(key), one.health)
    await bus.open()
    yield engines
    await bus.close()


class Starter:
    """Starts `python -m cortex_gateway` and waits until it is ready."""

    def __init__(self, nats: NatsServer, home: Path) -> None:
        self._nats = nats
        self._home = home

    @property
    def log(self) -> str:
        """What the processes logged."""
        return (self._home / "gateway.log").read_text(encoding="utf-8")

    @contextmanager
    def started(self, port: int | None = None, **settings: str) -> Iterator[Gateway]:
        """A gateway process that has been started, not more."""
        port = port or ports.choose()
        sse_port = ports.choose([port])
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")} | {
            "CORTEX_HOME": str(self._home),
            "CORTEX_NATS_URL": self._nats.url("gateway"),
            "CORTEX_HTTP_TOKEN": TOKEN,
            "CORTEX_GATEWAY_PORT": str(port),
            "CORTEX_GATEWAY_SSE_PORT": str(sse_port),
            "CORTEX_GATEWAY_ENGINES": '["memory", "pages", "rag"]',
            **settings,
        }
        with (self._home / "gateway.log").open("ab") as stderr:
            process = subprocess.Popen([sys.executable, "-m", "cortex_gateway"], env=environment, stderr=stderr)
        gateway = Gateway(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{sse_port}/sse", process)
        try:
            yield gateway
        finally:
            gateway.stop()

    async def ready(self, gateway: Gateway) -> Gateway:
        """The gateway once it is ready."""
        async with gateway.http(None) as http:
            await eventually(
                lambda: http.get("/health/ready"),
                lambda response: response.status_code == 200 or gateway.process.poll() is not None,
                ignoring=(httpx.TransportError,),
            )
        assert gateway.process.poll() is None, self.log
        return gateway

    @asynccontextmanager
    async def __call__(self, port: int | None = None, **settings: str) -> AsyncIterator[Gateway]:
        """A gateway that is ready."""
        with self.started(port, **settings) as gateway:
            yield await self.ready(gateway)


@pytest.fixture
def start_gateway(nats_server: NatsServer, tmp_path: Path) -> Starter:
    """Starts a gateway of the test's own."""
    return Starter(nats_server, tmp_path)


@pytest.fixture(scope="module")
def gateway(nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway with the engines memory and pages (played by `played`) and rag (nobody), shared by a module's tests."""
    starter = Starter(nats_server, tmp_path_factory.mktemp("home"))
    with starter.started() as running:
        asyncio.run(starter.ready(running))
        yield running


@pytest.fixture
def make_hit() -> Callable[..., Hit]:
    def make(snippet: str = "Hermes is stopped.", **changes: object) -> Hit:
        fields = {
            "engine": "memory",
            "title": "Hermes",
            "path": "memory:1",
            "snippet": snippet,
            "native_score": 0.9,
            "relevance": 0.9,
            "last_seen": datetime.now(UTC),
            "source_class": "agent-memory",
        }
        return Hit.model_validate(fields | changes)

    return make
