"""A gateway process on real NATS, with engines that the tests play."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from cortex_contracts.errors import CortexError, ErrorCode, Permanent
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.memory import MemoryDraft, MemoryView, RedactionCounts, Retained, WriteDecision
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.engine import (
    EngineAskReply,
    EngineAskRequest,
    EngineHealth,
    EngineHealthRequest,
    EngineStatus,
    Hit,
)
from cortex_contracts.rpc.ingest import (
    FORGET,
    GRANTS,
    RESTORE,
    RETAIN,
    RETAIN_BATCH,
    SHARE,
    Access,
    BatchItem,
    Changed,
    Grant,
    Grants,
    GrantsRequest,
    MemoryRequest,
    RetainBatchReply,
    RetainBatchRequest,
    RetainRequest,
    ShareRequest,
)
from cortex_contracts.rpc.recall import (
    CONTEXT,
    GET,
    RECALL,
    ContextItem,
    ContextReply,
    ContextRequest,
    Dropped,
    GetReply,
    GetRequest,
    RecalledMemory,
    RecallReply,
    RecallRequest,
)
from cortex_infra import ports
from cortex_providers.embedder import EmbedderConfig
from cortex_runtime.bus import Bus
from cortex_testkit import command_line
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.forks import Forked
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.playing import playing
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer
from cortex_testkit.process import RunningService, service_process

TOKEN = "the-token-of-the-test"
VAULTS = '[{"name": "main", "repository": "/nonexistent/vault"}]'
Answer = Callable[[EngineAskRequest], Awaitable[EngineAskReply]]


@dataclass
class PlayedEngine:
    """An engine whose answers the test decides."""

    key: str
    hits: tuple[Hit, ...] = ()
    answer: Answer | None = None
    asked: list[EngineAskRequest] = field(default_factory=list)
    last_ingest: datetime | None = None
    go: asyncio.Event | None = None
    """It answers when this is set; none: at once."""
    called: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, request: EngineAskRequest) -> EngineAskReply:
        self.asked.append(request)
        self.called.set()
        try:
            if self.go is not None:
                await self.go.wait()
            if self.answer is not None:
                return await self.answer(request)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return EngineAskReply(engine=self.key, status=EngineStatus.UP, hits=self.hits)

    async def health(self, _: EngineHealthRequest) -> EngineHealth:
        return EngineHealth(engine=self.key, status=EngineStatus.UP, last_ingest=self.last_ingest)


@dataclass
class Gateway:
    """A running gateway process."""

    url: str
    sse_url: str
    process: Forked
    token: str = TOKEN

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

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
        streams = (Path(os.devnull), self._home / "stdout.log", self._home / "gateway.log")
        process = Forked("cortex_gateway", (), environment, streams)
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
def gateway_settings() -> dict[str, str]:
    """More settings of `gateway`; a module may have its own. An engine has all the time of a question."""
    return {"CORTEX_GATEWAY_ENGINE_LIMIT_S": "30"}


@pytest.fixture(scope="module")
def gateway(
    nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory, gateway_settings: dict[str, str]
) -> Iterator[Gateway]:
    """A gateway with the engines memory and pages (played by `played`) and rag (nobody), shared by a module's tests."""
    starter = Starter(nats_server, tmp_path_factory.mktemp("home"))
    with starter.started(None, **gateway_settings) as running:
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


@pytest.fixture
def stdio_proxy() -> Callable[[str, str], StdioServerParameters]:
    """How a client starts the command line's proxy to a gateway at an address."""

    def parameters(url: str, token: str) -> StdioServerParameters:
        environment = {"CORTEX_URL": url, "CORTEX_HTTP_TOKEN": token}
        return StdioServerParameters(command=sys.executable, args=["-m", "cortex_cli", "mcp"], env=environment)

    return parameters


@pytest.fixture
def connect(
    stdio_proxy: Callable[[str, str], StdioServerParameters],
) -> Callable[..., AbstractAsyncContextManager[Client]]:
    """An official MCP client of a gateway, over `http`, `sse` or `stdio`."""

    @asynccontextmanager
    async def connected(gateway: Gateway, transport: str, mode: str = "auto") -> AsyncIterator[Client]:
        if transport == "http":
            async with (
                httpx2.AsyncClient(headers=gateway.headers, timeout=20, trust_env=False) as http,
                Client(streamable_http_client(f"{gateway.url}/mcp", http_client=http), mode=mode) as client,
            ):
                yield client
            return
        way = sse_client(gateway.sse_url, headers=gateway.headers, timeout=20) if transport == "sse" else None
        async with Client(way or stdio_proxy(gateway.url, gateway.token), mode=mode) as client:
            yield client

    return connected


