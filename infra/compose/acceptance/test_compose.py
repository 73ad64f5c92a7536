"""The system from images as its users meet it: a signed push, captures over NATS, questions over REST and MCP."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import nats
import nats.errors
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from nats.aio.client import Client as Nats

from cortex_contracts import subjects
from cortex_contracts.messages.commands import Capture
from cortex_contracts.permissions import inbox_prefix, publisher_user
from cortex_runtime.publishing import publish
from cortex_testkit.eventually import eventually

if TYPE_CHECKING:
    from conftest import Installation

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SERVICES = ("gateway", "webhook", "ingest", "recall", "sleep")
SERVERS = ("nats", "postgres", "cache", "objects", "embedder")
ONE_SHOTS = ("nats-config", "bootstrap", "migrate", "provision", "example-vault")
WORK_S = 90.0

# The fixture builds images; every container is restarted once.
pytestmark = pytest.mark.timeout(2400)

# From inside, as anybody would who got into the network of the containers.
STRANGER = """
import asyncio, json, asyncpg, httpx, redis

async def database(user):
    try:
        await asyncpg.connect(f"postgresql://{user}:wrong@postgres/cortex", timeout=5)
    except asyncpg.PostgresError as error:
        return type(error).__name__
    return "let in"

async def cache():
    try:
        await redis.asyncio.from_url("redis://:wrong@cache:6379/0").ping()
    except redis.exceptions.RedisError as error:
        return type(error).__name__
    return "let in"

async def main():
    async with httpx.AsyncClient(trust_env=False) as http:
        model = {"input": "x"}
        print(json.dumps({
            "postgres": await database("postgres"),
            "runtime": await database("cortex_runtime"),
            "cache": await cache(),
            "embedder": (await http.post("http://embedder:9896/v1/embeddings", json=model)).status_code,
            "objects": (await http.get("http://objects:9000/")).status_code,
        }))

asyncio.run(main())
"""


async def ask(installation: Installation, question: str) -> dict[str, Any]:
    token = installation.variables["CORTEX_HTTP_TOKEN"]
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        answer = await http.post(
            f"{installation.url('gateway')}/ask", json={"query": question}, headers={"Authorization": f"Bearer {token}"}
        )
    answer.raise_for_status()
    return dict(answer.json())


async def push(installation: Installation, secret: str) -> httpx.Response:
    head = installation.run("ingest", "git", "-C", "/vaults/example.git", "rev-parse", "main")
    payload = {
        "ref": "refs/heads/main",
        "before": "0" * 40,
        "after": head,
        "repository": {"full_name": "cortex/example-vault"},
    }
    body = json.dumps(payload).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}",
    }
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        return await http.post(
            f"{installation.url('webhook')}/api/v1/brain/sync/webhook", content=body, headers=headers
        )


async def capture(installation: Installation, *captures: tuple[str, Capture]) -> None:
    """Publish captures with the credentials of an outside publisher."""
    user = publisher_user("local")
    client = await nats.connect(
        f"nats://127.0.0.1:{installation.ports['nats']}",
        user=user,
        password=installation.variables["CORTEX_NATS_PUBLISHER_PASSWORD"],
        inbox_prefix=inbox_prefix(user),
    )
    try:
        for source_kind, one in captures:
            subject = subjects.capture("local", source_kind)
            await publish(client, subject, one.model_dump_json().encode(), message_id=str(uuid.uuid4()), more={})
    finally:
        await client.close()


async def ignore(_: Exception) -> None:
    """`connect` raises the same."""


def answers_the_example(reply: dict[str, Any]) -> bool:
    """The monitor's status wins over the page, and the owner is still taken from a page."""
    sources = {receipt["source"] for receipt in reply["receipts"]}
    return bool(
        "stopped" in reply["answer"]
        and "Inês" in reply["answer"]
        and sources == {"memory", "pages"}
        and any(conflict["value"] == "stopped" for conflict in reply["conflicts"])
    )


async def test_a_push_and_two_captures_are_answered_with_receipts(installation: Installation) -> None:
    delivered = await push(installation, installation.variables["CORTEX_WEBHOOK_SECRETS"])
    assert (delivered.status_code, delivered.json()["status"]) == (202, "queued"), delivered.text
    captures = json.loads((EXAMPLES / "captures.json").read_text(encoding="utf-8"))
    await capture(installation, *((one.pop("source_kind"), Capture.model_validate(one)) for one in captures))
    question = (EXAMPLES / "question.txt").read_text(encoding="utf-8").strip()

    await eventually(lambda: ask(installation, question), answers_the_example, within_s=WORK_S)

    token = installation.variables["CORTEX_HTTP_TOKEN"]
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http,
        Client(streamable_http_client(f"{installation.url('gateway')}/mcp", http_client=http)) as client,
    ):
        result = await client.call_tool("darwin_ask", {"query": question})
    assert not result.is_error
    assert result.structured_content is not None
    assert answers_the_example(result.structured_content)


