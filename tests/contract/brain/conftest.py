"""One whole system with one vault, which every test of the contract asks as a consumer would: over HTTP."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from cortex_testkit import provider
from cortex_testkit.eventually import eventually
from cortex_testkit.system import SETTINGS, System, running_system

VAULT = Path(__file__).with_name("vault")
GITHUB = "mill-pond/vault"
PREFIX = "/api/v1/brain"


@dataclass
class Brain:
    """A consumer of the Brain API, and the owner of its vault."""

    system: System
    repository: Path
    http: httpx.AsyncClient

    # Over HTTP ---------------------------------------------------------------------------------------------------

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.http.get(path, params=params)

    async def json(self, path: str, **params: Any) -> Any:
        response = await self.get(path, **params)
        assert response.status_code == 200, response.text
        return response.json()

    async def slugs(self, path: str, **params: Any) -> list[str]:
        """The slugs of the results, in their order."""
        return [one["slug"] for one in (await self.json(path, **params))["results"]]

    async def put(self, slug: str, /, **fields: Any) -> httpx.Response:
        body = {"type": "note", "title": slug, "tags": [], "body_markdown": f"About {slug}."} | fields
        return await self.http.put(f"/pages/{quote(slug, safe='')}", json=body)

    async def page(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.json(f"/pages/{quote(slug, safe='')}")
        return found

    async def import_page(self, slug: str, markdown: str) -> httpx.Response:
        headers = {"Content-Type": "text/markdown"}
        return await self.http.post(f"/pages/{slug}/import", content=markdown.encode(), headers=headers)

    def stranger(self, headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
        """A client with these credentials only."""
        return httpx.AsyncClient(base_url=self.http.base_url, headers=headers, trust_env=False, timeout=20)

    async def deliver(
        self, body: Mapping[str, Any], *, secret: str = SETTINGS["CORTEX_WEBHOOK_SECRETS"], delivery: str | None = None
    ) -> httpx.Response:
        """A push delivery as GitHub sends it, at the service that receives them."""
        content = json.dumps(body).encode()
        signature = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": delivery or str(uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        url = f"{self.system.url('webhook')}{PREFIX}/sync/webhook"
        async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
            return await http.post(url, content=content, headers=headers)

    # In the vault ------------------------------------------------------------------------------------------------

    def commit(self, changes: Mapping[str, str | None]) -> str:
        """Write and delete (None) files of the vault, and return the new head."""
        for name, text in changes.items():
            file = self.repository / name
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "--quiet", "--message", "change")
        return git(self.repository, "rev-parse", "HEAD")

    def push_body(self) -> dict[str, Any]:
        """The push that brought the head."""
        head, before = git(self.repository, "rev-parse", "HEAD"), git(self.repository, "rev-parse", "HEAD~1")
        return {"ref": "refs/heads/main", "before": before, "after": head, "repository": {"full_name": GITHUB}}

    async def synced(self) -> dict[str, Any]:
        """Sync, and wait until that is done: the pages equal the head of the branch, and no sync waits or runs."""
        before = (await self.json("/sync/status"))["last_sync"]
        assert (await self.http.post("/sync")).status_code == 202
        return await self.at_head(before)

    async def at_head(self, before: str | None) -> dict[str, Any]:
        """Wait until a sync after the one of the moment `before` has brought the pages to the head of the branch."""
        head = git(self.repository, "rev-parse", "HEAD")

        def there(report: dict[str, Any]) -> bool:
            (vault,) = report["vaults"]
            return vault["commit"] == head and vault["state"] != "running" and report["last_sync"] != before

        return await eventually(lambda: self.json("/sync/status", vault="main"), there, ignoring=(AssertionError,))

    async def pushed(self, changes: Mapping[str, str | None]) -> dict[str, Any]:
        """Change the vault, sync it, and return the report."""
        self.commit(changes)
        return await self.synced()


def git(repository: Path, *arguments: str) -> str:
    name = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", repository, *name, *arguments], check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout.strip()


def client(system: System) -> httpx.AsyncClient:
    base = f"{system.url('gateway')}{PREFIX}"
    return httpx.AsyncClient(base_url=base, headers=system.headers, trust_env=False, timeout=30)


class Model(BaseHTTPRequestHandler):
    """A language model that always says the same."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "Yes."}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def upstream() -> Iterator[dict[str, str]]:
    """The settings of a chat upstream that answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield {"CORTEX_CHAT_UPSTREAM_URL": url, "CORTEX_CHAT_UPSTREAM_MODEL": "m"}
        server.shutdown()
        thread.join()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared() -> AsyncIterator[tuple[System, Path]]:
    with provider.folder() as directory, upstream() as chat:
        repository = directory / "vault"
        shutil.copytree(VAULT, repository)
        git(repository, "init", "--quiet", "--initial-branch", "main")
        # A push has a commit before its own, also when it is told by the first test of a worker.
        git(repository, "commit", "--quiet", "--allow-empty", "--message", "nothing yet")
        git(repository, "add", "--all")
        git(repository, "commit", "--quiet", "--message", "the vault")
        vault = {"name": "main", "repository": str(repository), "branch": "main", "github": GITHUB}
        # The tests are one principal, and faster than any consumer.
        limits = dict.fromkeys((f"CORTEX_RATE_{kind}" for kind in ("REQUESTS", "BULK", "CHAT", "FAILURES")), "0")
        async with running_system({"CORTEX_VAULTS": json.dumps([vault]), **limits, **chat}) as system:
            async with client(system) as http:
                # The service syncs when it starts; so nothing waits when the first test begins.
                await Brain(system, repository, http).at_head(None)
            yield system, repository


@pytest.fixture
async def brain(shared: tuple[System, Path]) -> AsyncIterator[Brain]:
    """The system whole, its vault synced."""
    system, repository = shared
    async with client(system) as http:
        yield Brain(system, repository, http)


@pytest.fixture(autouse=True)
def sentence(request: pytest.FixtureRequest) -> object:
    """The sentence of the contract that a test shows (see `sentences.toml`)."""
    return getattr(request, "param", None)


@pytest.fixture
def unique() -> Callable[[], str]:
    """Words that no page has."""
    return lambda: f"zq{uuid4().hex[:12]}"
