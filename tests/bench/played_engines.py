"""Engines that a bench plays, in a process of their own: NATS responders that hold every question for a fixed time and
answer with texts that nobody has seen before, made ready before the clock runs.

A text is statements of the kind that engines find (states, ports, versions, dates, owners, lines of settings) among
prose, a quarter of the hits Arabic. All engines speak about the same few things in a round, so that some hits are the
same and some disagree. Moments are of the monotonic clock, which the processes of one machine share.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg

from cortex_contracts.permissions import inbox_prefix
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.contract import Envelope
from cortex_contracts.rpc.engine import EngineAskReply, EngineStatus, Hit, SourceClass

K: Final = 12
SHORTEST, LONGEST, USUAL = 300, 2_000, 420
"""Characters of a hit: the shortest, the longest, and what is added to the shortest on average."""
ARABIC: Final = 0.25
THINGS: Final = 5
"""Things that the hits of one round are about."""
SHARED: Final = 2
"""Hits of a round that every engine may find: the same path and text."""
ROUND: Final = re.compile(rb"round (\d+)")

SERVICES: Final = ("hermes", "relay", "ledger", "mailer", "indexer", "broker", "catalog", "scheduler", "exporter")
ARABIC_SERVICES: Final = (
    "خدمة البريد",
    "خادم الملفات",
    "بوابة الدفع",
    "قاعدة العملاء",
    "مشروع الأرشيف",
    "نظام الفوترة",
)
STATES: Final = ("active", "stopped", "running", "down", "healthy", "paused")
ARABIC_STATES: Final = ("تعمل", "متوقفة", "نشطة", "معطلة")
PEOPLE: Final = ("Maren", "Goran", "Ines", "Tomasz", "Priya", "Bilal", "Chen", "Frida")
ARABIC_PEOPLE: Final = ("سارة", "خالد", "منى", "طارق", "هدى", "ياسر")
WORDS: Final = (
    "the we they report after before review host cluster queue snapshot because meeting again slowly customer invoice "
    "agreed noted follow checked during upgrade question later memory index bridge window evening draft release nobody "
    "several detail reason wrote asked moved between under without number found simple careful older system part"
).split()
ARABIC_WORDS: Final = (
    "في من على بعد قبل الفريق التقرير الاجتماع العميل النظام خلال المراجعة لأن المساء التحديث السؤال جزء تفاصيل "
    "النسخة الطلب القسم الخطة أخيرًا غدًا بهدوء المشروع"
).split()


class Answered(NamedTuple):
    """One answer of one engine: when its question came, and when its reply was handed over."""

    round: int
    key: str
    received: float
    replied: float


def statement(thing: str, rng: random.Random) -> str:
    """Something that is said of a thing."""
    if not thing.isascii():
        number, day = rng.randrange(1, 900), rng.randrange(1, 29)
        return rng.choice(
            (
                f"{thing} {rng.choice(ARABIC_STATES)} منذ أمس.",
                f"المسؤول عن {thing} هو {rng.choice(ARABIC_PEOPLE)}.",
                f"مهلة {thing} {number} ثانية.",
                f"ينتهي عقد {thing} في 2027-03-{day:02}.",
                f"المنفذ: {number + 7000}",
            )
        )
    number, version = rng.randrange(1, 900), f"{rng.randrange(1, 9)}.{rng.randrange(30)}.{rng.randrange(9)}"
    return rng.choice(
        (
            f"{thing} is {rng.choice(STATES)}.",
            f"{thing} is not {rng.choice(STATES)} any more, says the log.",
            f"{thing} listens on port {7000 + number}.",
            f"The timeout of {thing} is {number} s.",
            f"{thing} runs version {version}.",
            f"{thing} was {rng.choice(STATES)} until March.",
            f"The owner of {thing} is {rng.choice(PEOPLE)}.",
            f"status: {rng.choice(STATES)}\nport: {7000 + number}\nversion: {version}",
            f"- **{thing}**: {rng.choice(STATES)}, {rng.randrange(1, 64)} GB of memory",
            f"The certificate of {thing} expires on 2027-0{rng.randrange(1, 9)}-{rng.randrange(10, 28)}.",
        )
    )


def prose(arabic: bool, rng: random.Random) -> str:
    """A sentence that states nothing, with a word of its own."""
    words = rng.choices(ARABIC_WORDS if arabic else WORDS, k=rng.randrange(6, 16))
    words.insert(3, "".join(rng.choices("بتثجحدرسشعفقكلمنهوي" if arabic else "abdefgiklmnoprstuvz", k=6)))
    return " ".join(words).capitalize() + "."


def text(thing: str, rng: random.Random) -> str:
    """What a hit about a thing says."""
    length = min(LONGEST, SHORTEST + int(rng.expovariate(1 / USUAL)))
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(statement(thing, rng) if rng.random() < 0.3 else prose(not thing.isascii(), rng))
    rng.shuffle(parts)
    return " ".join(parts)[:length]


def hit(key: str, number: int, rank: int, thing: str, now: datetime, rng: random.Random) -> Hit:
    """One result about a thing."""
    return Hit(
        engine=key,
        title=thing,
        path=f"{rng.choice(('infra', 'notes', 'people'))}/{thing.replace(' ', '-')}-{number}-{rng.randrange(10**6)}",
        snippet=text(thing, rng),
        native_score=1.0 / (1 + rank),
        relevance=max(0.05, min(1.0, 0.95 - 0.06 * rank + rng.uniform(-0.05, 0.05))),
        last_seen=now - timedelta(hours=rng.expovariate(1 / 400)) if rng.random() < 0.9 else None,
        confidence=rng.uniform(0.6, 1.0),
        source_class=rng.choice(tuple(SourceClass)),
    )


def things(number: int) -> list[str]:
    """What the hits of a round are about."""
    rng = random.Random(-number)
    return [
        f"{rng.choice(ARABIC_SERVICES)} {rng.randrange(10**5)}"
        if rng.random() < ARABIC
        else f"{rng.choice(SERVICES)}-{rng.randrange(10**5)}"
        for _ in range(THINGS)
    ]


def question(number: int) -> str:
    """The question of a round, about one of its things; responders read the round's number in it."""
    asked = things(number)[0]
    words = f"Is {asked} running, and on which port?" if asked.isascii() else f"هل تعمل {asked} وعلى أي منفذ؟"
    return f"{words} round {number}"


