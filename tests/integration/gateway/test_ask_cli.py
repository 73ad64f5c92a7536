"""`cortex ask` as a process against a real gateway: engines as they answer, the answer, Ctrl-C, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cortex_cli.ask_stream import Answered, Asking, EngineHeard, SentenceSaid, asked
from cortex_cli.failure import NotRunning
from cortex_contracts.errors import CortexError, ErrorCode, InvalidMessage, Permanent, Unavailable
from cortex_contracts.rpc.ask import AskReply, Question
from cortex_contracts.rpc.engine import Hit

MakeHit = Callable[..., Hit]
Cortex = Callable[..., Awaitable[str]]
REPLY = AskReply(answer="Yes\u2028it is [r1]", receipts=(), hits=(), conflicts=(), engines=(), took_ms=1)
GONE = b'event: error\ndata: {"error":"unavailable","message":"NATS is away"}\n\n'
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
UP = b'event: engine\ndata: {"engine":"memory","status":"up","ms":3,"error":null,"hits":2}\n\n'
ANSWER = b"event: answer\ndata: " + REPLY.model_dump_json().encode() + b"\n\n"


@asynccontextmanager
async def command(gateway: Any, *arguments: str, **streams: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """`cortex ask` as a process that is not waited for."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cortex_cli", "ask", *arguments),
        env=os.environ | {"CORTEX_URL": gateway.url, "CORTEX_HTTP_TOKEN": gateway.token, "COLUMNS": "100"},
        stdin=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        **{"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, **streams},
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_people_see_engines_the_answer_its_receipts_and_conflicts(
    cortex: Cortex, played: Any, make_hit: MakeHit
) -> None:
    claim = {"subject": "Hermes", "attribute": "status"}
    played["memory"].hits = (make_hit("Hermes is active.", assertions=[claim | {"value": "active"}]),)
    live = {"source_class": "live-infra", "engine": "pages", "path": "infra/hermes"}
    played["pages"].hits = (make_hit(**live, assertions=[claim | {"value": "stopped"}]),)
    lines = (await cortex("ask", "What is the status of Hermes?")).splitlines()
    assert sorted(re.sub(r"\d+ ms", "N ms", line) for line in lines[:3])[:2] == [
        "  memory: 1 hit, N ms",
        "  pages: 1 hit, N ms",
    ]
    told = "\n".join(lines[3:])
    assert "Hermes is stopped [r1]" in told
    assert "[r1] Hermes (infra/hermes, " in told
    assert "conflict Hermes status: stopped (live-infra) over active (agent-memory; " in told
    assert re.search(r"engines: memory up \d+ ms, pages up \d+ ms, rag down .*; took \d+ ms", told)


async def test_json_is_the_reply_of_the_gateway(cortex: Cortex, gateway: Any, played: Any, make_hit: MakeHit) -> None:
    played["memory"].hits = (make_hit("Hermes is stopped. هرمس", last_seen=None),)
    printed = await cortex("ask", "Hermes?", "--scope", "memory", "--json")
    async with gateway.http() as http:
        rest = await http.post("/ask", json={"query": "Hermes?", "scope": ["memory"]})
    times = re.compile(r'"(ms|took_ms)":\d+')
    assert times.sub("", printed) == times.sub("", rest.text) + "\n"


async def test_options_reach_the_engines(cortex: Cortex, played: Any, make_hit: MakeHit) -> None:
    played["pages"].hits = tuple(make_hit(f"Hermes {n}", engine="pages", path=f"pages:{n}") for n in range(3))
    told = await cortex(
        "ask", "Hermes", "--scope", "pages", "--scope", "rag", "--mode", "search", "-k", "2", "--no-synthesize"
    )
    assert (len(played["pages"].asked), len(played["memory"].asked), played["pages"].asked[0].k) == (1, 0, 2)
    assert re.search(r"^ +1  0\.\d{3}  Hermes \(pages: pages:\d, fits 90%\)", told, re.MULTILINE)
    assert "[r1]" not in told
    assert "no hits" in await cortex("ask", "Hermes", "--scope", "memory", "--mode", "search")
    assert "Nothing is known about this." in await cortex("ask", "Hermes", "--scope", "memory")


async def test_what_cannot_be_asked_is_a_sentence_and_an_exit_code(cortex: Cortex, gateway: Any, played: Any) -> None:
    assert "unknown engine nowhere" in await cortex("ask", "q", "--scope", "nowhere", code=1)
    assert "cortex: " in await cortex("ask", " ", code=1)
    assert "cortex: " in await cortex("ask", "q", "--scope", "No Token", code=1)
    assert "401" in await cortex("ask", "q", code=1, CORTEX_HTTP_TOKEN="wrong")
    assert "run `cortex start`" in await cortex("ask", "q", code=3, CORTEX_URL="http://127.0.0.1:9")
    assert "run `cortex start`" in await cortex("ask", "q", code=3, CORTEX_URL="nonsense")
    await cortex("ask", "q", "-k", "0", code=2)
    await cortex("ask", "q", "--mode", "loud", code=2)


async def test_an_engine_is_told_when_it_answers_and_ctrl_c_ends_the_work_of_the_others(
    gateway: Any, played: Any
) -> None:
    played["pages"].go = asyncio.Event()
    async with command(gateway, "Hermes?", "--scope", "memory", "--scope", "pages") as process:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            assert (await process.stdout.readline()).startswith(b"  memory: 0 hits")
            await played["pages"].called.wait()
            process.send_signal(signal.SIGINT)
            out, err = await process.communicate()
            await played["pages"].cancelled.wait()
    assert (process.returncode, out, err) == (130, b"", b"")


@asynccontextmanager
async def terminal() -> AsyncIterator[tuple[int, asyncio.StreamReader]]:
    """A terminal: what a process writes to, and what comes out of it."""
    ours, theirs = pty.openpty()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", buffering=0)
    )
    try:
        yield theirs, reader
    finally:
        transport.close()
        os.close(theirs)


