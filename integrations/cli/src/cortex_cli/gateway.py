"""The gateway's REST face as commands use it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from cortex_cli import running
from cortex_cli.failure import NotRunning
from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent
from cortex_contracts.messages.base import Message

TIMEOUT_S: Final = 35.0
"""Longer than the gateway waits for any answer: to retain may take 30 seconds."""
MEMORY: Final = "/api/v1/memory"

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Gateway:
    """The gateway at one address."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    @classmethod
    def here(cls) -> Self:
        """The gateway of this home, or of `CORTEX_URL`.

        Raises:
            NotRunning: this home was never started.
        """
        return cls(running.gateway_url(), running.token())

    def post(
        self, path: str, reply: type[ReplyT], body: Message | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> ReplyT:
        """Send a message; what it leaves to its defaults is not sent.

        Raises:
            NotRunning: the gateway does not answer.
            Permanent: it refuses; the sentence and the code are its own.
        """
        content = body.model_dump_json(exclude_defaults=True) if body else None
        return self._call("POST", path, reply, content=content, timeout_s=timeout_s)

    def get(self, path: str, reply: type[ReplyT], parameters: Mapping[str, str] | None = None) -> ReplyT:
        """Read something; raises like `post`."""
        return self._call("GET", path, reply, parameters=parameters)

    def put(
        self,
        path: str,
        reply: type[ReplyT],
        body: Message,
        parameters: Mapping[str, str] | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> ReplyT:
        """Send a message to where it belongs; like `post`."""
        content = body.model_dump_json(exclude_defaults=True)
        return self._call("PUT", path, reply, content=content, parameters=parameters, timeout_s=timeout_s)

    def delete(self, path: str, reply: type[ReplyT], parameters: Mapping[str, str] | None = None) -> ReplyT:
        """Take something away; raises like `post`."""
        return self._call("DELETE", path, reply, parameters=parameters)

    def _call(
        self,
        method: str,
        path: str,
        reply: type[ReplyT],
        *,
        content: str | None = None,
        parameters: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> ReplyT:
        headers = self._headers | ({"Content-Type": "application/json"} if content else {})
        try:
            response = httpx.request(
                method,
                f"{self._url}{path}",
                content=content,
                params=parameters,
                headers=headers,
                timeout=timeout_s,
                # No proxy from the environment: the token goes to the gateway and nowhere else.
                trust_env=False,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NotRunning(
                f"the gateway does not answer at {self._url} ({type(error).__name__}); run `cortex start`"
            ) from None
        if response.status_code not in (200, 201, 202):
            raise refusal(response.status_code, response.reason_phrase, response.content)
        try:
            return reply.model_validate_json(response.content)
        except ValidationError:
            raise InvalidMessage(f"the answer of {self._url}{path} is not what this version expects") from None


def refusal(status: int, reason_phrase: str, content: bytes) -> Permanent:
    """The error of a response that refuses: the sentence and the code are the gateway's own."""
    try:
        body = json.loads(content)
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    if fields := body.get("fields"):
        reason = "; ".join(f"{item['field']}: {item['message']}" for item in fields)
    else:
        reason = str(body.get("message") or reason_phrase)
    code = body.get("error")
    known = ErrorCode(code) if code in list(ErrorCode) else None
    return Permanent(f"the gateway answered {status}: {reason}", code=known)