@pytest.mark.parametrize("container", [*SERVERS, *SERVICES])
async def test_after_a_restart_it_learns_and_answers_again(installation: Installation, container: str) -> None:
    await installation.restart(container)

    word = f"kestrel{uuid.uuid4().hex[:8]}"
    content = f"The code word of the {container} restart is {word}."
    await capture(installation, ("chat", Capture(namespace="acceptance", content=content)))
    reply = await eventually(
        lambda: ask(installation, f"What is the code word of the {container} restart?"),
        lambda reply: word in reply["answer"],
        within_s=WORK_S,
        ignoring=(httpx.HTTPError,),
    )
    assert any(word in receipt["snippet"] for receipt in reply["receipts"])


async def test_wrong_credentials_are_refused(installation: Installation) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            for url in (f"{installation.url('gateway')}/ask", f"{installation.url('gateway')}/mcp"):
                assert (await http.post(url, json={"query": "?"}, headers=headers)).status_code == 401
            assert (await http.get(f"{installation.url('gateway-sse')}/sse", headers=headers)).status_code == 401
    assert (await push(installation, "wrong")).status_code == 403

    for login in ("", "publisher-local:wrong@"):
        client = Nats()
        with pytest.raises(nats.errors.Error, match=r"(?i)authorization"):
            await client.connect(
                f"nats://{login}127.0.0.1:{installation.ports['nats']}", allow_reconnect=False, error_cb=ignore
            )
        await client.close()

    assert json.loads(installation.run("recall", "python", "-", stdin=STRANGER)) == {
        "postgres": "InvalidPasswordError",
        "runtime": "InvalidPasswordError",
        "cache": "AuthenticationError",
        "embedder": 401,
        "objects": 403,
    }


def test_the_containers_have_no_rights_that_they_do_not_need(installation: Installation) -> None:
    containers, states = installation.containers(), installation.states()
    for name in (*SERVICES, "embedder", *ONE_SHOTS, "nats", "cache"):
        assert states[name][-1] == "10001:10001", name
    for name in (*SERVICES, "embedder", "nats", "cache"):
        top = subprocess.run(
            ["docker", "top", containers[name], "-eo", "pid,user"], check=True, capture_output=True, text=True
        )
        assert "root" not in top.stdout, name
    for name in (*SERVICES, "embedder"):
        status = installation.run(name, "cat", "/proc/self/status")
        assert {"CapEff:\t0000000000000000", "NoNewPrivs:\t1"} <= set(status.splitlines()), name
        touched = installation.run(name, "sh", "-c", "touch /opt/cortex/x 2>/dev/null || echo refused")
        assert touched == "refused", name
        assert (
            installation.run(name, "python", "-c", "import importlib.util as i; print(i.find_spec('uv_build'))")
            == "None"
        )


def test_only_three_ports_are_published_and_only_on_loopback(compose: tuple[str, ...], tmp_path: Path) -> None:
    done = make_env(tmp_path / "env")
    assert done.returncode == 0
    shown = subprocess.run(
        [*compose, "--env-file", str(tmp_path / "env"), "-f", "compose.yaml", "config"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    published = [
        (port["host_ip"], int(port["published"])) if isinstance(port, dict) else tuple(port.split(":")[:2])
        for service in yaml.safe_load(shown.stdout)["services"].values()
        for port in service.get("ports", [])
    ]
    assert sorted((host, int(port)) for host, port in published) == [("127.0.0.1", port) for port in (9890, 9891, 9892)]


def test_without_secrets_nothing_starts(compose: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "env").write_text("", encoding="utf-8")
    done = subprocess.run(
        [*compose, "--env-file", str(tmp_path / "env"), "-f", "compose.yaml", "config"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "make_env.py" in done.stderr


def test_secrets_are_private_and_made_once(tmp_path: Path) -> None:
    env = tmp_path / "env"
    assert make_env(env).returncode == 0
    first = env.read_text(encoding="utf-8")
    assert env.stat().st_mode & 0o777 == 0o600
    assert make_env(env).returncode == 1
    assert env.read_text(encoding="utf-8") == first
    assert make_env(tmp_path / "other").returncode == 0
    secrets = {line for line in first.splitlines() if line.partition("=")[0].endswith(("PASSWORD", "TOKEN", "SECRETS"))}
    assert secrets.isdisjoint((tmp_path / "other").read_text(encoding="utf-8").splitlines())


def make_env(path: Path) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "infra/compose/make_env.py")
    return subprocess.run([sys.executable, script, str(path)], capture_output=True, text=True, check=False)