def replies(keys: Sequence[str], number: int) -> dict[tuple[int, str], bytes]:
    """What each engine answers in a round, as it goes over the bus."""
    rng = random.Random(number)
    now = datetime.now(UTC)
    about = things(number)
    shared = [hit(keys[0], number, rank, rng.choice(about), now, rng) for rank in range(SHARED)]
    made = {}
    for key in keys:
        own = [hit(key, number, rank, rng.choice(about), now, rng) for rank in range(SHARED, K)]
        found = (*(one.model_copy(update={"engine": key}) for one in shared), *own)
        envelope = Envelope[EngineAskReply](result=EngineAskReply(engine=key, status=EngineStatus.UP, hits=found))
        made[number, key] = envelope.model_dump_json(exclude={"error"}).encode()
    return made


class _Responders:
    """The child's side."""

    def __init__(self, held_s: float) -> None:
        self._held_s = held_s
        self._ready: dict[tuple[int, str], bytes] = {}
        self._answered: list[Answered] = []
        self._running: set[asyncio.Task[None]] = set()

    async def serve(self, urls: Mapping[str, str], connection: Connection) -> None:
        """Answer until the parent has gone. `urls`: the address, with a user, at which each engine answers."""
        clients: dict[str, Client] = {}
        for key, url in urls.items():
            if url not in clients:
                clients[url] = await nats.connect(url, inbox_prefix=inbox_prefix(urlsplit(url).username or ""))
            rpc = engine.ask(key)
            await clients[url].subscribe(rpc.subject, queue=rpc.queue, cb=self._responder(key))
        for client in clients.values():
            await client.flush()
        connection.send(len(urls))
        while (command := await asyncio.to_thread(_received, connection)) is not None:
            keys, numbers = command
            if numbers:
                for number in numbers:
                    self._ready |= replies(keys, number)
                connection.send(len(self._ready))
            else:
                connection.send(self._answered)
                self._answered, self._ready = [], {}
        for client in clients.values():
            await client.close()

    def _responder(self, key: str) -> Callable[[Msg], Awaitable[None]]:
        async def heard(message: Msg) -> None:
            task = asyncio.create_task(self._answer(key, message, time.perf_counter()))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

        return heard

    async def _answer(self, key: str, message: Msg, received: float) -> None:
        found = ROUND.search(message.data)
        assert found is not None
        number = int(found[1])
        await asyncio.sleep(self._held_s - (time.perf_counter() - received))
        await message.respond(self._ready.pop((number, key)))
        self._answered.append(Answered(number, key, received, time.perf_counter()))


def _received(connection: Connection) -> tuple[Sequence[str], range] | None:
    try:
        command: tuple[Sequence[str], range] | None = connection.recv()
    except EOFError:
        return None
    return command


def _child(urls: Mapping[str, str], held_s: float, connection: Connection) -> None:
    asyncio.run(_Responders(held_s).serve(urls, connection))


class PlayedEngines:
    """The process of the engines; it ends with the block."""

    def __init__(self, urls: Mapping[str, str], held_s: float) -> None:
        """`held_s`: for how long each engine holds each question."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_child, args=(dict(urls), held_s, theirs), daemon=True)
        self._theirs = theirs

    def prepare(self, keys: Sequence[str], numbers: range) -> None:
        """Make the replies of these engines in these rounds ready."""
        self._connection.send((keys, numbers))
        self._connection.recv()

    def answered(self) -> list[Answered]:
        """What was answered since the last call; replies that nobody asked for are forgotten."""
        self._connection.send(((), range(0)))
        answered: list[Answered] = self._connection.recv()
        return answered

    def __enter__(self) -> Self:
        self._process.start()
        self._theirs.close()  # so that the child's end is heard here
        self._connection.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