@dataclass
class PlayedMemory:
    """Both sides of the hot tier as the gateway sees them: what was asked, and a store small enough to be read."""

    asked: list[Message] = field(default_factory=list)
    memories: dict[UUID, MemoryView] = field(default_factory=dict)
    grants: dict[tuple[str, str], Access] = field(default_factory=dict)
    chain_complete: bool = True
    fails: CortexError | Exception | None = None

    def _heard(self, request: Message) -> None:
        self.asked.append(request)
        if self.fails:
            raise self.fails

    def _known(self, memory_id: UUID) -> MemoryView:
        if memory_id not in self.memories:
            raise Permanent(f"there is no memory {memory_id}", code=ErrorCode.NOT_FOUND)
        return self.memories[memory_id]

    async def retain(self, request: RetainRequest) -> Retained:
        self._heard(request)
        return self._keep(request.memory)

    async def retain_batch(self, request: RetainBatchRequest) -> RetainBatchReply:
        self._heard(request)
        return RetainBatchReply(items=tuple(BatchItem(retained=self._keep(one)) for one in request.memories))

    def _keep(self, draft: MemoryDraft) -> Retained:
        memory_id = uuid4()
        now = datetime.now(UTC)
        fields = draft.model_dump(exclude={"occurred_at", "explicit"})
        self.memories[memory_id] = MemoryView(
            memory_id=memory_id, importance=0.9, valid_at=draft.occurred_at or now, created_at=now, **fields
        )
        return Retained(
            memory_id=memory_id,
            decision=WriteDecision.ADD,
            importance=0.9,
            redactions=RedactionCounts(private=draft.content.count("<private>")),
        )

    async def recall(self, request: RecallRequest) -> RecallReply:
        self._heard(request)
        found = [
            RecalledMemory(**one.model_dump(exclude={"metadata", "decision", "decision_reason"}), score=0.51234)
            for one in self.memories.values()
            if one.invalid_at is None and set(request.query.split()) & set(one.content.split())
        ]
        return RecallReply(
            memories=tuple(found[: request.k]),
            took_ms=1,
            degraded=() if found else ("vectors",),
            dropped=Dropped(over_budget=2 if found else 0),
        )

    async def context(self, request: ContextRequest) -> ContextReply:
        self._heard(request)
        items = tuple(ContextItem(section="recent", memory=one) for one in self.memories.values())
        return ContextReply(items=items, tokens=1, until=datetime.now(UTC))

    async def get(self, request: GetRequest) -> GetReply:
        self._heard(request)
        known = self._known(request.memory_id)
        return GetReply(memory=known, entities=("Atlas",), chain_complete=self.chain_complete)

    async def forget(self, request: MemoryRequest) -> Changed:
        return self._change(request, datetime.now(UTC))

    async def restore(self, request: MemoryRequest) -> Changed:
        return self._change(request, None)

    def _change(self, request: MemoryRequest, invalid_at: datetime | None) -> Changed:
        self._heard(request)
        before = self._known(request.memory_id)
        changed = (before.invalid_at is None) != (invalid_at is None)
        self.memories[request.memory_id] = before.model_copy(update={"invalid_at": invalid_at})
        return Changed(memory_id=request.memory_id, invalid_at=invalid_at, changed=changed)

    async def share(self, request: ShareRequest) -> Grant:
        self._heard(request)
        self.grants[request.namespace, request.agent] = request.access
        return Grant(namespace=request.namespace, agent=request.agent, access=request.access)

    async def granted(self, request: GrantsRequest) -> Grants:
        self._heard(request)
        found = [(key, access) for key, access in self.grants.items() if request.namespace in (None, key[0])]
        return Grants(grants=tuple(Grant(namespace=n, agent=a, access=access) for (n, a), access in found))


@pytest.fixture
async def remembering(nats_server: NatsServer) -> AsyncIterator[PlayedMemory]:
    """The hot tier, served over NATS by the users that serve it in production."""
    memory = PlayedMemory()
    async with playing(
        nats_server,
        (RETAIN, memory.retain),
        (RETAIN_BATCH, memory.retain_batch),
        (FORGET, memory.forget),
        (RESTORE, memory.restore),
        (SHARE, memory.share),
        (GRANTS, memory.granted),
        (RECALL, memory.recall),
        (GET, memory.get),
        (CONTEXT, memory.context),
    ):
        yield memory