async def read_until(reader: asyncio.StreamReader, wanted: bytes) -> bytes:
    seen = b""
    async with asyncio.timeout(20):
        while wanted not in seen:
            seen += await reader.read(4096)
    return seen


async def test_on_a_terminal_engines_light_up_and_make_room_for_the_answer(
    gateway: Any, played: Any, make_hit: MakeHit
) -> None:
    played["memory"].hits = (make_hit("Hermes is \x1b[2Jstopped."),)
    played["pages"].go = asyncio.Event()
    async with terminal() as (theirs, reader), command(gateway, "Hermes?", stdout=theirs) as process:
        lit = await read_until(reader, "●".encode())
        assert b"\x1b[?25l" in lit  # the cursor is hidden while lights move
        assert b"pages" in lit  # it has not answered, and is there in the dark
        played["pages"].go.set()
        rest = await read_until(reader, b"took")
        assert await process.wait() == 0
    assert b"[r1]" in rest
    assert b"\x1b[?25h" in lit + rest
    assert b"\x1b[2J" not in lit + rest


async def test_ctrl_c_on_a_terminal_gives_its_cursor_back(gateway: Any, played: Any) -> None:
    played["pages"].go = asyncio.Event()
    async with terminal() as (theirs, reader), command(gateway, "Hermes?", stdout=theirs) as process:
        await read_until(reader, "●".encode())
        process.send_signal(signal.SIGINT)
        await read_until(reader, b"\x1b[?25h")
        assert await process.wait() == 130
        async with asyncio.timeout(30):
            await played["pages"].cancelled.wait()


