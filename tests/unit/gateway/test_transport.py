from __future__ import annotations

import asyncio

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from cortex_gateway.problems import Unexpected
from cortex_gateway.transport import Drain, LimitBody


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({"size": len(await Request(scope, receive).body())})(scope, receive, send)


def client(app: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")  # type: ignore[arg-type]


async def test_a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() -> None:
    async with client(LimitBody(echo, 10)) as http:
        assert (await http.post("/", content=b"x" * 10)).json() == {"size": 10}
        assert (await http.post("/", content=b"x" * 11)).status_code == 413


async def test_a_path_may_have_a_longer_limit_of_its_own() -> None:
    async with client(LimitBody(echo, 10, {"/documents/": 20})) as http:
        assert (await http.put("/documents/a", content=b"x" * 20)).json() == {"size": 20}
        assert (await http.put("/documents/a", content=b"x" * 21)).status_code == 413
        assert (await http.put("/documents", content=b"x" * 11)).status_code == 413


async def test_a_body_that_never_ends_is_given_up() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        if not sent:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": "/", "headers": []}
    await LimitBody(echo, 10, whole_s=0.01)(scope, receive, send)
    assert sent[0]["status"] == 408


async def test_an_unexpected_failure_tells_nothing_of_itself() -> None:
    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("secret text")

    async with client(Unexpected(fail)) as http:
        response = await http.get("/")
    assert (response.status_code, response.json()["error"]) == (500, "internal")
    assert "secret" not in response.text


async def test_an_open_stream_ends_when_the_service_stops() -> None:
    drain = Drain()
    streaming = asyncio.Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        streaming.set()
        assert (await receive())["type"] == "http.disconnect"

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await drain.wrap(stream)({"type": "http"}, never, send)

    running = asyncio.create_task(run())
    await streaming.wait()
    await drain.close()
    async with asyncio.timeout(20):
        await running
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
