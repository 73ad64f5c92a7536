"""An outbound client reaches its destination and nothing else: over real sockets."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from cortex_contracts.errors import ErrorCode, Unavailable
from cortex_providers.outbound import Destination, DestinationRefused, Outbound, Resolve, ResponseTooLarge, Unanswered

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """A raw server; counts its connections."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.connections, self.requests, self.port = talk, 0, 0, 0
        self.open = 0
        self.most_open = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            while (await reader.readuntil(b"\r\n\r\n")).startswith((b"GET", b"POST")):
                self.requests += 1
                await self.talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def listening(talk: Talk | bytes) -> AsyncIterator[Listener]:
    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(talk, bytes)
        writer.write(talk)
        await writer.drain()

    listener = Listener(say if isinstance(talk, bytes) else talk)
    server = await asyncio.start_server(listener.accept, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()


def answering(*answers: list[str]) -> Resolve:
    """A resolver that gives one answer after the other, the last for ever."""
    left = list(answers)

    async def resolve(_: str, __: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@asynccontextmanager
async def client(url: str, **options: object) -> AsyncIterator[Outbound]:
    settings = {"who": "the thing", "timeout_s": 10.0, **options}
    outbound = Outbound(Destination.parse(url, "X_URL"), **settings)  # type: ignore[arg-type]
    try:
        yield outbound
    finally:
        await outbound.close()


async def test_a_name_is_resolved_once_and_the_connection_goes_where_it_was_judged():
    async with listening(OK) as listener:
        asked: list[str] = []

        async def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"]

        # Nobody else can resolve this name: whoever asked again would not get there.
        async with client(f"http://no-such-host.invalid:{listener.port}", resolve=resolve) as outbound:
            assert (await outbound.get("x")).json() == {}
            await outbound.post("x", {})
        assert asked == ["no-such-host.invalid"]
        assert listener.connections == 1


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fe80::1", "fd00:ec2::254", "::ffff:169.254.169.254", "0.0.0.0"]
)
async def test_a_name_that_leads_to_a_metadata_address_is_refused(address: str):
    async with listening(OK) as listener:
        # One bad address among good ones is enough: the next connection could take it.
        resolve = answering(["127.0.0.1", address])
        async with client(f"http://tei.example:{listener.port}", resolve=resolve) as outbound:
            with pytest.raises(DestinationRefused, match=r"the host of the thing leads to .* refused"):
                await outbound.get("x")
        assert listener.connections == 0


async def test_a_name_that_is_a_number_does_not_get_round_the_check():
    async with client("http://2852039166:80") as outbound:  # 169.254.169.254 to the system's resolver
        with pytest.raises(DestinationRefused):
            await outbound.get("x")


async def test_an_address_that_is_configured_literally_is_used():
    async with listening(OK) as listener:
        # On Linux the unspecified address connects to this machine; as the target of a name it is refused.
        async with client(f"http://0.0.0.0:{listener.port}") as outbound:
            assert (await outbound.get("x")).status == 200


@pytest.mark.parametrize("later", [["10.0.0.7"], ["1.1.1.1"], ["127.0.0.1", "1.1.1.1"]])
async def test_a_name_that_changes_its_reach_is_refused_before_anything_is_connected(later: list[str]):
    async with listening(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") as listener:
        resolve = answering(["127.0.0.1"], later)
        async with client(f"http://tei:{listener.port}", resolve=resolve) as outbound, asyncio.timeout(30):
            await outbound.get("x")
            with pytest.raises(DestinationRefused, match="led to loopback addresses and now leads to"):
                await outbound.get("x")
        assert listener.requests == 1


async def test_a_name_may_move_within_its_reach():
    async with listening(OK) as listener:
        resolve = answering(["127.0.0.2"], ["127.0.0.1"])
        async with client(f"http://tei:{listener.port}", resolve=resolve) as outbound:
            with pytest.raises(Unanswered):  # nobody listens there
                await outbound.get("x")
            assert (await outbound.get("x")).status == 200


async def test_the_next_address_is_tried_when_one_does_not_answer():
    async with listening(OK) as listener:
        async with client(f"http://tei:{listener.port}", resolve=answering(["127.0.0.2", "127.0.0.1"])) as outbound:
            assert (await outbound.get("x")).status == 200


async def test_a_redirect_is_not_followed():
    async with listening(OK) as other:
        redirect = f"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:{other.port}/\r\nContent-Length: 0\r\n\r\n".encode()
        async with listening(redirect) as listener, client(f"http://127.0.0.1:{listener.port}") as outbound:
            with pytest.raises(DestinationRefused, match="redirect"):
                await outbound.post("x", {})
        assert other.connections == 0


async def test_another_host_cannot_be_named_in_the_path():
    async with listening(OK) as other, listening(OK) as listener:
        async with client(f"http://127.0.0.1:{listener.port}/base") as outbound:
            for path in (f"//127.0.0.1:{other.port}/", f"http://127.0.0.1:{other.port}/", f"@127.0.0.1:{other.port}/"):
                await outbound.get(path)
        assert (other.connections, listener.requests) == (0, 3)


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch):
    async with listening(OK) as proxy, listening(OK) as listener:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with client(f"http://localhost:{listener.port}") as outbound:
            await outbound.get("x")
        assert (proxy.connections, listener.connections) == (0, 1)


async def test_a_response_that_does_not_end_is_cut_off():
    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with listening(pour) as listener:
        async with client(f"http://127.0.0.1:{listener.port}", max_response_bytes=1_000_000) as outbound:
            with pytest.raises(ResponseTooLarge, match="the thing answered with more than 1000000 bytes"):
                await outbound.get("x")


async def test_a_compressed_response_is_not_unpacked():
    body = gzip.compress(b"0" * 10_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with listening(head + body) as listener, client(f"http://127.0.0.1:{listener.port}") as outbound:
        with pytest.raises(Unavailable, match="compressed"):
            await outbound.get("x")


async def test_a_response_that_drips_is_given_up_in_time():
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:  # every read of the client succeeds well before a time limit for reads
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with listening(drip) as listener:
        async with client(f"http://127.0.0.1:{listener.port}", timeout_s=0.2) as outbound:
            async with asyncio.timeout(20):
                with pytest.raises(Unavailable, match=r"the thing did not answer within 0\.2 s"):
                    await outbound.get("x")


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a', b"SSH-2.0\r\n\r\n"],
)
async def test_a_connection_that_breaks_off_is_unanswered(answer: bytes):
    async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with listening(break_off) as listener, client(f"http://127.0.0.1:{listener.port}") as outbound:
        with pytest.raises(Unanswered, match="the thing does not answer"):
            await outbound.get("x")


async def test_only_so_many_requests_run_at_one_time():
    gate, waiting = asyncio.Event(), asyncio.Semaphore(0)

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting.release()
        await gate.wait()
        writer.write(OK)

    async with listening(hold) as listener:
        async with client(f"http://127.0.0.1:{listener.port}", connections=3) as outbound, asyncio.timeout(30):
            requests = [asyncio.create_task(outbound.get("x")) for _ in range(10)]
            for _ in range(3):
                await waiting.acquire()
            gate.set()
            await asyncio.gather(*requests)
        assert (listener.most_open, listener.requests) == (3, 10)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def streamed(outbound: Outbound, whole_s: float = 10.0) -> list[bytes]:
    async with outbound.stream("x", b"{}", headers={"Accept": "text/event-stream"}, whole_s=whole_s) as answer:
        return [piece async for piece in answer.pieces]


async def test_a_stream_gives_what_has_come_before_the_rest_comes():
    rest = asyncio.Event()

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"1\r\na\r\n")
        await rest.wait()
        writer.write(b"1\r\nb\r\n0\r\n\r\n")

    async with listening(talk) as listener, client(f"http://127.0.0.1:{listener.port}") as outbound:
        async with outbound.stream("x", b"{}", headers={}, whole_s=10) as answer, asyncio.timeout(30):
            came = [await anext(answer.pieces)]
            rest.set()
            came += [piece async for piece in answer.pieces]
        assert (answer.status, came) == (200, [b"a", b"b"])