@pytest.mark.parametrize("how", [("--plain",), ()])
async def test_on_a_terminal_nothing_moves_or_has_colours_for_those_who_want_none(
    gateway: Any, played: Any, make_hit: MakeHit, how: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    played["memory"].hits = (make_hit(),)
    if not how:
        monkeypatch.setenv("NO_COLOR", "1")
    async with terminal() as (theirs, reader), command(gateway, "Hermes?", *how, stdout=theirs) as process:
        told = await read_until(reader, b"took")
        assert await process.wait() == 0
    assert b"memory: 1 hit" in told
    assert b"\x1b" not in told


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """The address of something that answers each request with these bytes and closes, and what it was asked."""
    requests: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            # To close with some of the request unread resets the connection, and the answer with it.
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            requests.append(head + await reader.readexactly(int(length[1]) if length else 0))
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
    finally:
        server.close()


async def heard(url: str) -> list[Any]:
    return await asyncio.to_thread(list, asked(url, "token", Question(query="q")))


async def test_events_that_a_newer_gateway_sends_are_passed_over_and_comments_are_none() -> None:
    newer = b": one moment\n\nevent: mood\ndata: {}\n\n"
    said = b'event: sentence\ndata: {"text":"It is [r1]"}\n\n'
    asking = b'event: asking\ndata: {"engines":["memory","rag"]}\n\n'
    async with answering(STREAM + newer + asking + UP + said + ANSWER) as (url, requests):
        first, engine, sentence, answer = await heard(url)
    assert first == Asking(("memory", "rag"))
    assert isinstance(engine, EngineHeard)
    assert (engine.state.engine, engine.state.ms, engine.hits) == ("memory", 3, 2)
    assert sentence == SentenceSaid("It is [r1]")
    # U+2028 ends a line for some parsers of text, and none of an event.
    assert answer == Answered(REPLY, REPLY.model_dump_json())
    assert b"authorization: bearer token" in requests[0].lower()


async def test_a_gateway_that_cannot_stream_is_understood() -> None:
    async with answering(JSON + REPLY.model_dump_json().encode()) as (url, requests):
        assert await heard(url) == [Answered(REPLY, REPLY.model_dump_json())]
    assert b"accept: text/event-stream, application/json" in requests[0].lower()


@pytest.mark.parametrize(
    ("response", "error", "told"),
    [
        (STREAM + UP, Unavailable, "broke off before its answer"),
        (STREAM + UP + ANSWER[:60], Unavailable, "broke off before its answer"),
        (STREAM.replace(b"Connection: close", b"Content-Length: 9999") + UP, Unavailable, "broke off"),
        (
            STREAM + b'event: error\ndata: {"error":"unavailable","message":"NATS is away"}\n\n',
            Permanent,
            "NATS is away",
        ),
        (STREAM + b"event: error\ndata: []\n\n", InvalidMessage, "event error"),
        (STREAM + b"event: engine\ndata: {\n\n", InvalidMessage, "event engine"),
        (STREAM + b"event: answer\ndata: {}\n\n", InvalidMessage, "not what this version expects"),
        (JSON + b"{}", InvalidMessage, "not what this version expects"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
            InvalidMessage,
            "no Cortex gateway",
        ),
        (b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n", Permanent, "302"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno", Permanent, "502: Bad Gateway"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Unavailable, "broke off"),
        (b"", Unavailable, "broke off"),
    ],
)
async def test_what_is_no_answer_is_a_sentence(response: bytes, error: type[CortexError], told: str) -> None:
    async with answering(response) as (url, _):
        with pytest.raises(error, match=told) as failure:
            await heard(url)
    if GONE in response:
        assert failure.value.code is ErrorCode.UNAVAILABLE


async def test_where_nothing_listens_the_command_says_how_to_start_it() -> None:
    with pytest.raises(NotRunning, match="cortex start"):
        await heard("http://127.0.0.1:9")


async def test_a_failure_cannot_command_the_terminal(cortex: Cortex, tmp_path: Path) -> None:
    evil = json.dumps({"error": "unavailable", "message": "\x1b[2J\x07gone"}).encode()
    async with answering(STREAM + b"event: error\ndata: " + evil + b"\n\n") as (url, _):
        told = await cortex("ask", "q", code=1, CORTEX_URL=url)
    assert told == "cortex: the gateway could not answer: [2Jgone\n"
