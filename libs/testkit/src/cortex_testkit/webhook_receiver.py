"""A receiver of the outgoing webhook, on this machine: it verifies what comes and knows what it has already."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cortex_testkit.tei_server import served

KEY: Final = bytes(range(32))
SECRET: Final = f"whsec_{base64.b64encode(KEY).decode()}"
TOKEN: Final = "a-token-of-the-receiver"
"""Stands in the address."""
CLOCK_S: Final = 300
"""How old a message may be (Standard Webhooks 1.0, "Verifying webhook authenticity")."""


@dataclass
class Receiver:
    """Takes messages as Standard Webhooks 1.0 asks of a receiver; one that it cannot verify is answered with 500."""

    answers: list[Response] = field(default_factory=list)
    """To the next messages, before it takes them."""
    got: list[dict[str, Any]] = field(default_factory=list)
    """Every message that came, with its headers."""
    taken: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What it has, by id."""
    url: str = ""

    async def receive(self, request: Request) -> Response:
        """Verify, answer, and take."""
        body = await request.body()
        sent = request.headers
        assert request.url.query == f"token={TOKEN}"
        text = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.{body.decode()}"
        signature = base64.b64encode(hmac.new(KEY, text.encode(), hashlib.sha256).digest()).decode()
        assert f"v1,{signature}" in sent["webhook-signature"].split(" ")
        assert abs(int(sent["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < CLOCK_S
        self.got.append({"id": sent["webhook-id"], "content_type": sent["content-type"], **json.loads(body)})
        if self.answers:
            return self.answers.pop(0)
        self.taken[sent["webhook-id"]] = json.loads(body)
        return Response(status_code=204)

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[None]:
        """Serve; `url` says where."""
        app = Starlette(routes=[Route("/hooks/cortex", self.receive, methods=["POST"])])
        async with served(app, port) as base:
            self.url = f"{base}/hooks/cortex?token={TOKEN}"
            yield