async def test_to_leave_a_stream_ends_the_connection():
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"1\r\na\r\n")
        await reader.read()  # to the end, whatever of the body is still to come
        gone.set()

    async with listening(talk) as listener, client(f"http://127.0.0.1:{listener.port}", connections=1) as outbound:
        for _ in range(2):  # the second one needs the connection of the first
            gone.clear()
            async with asyncio.timeout(30):
                async with outbound.stream("x", b"{}", headers={}, whole_s=10) as answer:
                    assert await anext(answer.pieces) == b"a"
                await gone.wait()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (b"", r"did not begin to answer within 0\.5 s"),
        (b"HTTP/1.1 200 OK\r\nX-Slow:", r"did not begin to answer within 0\.5 s"),
        (CHUNKED + b"1\r\na\r\n", r"fell silent in its answer for 0\.5 s"),
    ],
)
async def test_a_stream_that_falls_silent_is_late(said: bytes, sentence: str):
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await reader.read()

    async with listening(talk) as listener:
        async with client(f"http://127.0.0.1:{listener.port}", timeout_s=0.5) as outbound, asyncio.timeout(20):
            with pytest.raises(Unavailable, match=sentence) as caught:
                await streamed(outbound)
    assert caught.value.code is ErrorCode.DEADLINE_EXCEEDED


async def test_a_stream_that_drips_for_ever_and_one_that_pours_are_bounded():
    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while True:
            writer.write(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0.001)

    async with listening(pour) as listener:
        url = f"http://127.0.0.1:{listener.port}"
        async with client(url) as outbound, asyncio.timeout(30):
            with pytest.raises(Unavailable, match=r"did not end its answer within 0\.3 s"):
                await streamed(outbound, whole_s=0.3)
        async with client(url, max_response_bytes=50_000) as outbound, asyncio.timeout(30):
            with pytest.raises(ResponseTooLarge, match="more than 50000 bytes"):
                await streamed(outbound)


@pytest.mark.parametrize(
    ("said", "error", "sentence"),
    [
        (b"SSH-2.0\r\n\r\n", Unanswered, "does not answer"),
        (CHUNKED + b"9\r\nabc", Unanswered, "broke off its answer"),
        (b"HTTP/1.1 302 T\r\nLocation: http://127.0.0.1/\r\n\r\n", DestinationRefused, "redirect"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", Unavailable, "compressed"),
    ],
)
async def test_a_stream_that_is_none_is_told(said: bytes, error: type[Unavailable], sentence: str):
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()
        writer.close()

    async with listening(talk) as listener, client(f"http://127.0.0.1:{listener.port}") as outbound:
        with pytest.raises(error, match=sentence):
            await streamed(outbound)


async def test_a_stream_goes_to_its_destination_only():
    async with listening(OK) as listener:
        resolve = answering(["169.254.169.254"])
        async with client(f"http://llm.example:{listener.port}", resolve=resolve) as outbound:
            with pytest.raises(DestinationRefused, match="link-local"):
                await streamed(outbound)
        assert listener.connections == 0
