"""What a caller of the Brain API does, timed: requests one after the other, or at a rate whether or not the last ones
were answered, and signed deliveries at the webhook."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx
import numpy as np
from latency import percentiles
from synthetic_vault import BRANCH

PREFIX: Final = "/api/v1/brain"
GITHUB: Final = "bench/vault"
VAULT: Final = "bench"
TIMEOUT_S: Final = 30.0


@dataclass(frozen=True)
class Call:
    """One request. `kind` is the row of the table that it counts in."""

    kind: str
    path: str
    method: str = "GET"
    body: Mapping[str, Any] | None = None

    @classmethod
    def query(cls, question: str) -> Call:
        """A question."""
        return cls("query", f"{PREFIX}/query?q={quote(question)}")

    @classmethod
    def search(cls, words: str) -> Call:
        """A search by words."""
        return cls("search", f"{PREFIX}/search?q={quote(words)}")

    @classmethod
    def page(cls, slug: str) -> Call:
        """A page."""
        return cls("page", f"{PREFIX}/pages/{quote(slug)}")


@dataclass
class Walls:
    """Milliseconds that callers waited, by kind, and what was not answered with success."""

    of: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, milliseconds: float) -> None:
        """Count an answer."""
        self.of.setdefault(kind, []).append(milliseconds)

    def summary(self) -> dict[str, dict[str, float]]:
        """Percentiles and number of answers of each kind."""
        return {kind: percentiles(walls) | {"n": len(walls)} for kind, walls in sorted(self.of.items())}


class Api:
    """The gateway and the webhook of one system, as the owner of the static bearer sees them."""

    def __init__(self, gateway: str, webhook: str, token: str, secret: str) -> None:
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=64, keepalive_expiry=300)
        self._http = httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False, limits=limits)
        self._gateway = gateway
        self._webhook = f"{webhook}{PREFIX}/sync/webhook"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._secret = secret.encode()

    async def close(self) -> None:
        """Let the connections go."""
        await self._http.aclose()

    async def send(self, call: Call) -> httpx.Response:
        """One request."""
        return await self._http.request(
            call.method, self._gateway + call.path, headers=self._headers, json=None if call.body is None else call.body
        )

    async def json(self, call: Call) -> Any:
        """The body of an answer that must be a success."""
        response = await self.send(call)
        response.raise_for_status()
        return response.json()

    async def status(self) -> dict[str, Any]:
        """The state of the vault's syncs: `commit`, `state`, `progress` and the rest, with `errors` of single pages."""
        report = await self.json(Call("status", f"{PREFIX}/sync/status?vault={VAULT}"))
        return {**report["vaults"][0], "errors": report["errors"], "last_result": report["last_result"]}

    async def closed(self, calls: Iterable[Call], callers: int = 1) -> Walls:
        """Send all of them; each caller waits for one answer at a time."""
        walls = Walls()
        waiting = iter(calls)

        async def caller() -> None:
            for call in waiting:
                await self._timed(call, time.perf_counter(), walls)

        await asyncio.gather(*(caller() for _ in range(callers)))
        return walls

    async def open(self, calls: Sequence[Call], per_s: float, rng: np.random.Generator) -> Walls:
        """Send them at random moments, `per_s` a second, however long the answers take; a wait counts from the moment
        at which a request was due."""
        walls = Walls()
        started = time.perf_counter()
        due = started
        async with asyncio.TaskGroup() as sent:
            for call in calls:
                due += float(rng.exponential(1 / per_s))
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                sent.create_task(self._timed(call, due, walls))
        return walls

    async def _timed(self, call: Call, since: float, walls: Walls) -> None:
        try:
            response = await self.send(call)
        except httpx.HTTPError as error:
            walls.errors[f"{call.kind} {type(error).__name__}"] += 1
            return
        if response.is_success:
            walls.add(call.kind, (time.perf_counter() - since) * 1000)
        else:
            walls.errors[f"{call.kind} {response.status_code}"] += 1

    async def deliver(self, before: str, head: str, walls: Walls | None = None) -> int:
        """Deliver a push as GitHub does, signed over its bytes; returns the status."""
        body = json.dumps(
            {
                "ref": f"refs/heads/{BRANCH}",
                "before": before,
                "after": head,
                "deleted": False,
                "commits": [{"id": head, "added": [], "modified": [], "removed": []}],
                "repository": {"full_name": GITHUB},
            }
        ).encode()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={hmac.new(self._secret, body, hashlib.sha256).hexdigest()}",
        }
        started = time.perf_counter()
        response = await self._http.post(self._webhook, content=body, headers=headers)
        if walls is not None and response.status_code == 202:
            walls.add("webhook", (time.perf_counter() - started) * 1000)
        elif walls is not None:
            walls.errors[f"webhook {response.status_code}"] += 1
        return response.status_code

    async def written_to_found(self, number: int, text: str, walls: Walls) -> None:
        """Write a page with a word of its own and ask for the word until the page comes: `put` is the answer to the
        write, `put to found` the whole. The page stays."""
        word = f"qv{number}zx"
        slug = f"bench-written-{number}"
        page = {
            "type": "note",
            "title": f"Written {number}",
            "tags": ["bench"],
            "body_markdown": f"{text}\n\n## Later\n\n{word} {text}\n",
        }
        started = time.perf_counter()
        response = await self.send(Call("put", f"{PREFIX}/pages/{slug}", "PUT", page))
        if not response.is_success:
            walls.errors[f"put {response.status_code}"] += 1
            return
        walls.add("put", (time.perf_counter() - started) * 1000)
        asked = 0
        while (time.perf_counter() - started) < TIMEOUT_S:
            asked += 1
            found = await self.json(Call.query(word))
            if any(result["slug"] == slug for result in found["results"]):
                walls.add("put to found", (time.perf_counter() - started) * 1000)
                walls.add("questions until found", asked)
                return
        walls.errors["put not found"] += 1

    async def forget(self, number: int) -> None:
        """Delete a page that was written."""
        await self.send(Call("delete", f"{PREFIX}/pages/bench-written-{number}", "DELETE"))
