"""A server that answers as Memos does: lists of memos with filters in CEL, pages, and errors as google.rpc.Status.

Filters are evaluated by an implementation of CEL that is not ours (cel-python), on the fields that Memos has; what does
not compile or names another field is 400. `content.contains` compares without case, as the real one's LIKE does.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cortex_testkit.tei_server import served

ORDERS = ("pinned", "create_time", "update_time", "name")
LARGEST_PAGE = 1000
ENVIRONMENT = celpy.Environment()


class Content(celtypes.StringType):
    """The text of a memo, which is searched without case."""

    def contains(self, item: Any) -> celtypes.BoolType:
        """As `LIKE '%item%'`."""
        return celtypes.BoolType(str(item).lower() in str(self).lower())


@dataclass
class MemosServer:
    """One server; change its fields while it runs."""

    memos: Sequence[dict[str, Any]] = ()
    token: str = ""
    page: int = LARGEST_PAGE
    """Most memos of a page, whatever is asked for."""
    filters: bool = True
    """Whether it knows filters in CEL, as those from 0.24 on."""
    orders: bool = True
    """Whether it knows `orderBy`."""
    circular: bool = False
    """Whether it gives the same page for ever."""
    failures: list[Response] = field(default_factory=list)
    """Answers to the next requests, before it works again."""
    requests: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(routes=[Route("/api/v1/memos", self._list)])

    async def _list(self, request: Request) -> Response:
        self.requests.append(dict(request.query_params))
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return _status(401, 16, "user not authenticated")
        if self.failures:
            return self.failures.pop(0)
        parameters = request.query_params
        memos = list(self.memos)
        if parameters.get("state", "NORMAL") in ("NORMAL", "ARCHIVED"):
            memos = [memo for memo in memos if memo.get("state", "NORMAL") == parameters.get("state", "NORMAL")]
        if condition := parameters.get("filter", ""):
            if not self.filters:
                return _status(400, 3, f"invalid filter: undeclared reference: {condition}")
            try:
                program = ENVIRONMENT.program(ENVIRONMENT.compile(condition))
                memos = [memo for memo in memos if _holds(program, memo)]
            except Exception as error:  # whatever the implementation of CEL says: it is the filter's fault
                return _status(400, 3, f"invalid filter: failed to compile filter: {error}")
        if order := parameters.get("orderBy", "create_time desc"):
            name, _, way = order.partition(" ")
            if name not in ORDERS or way not in ("", "asc", "desc") or (not self.orders and "orderBy" in parameters):
                return _status(400, 3, "invalid order_by")
            key = {"create_time": "createTime", "update_time": "updateTime"}.get(name, name)
            memos.sort(key=lambda memo: str(memo.get(key, "")), reverse=way == "desc")
        return self._paged(memos, parameters.get("pageSize", "50"), parameters.get("pageToken", ""))

    def _paged(self, memos: list[dict[str, Any]], size: str, token: str) -> Response:
        try:
            start = int(base64.b64decode(token, validate=True)) if token else 0
        except (binascii.Error, ValueError):
            return _status(400, 3, "invalid page token: illegal base64 data")
        count = min(int(size) if int(size) > 0 else 50, LARGEST_PAGE, self.page)
        if self.circular:
            return JSONResponse({"memos": memos[:count], "nextPageToken": "MA=="})
        answer: dict[str, Any] = {"memos": memos[start : start + count]}
        if start + count < len(memos):
            answer["nextPageToken"] = base64.b64encode(str(start + count).encode()).decode()
        return JSONResponse(answer)


def memo(uid: str, content: str, updated: str = "2026-11-20T10:00:00Z", **more: Any) -> dict[str, Any]:
    """A memo as today's servers give it."""
    return {
        "name": f"memos/{uid}",
        "state": "NORMAL",
        "creator": "users/zion",
        "createTime": "2026-08-01T10:00:00Z",
        "updateTime": updated,
        "content": content,
        "visibility": "PRIVATE",
        "tags": [],
        "pinned": False,
        "attachments": [],
        "relations": [],
        "reactions": [],
        "property": {"hasLink": False, "hasTaskList": False, "hasCode": False, "hasIncompleteTasks": False},
        "parent": "",
        "snippet": content[:64],
        "location": None,
        **more,
    }


def _holds(program: celpy.Runner, one: dict[str, Any]) -> bool:
    held = program.evaluate(
        {
            "content": Content(one.get("content", "")),
            "tags": json_to_cel(list(one.get("tags", []))),
            "pinned": celtypes.BoolType(bool(one.get("pinned"))),
            "visibility": celtypes.StringType(one.get("visibility", "PRIVATE")),
            "creator": celtypes.StringType(one.get("creator", "")),
            "updated_ts": celtypes.TimestampType(datetime.fromisoformat(one.get("updateTime", "2026-01-01T00:00:00Z"))),
        }
    )
    if not isinstance(held, celtypes.BoolType):
        raise ValueError("filter must evaluate to a boolean value")
    return bool(held)


def _status(status: int, code: int, message: str) -> Response:
    return JSONResponse({"code": code, "message": message, "details": []}, status)


@asynccontextmanager
async def running(server: MemosServer) -> AsyncIterator[MemosServer]:
    """Serve; `server.url` says where."""
    async with served(server.app()) as server.url:
        yield server
