"""Every embedded server, started for real."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import asyncpg
import httpx
import nats
import numpy as np
import psutil
import pytest
import redis.asyncio

from cortex_contracts.permissions import USERS, inbox_prefix, publisher_user
from cortex_infra import ports
from cortex_infra.errors import ServerDied, ServerError
from cortex_infra.servers import cache, embedder, objects, postgres
from cortex_infra.servers import nats as nats_server
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer

PASSWORD = "a-password"


class Runner:
    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self.directory = directory
        self.stack = stack

    async def start(self, process: ServerProcess) -> RunningServer:
        server = self.stack.enter_context(RunningServer(process, self.directory / "logs"))
        await server.wait_ready()
        return server


@pytest.fixture
def runner(folder: Path) -> Iterator[Runner]:
    with ExitStack() as stack:
        yield Runner(folder, stack)


async def test_nats_lets_every_user_do_its_own_part_only(runner: Runner, folder: Path) -> None:
    port = ports.choose()
    publisher = publisher_user("acme")
    passwords = dict.fromkeys((*USERS, publisher), PASSWORD)
    await runner.start(nats_server.prepare(folder / "nats", port=port, passwords=passwords, publishers=("acme",)))
    refused: asyncio.Queue[str] = asyncio.Queue()

    async def error(found: Exception) -> None:
        refused.put_nowait(str(found).lower())

    client = await nats.connect(
        nats_server.url(publisher, PASSWORD, port), error_cb=error, inbox_prefix=inbox_prefix(publisher)
    )
    async with asyncio.timeout(30):
        await client.publish("cortex.v1.cmd.capture.acme.chat", b"{}")
        await client.flush()
        assert refused.empty()
        await client.publish("cortex.v1.cmd.capture.other.chat", b"{}")
        assert "permissions violation" in await refused.get()
    await client.close()


async def test_postgres_takes_its_password_only_and_has_pgvector(runner: Runner, folder: Path) -> None:
    port = ports.choose()
    server = await runner.start(postgres.prepare(folder / "postgres", port=port, password=PASSWORD))
    connection = await asyncpg.connect(postgres.url("postgres", PASSWORD, port, "postgres"))
    try:
        assert (await connection.fetchval("SHOW server_version")).startswith("18.")
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SELECT lower('ÅÉ')") == "åé"
        await connection.execute("CREATE EXTENSION vector")
        assert await connection.fetchval("SELECT '[3,4]'::vector <-> '[0,0]'::vector") == 5.0
        await connection.execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
    finally:
        await connection.close()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres.url("postgres", "wrong", port, "postgres"))
    assert psutil.Process(server.pid).uids().real != 0

    # A crash, another port: the data is still there.
    server.kill()
    port = ports.choose()
    await runner.start(postgres.prepare(folder / "postgres", port=port, password=PASSWORD))
    connection = await asyncpg.connect(postgres.url("postgres", PASSWORD, port, "postgres"))
    assert await connection.fetchval("SELECT n FROM kept") == 7
    await connection.close()


async def test_postgres_refuses_the_data_of_another_version(folder: Path) -> None:
    (folder / "postgres").mkdir()
    (folder / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(ServerError, match="made by PostgreSQL 16"):
        postgres.prepare(folder / "postgres", port=1, password=PASSWORD)


async def test_the_cache_wants_its_password_and_forgets_over_a_restart(runner: Runner, folder: Path) -> None:
    port = ports.choose()
    server = await runner.start(cache.prepare(folder / "cache", port=port, password=PASSWORD))
    async with redis.asyncio.Redis.from_url(cache.url(PASSWORD, port)) as client:
        await client.set("key", "value")
        assert (await client.config_get("maxmemory-policy"))["maxmemory-policy"] == "allkeys-lru"
    async with redis.asyncio.Redis(port=port) as stranger:
        with pytest.raises(redis.AuthenticationError):
            await stranger.get("key")
    server.stop()
    await runner.start(cache.prepare(folder / "cache", port=port, password=PASSWORD))
    async with redis.asyncio.Redis.from_url(cache.url(PASSWORD, port)) as client:
        assert await client.get("key") is None


async def test_objects_answer_nobody_without_a_signature(runner: Runner, folder: Path) -> None:
    listeners = {name: ports.choose() for name in objects.LISTENERS}
    process = objects.prepare(
        folder / "objects",
        ports=listeners,
        sockets=folder,
        access_key="access",
        secret_key="secret" * 4,
        internal_key="internal" * 5,
    )
    server = await runner.start(process)
    async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
        assert (await client.get(f"{process.url}/bucket/key")).status_code == 403
        assert (await client.put(f"{process.url}/bucket")).status_code == 403
        for part, path in (("master", "/col/delete?collection=bucket"), ("filer", "/"), ("volume", "/1,01")):
            answer = await client.get(f"http://127.0.0.1:{listeners[part]}{path}")
            assert answer.status_code in (401, 404), part
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(server.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    server.stop()
    objects.remove_stray_sockets(listeners)


async def test_the_embedder_speaks_the_openai_api(runner: Runner) -> None:
    port = ports.choose()
    await runner.start(embedder.prepare(port=port, api_key=PASSWORD))
    url = embedder.url(port)
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {PASSWORD}"}, trust_env=False, timeout=60
    ) as client:

        async def embed(**body: object) -> httpx.Response:
            return await client.post(f"{url}/embeddings", json=body)

        answer = (
            await embed(input=["a cat sat on the mat", "Die Katze saß auf der Matte", "quarterly tax filing"])
        ).json()
        assert answer["model"] == embedder.MODEL
        vectors = np.array([item["embedding"] for item in answer["data"]])
        assert vectors.shape == (3, embedder.DIMENSIONS)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
        assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05
        as_query = (await embed(input="a cat sat on the mat", input_type="query")).json()["data"][0]["embedding"]
        assert not np.allclose(as_query, vectors[0], atol=1e-3)
        cut = (await embed(input="a cat\0 that is not cut off")).json()["data"][0]["embedding"]
        short = (await embed(input="a cat")).json()["data"][0]["embedding"]
        assert not np.allclose(cut, short, atol=1e-3)

        assert (await embed(input=[])).status_code == 400
        assert (await embed(input="x", encoding_format="hex")).status_code == 400
        assert (await embed(input="x", model="another")).status_code == 404
        assert (await embed(input="x" * 70_000)).status_code == 413
        assert (await embed(input=" \0 ")).status_code == 422
        assert (await client.get(f"{url}/models")).json()["data"][0]["id"] == embedder.MODEL
    async with httpx.AsyncClient(timeout=20, trust_env=False) as stranger:
        refused = await stranger.post(f"{url}/embeddings", json={"input": "x"})
        assert refused.status_code == 401
        assert refused.json()["error"]["type"] == "invalid_request_error"
        assert (await stranger.get(f"http://127.0.0.1:{port}/health")).status_code == 200


async def test_a_server_that_dies_is_reported_at_once_with_its_last_words(folder: Path) -> None:
    async def never() -> None:
        raise ConnectionError

    process = ServerProcess("broken", ("/bin/sh", "-c", "echo no such luck; exit 3"), "x://", "1", never)
    with RunningServer(process, folder) as server, pytest.raises(ServerDied, match="no such luck"):
        await server.wait_ready(30)


async def test_a_server_sees_no_secrets_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", "hunter2")

    async def dead() -> None:
        raise ConnectionError

    process = ServerProcess("env", ("/usr/bin/env",), "x://", "1", dead, environment={"OWN": "value"})
    with RunningServer(process, folder) as server, pytest.raises(ServerDied) as caught:
        await server.wait_ready(30)
    assert "OWN=value" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_the_embedder_survives_characters_that_grow_when_they_are_composed(runner: Runner) -> None:
    port = ports.choose()
    server = await runner.start(embedder.prepare(port=port, api_key=PASSWORD))
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {PASSWORD}"}, trust_env=False, timeout=30
    ) as client:
        for text in ("\ufdfa" * 8, "\ufdfa" * 60, "\u1e9b\u0323" * 60, "\U0001f468\u200d" * 60):
            for _ in range(10):
                answer = await client.post(
                    f"{embedder.url(port)}/embeddings", json={"input": text, "model": embedder.MODEL}
                )
                assert answer.status_code == 200
    assert server.alive()