@dataclass
class Installation:
    """Real services of one org on real servers: a writer, a reader, and two gateways."""

    gateways: tuple[Gateway, Gateway]
    ingest: RunningService
    postgres: PostgresDatabase
    folder: Path
    restart: Callable[[], Awaitable[None]]
    """Start ingest again after the test has killed it."""

    @property
    def gateway(self) -> Gateway:
        return self.gateways[0]

    def http(self, *, at: int = 0, **headers: str) -> httpx.AsyncClient:
        """A client with these headers, `_` for `-`; without any it is nobody."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.AsyncClient(base_url=self.gateways[at].url, headers=named, timeout=20, trust_env=False)

    @property
    def owner(self) -> httpx.AsyncClient:
        """The static bearer."""
        return self.http(Authorization=f"Bearer {TOKEN}")

    async def key(self, subject: str, **fields: object) -> dict[str, Any]:
        """A new key: what the API answered."""
        async with self.owner as http:
            made = await http.post("/api/v1/keys", json={"subject": subject, **fields})
        assert made.status_code == 201, made.text
        answer: dict[str, Any] = made.json()
        return answer

    def logs(self) -> str:
        """Everything that any process has logged."""
        return "".join(path.read_text(encoding="utf-8") for path in self.folder.rglob("*.log"))


@pytest.fixture(scope="module")
def installation(
    nats_server: NatsServer,
    postgres_server: PostgresServer,
    cache_server: CacheServer,
    embedder: EmbedderConfig,
    tmp_path_factory: pytest.TempPathFactory,
    installation_settings: dict[str, str],
    installation_services: dict[str, dict[str, str]],
) -> Iterator[Installation]:
    """One installation, shared by a module's tests; a module may give gateways `installation_settings`, and name other
    `installation_services`."""
    folder = tmp_path_factory.mktemp("installation")
    asyncio.run(nats_server.reset())
    postgres = asyncio.run(postgres_server.fresh())
    common = {
        "CORTEX_DATABASE_URL": postgres.runtime_url,
        "CORTEX_SLEEP_DATABASE_URL": postgres.sleep_url,
        "CORTEX_CACHE_URL": cache_server.url,
        "CORTEX_EMBEDDINGS_URL": embedder.url,
        "CORTEX_EMBEDDINGS_MODEL": embedder.model,
        "CORTEX_EMBEDDINGS_API_KEY": embedder.api_key,
    }
    starter = Starter(nats_server, folder)
    with ExitStack() as stack:
        processes = {
            name: service_process(
                name, CORTEX_HOME=str(folder), CORTEX_NATS_URL=nats_server.url(name), **common, **settings
            )
            for name, settings in installation_services.items()
        }
        running = {
            name: stack.enter_context(RunningService(process, folder / name)) for name, process in processes.items()
        }
        gateways = [stack.enter_context(starter.started(**installation_settings)) for _ in range(2)]

        async def ready() -> None:
            await asyncio.gather(*(one.wait_ready() for one in running.values()), *map(starter.ready, gateways))

        async def restart() -> None:
            made.ingest = stack.enter_context(RunningService(processes["ingest"], folder / "ingest"))
            await made.ingest.wait_ready()

        asyncio.run(ready())
        made = Installation((gateways[0], gateways[1]), running["ingest"], postgres, folder, restart)
        yield made
    asyncio.run(postgres_server.drop(postgres))


@pytest.fixture(scope="module")
def installation_services() -> dict[str, dict[str, str]]:
    """The services beside the gateway, each with its own settings."""
    return {"ingest": {"CORTEX_VAULTS": VAULTS}, "recall": {"CORTEX_VAULTS": VAULTS}}


@pytest.fixture(scope="module")
def installation_settings() -> dict[str, str]:
    """Settings of the gateways of an `installation`."""
    return {}


@pytest.fixture
def cortex(gateway: Gateway, tmp_path: Path) -> Callable[..., Awaitable[str]]:
    """Runs the command against the gateway, in a folder of its own; returns what it printed."""

    async def run(*arguments: str, code: int = 0, stdin: bytes = b"", **environment: str) -> str:
        settings = {
            "CORTEX_HOME": str(tmp_path / "home"),
            "CORTEX_URL": gateway.url,
            "CORTEX_HTTP_TOKEN": gateway.token,
            "COLUMNS": "200",
            "TZ": "Africa/Cairo",
        }
        ended = await command_line.cortex(*arguments, environment=settings | environment, stdin=stdin, folder=tmp_path)
        assert ended.code == code, f"{arguments}: {ended.code}\n{ended.out}\n{ended.err}"
        return (ended.out or ended.err) if code == 0 else ended.err + ended.out

    return run
