"""Nothing that is private or a credential is anywhere after it came in: tables, streams, logs, cache, replies.

Every hidden text is a canary, and no eight characters of any canary may be found in anything that the system keeps or
says. What a case says openly must be found, so that the search is known to look at the right places.
"""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import asyncpg
import nats
import redis.asyncio

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.permissions import PROVISIONER, inbox_prefix
from cortex_contracts.rpc.ingest import RETAIN, RETAIN_BATCH
from cortex_contracts.rpc.recall import GET
from cortex_contracts.streams import CAPTURES, DEAD_LETTERS, EVENTS, Stream
from cortex_infra.bootstrap import with_database
from cortex_testkit.cache_server import CacheServer
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase, PostgresServer

ME = Principal(org="local", subject="me")
CASES: Final = 42
GRAM: Final = 8
EMPTIED: Final = 2
"""Of those that `refused` makes: nothing is left of them."""
BROKEN: Final = 4
"""Captures that cannot be told by an RPC."""

PRIVATE: Final = (
    "<private>{}</private>",
    "<PRIVATE>{}</Private>",
    "< private >{}</ private >",
    '<private reason="family">{}</private>',
    "<private>a <private>b</private> {}</private>",
    "<private>\n{}\n</private>",
    "&lt;private&gt;{}&lt;/private&gt;",
    "\\u003cprivate\\u003e{}\\u003c/private\\u003e",
    "<private>{}",
    "<private\n{}",
    "<private>سر {}</private>",
)
CREDENTIALS: Final = (
    "ghp_{}1a2B3c",
    "sk-ant-api03-{}",
    "postgres://app:{}@db.internal/app",
    'password="{}9"',
    "Authorization: Bearer {}7",
    "DB_PASSWORD={}5",
    "-----BEGIN PRIVATE KEY-----\n{}AAAABBBBCCCC\n-----END PRIVATE KEY-----",
    "كلمة السر: {}4",
)
SHORT: Final = ("source_ref", "session", "speaker")
NAMED_BY_KEY: Final = ("password", "api_key", "session_token")


class Canaries:
    """Texts that occur nowhere else, and the search for what is left of them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._known: list[str] = []

    def new(self) -> str:
        # Letters of one case and no vowels: neither a word of any language nor a part of an id.
        canary = "".join(self._chance.choices("bcdfghjklmnpqrstvwxz", k=32))
        self._known.append(canary)
        return canary

    def hidden(self, forms: tuple[str, ...] = PRIVATE + CREDENTIALS) -> str:
        return self._chance.choice(forms).format(self.new())

    def left_in(self, text: str) -> list[str]:
        lowered = text.lower()
        return [
            canary[i : i + GRAM]
            for canary in self._known
            for i in range(len(canary) - GRAM + 1)
            if canary[i : i + GRAM] in lowered or canary[i : i + GRAM].encode().hex() in lowered
        ]


def said(number: int) -> str:
    """What case `number` says openly."""
    letters = string.ascii_lowercase
    return f"harbour{letters[number // 26]}{letters[number % 26]}"


def draft(number: int, canaries: Canaries, chance: random.Random) -> dict[str, Any]:
    """A statement that hides something in its content, and in some of its other fields."""
    hidden = canaries.hidden(PRIVATE) if number % 2 else canaries.hidden(CREDENTIALS)
    fields: dict[str, Any] = {"namespace": "work", "content": f"Crane {said(number)} was painted on Monday. {hidden}"}
    for name in chance.sample(SHORT, chance.randint(0, 3)):
        fields[name] = f"{name}-{number} {canaries.hidden()}"
    if "session" in fields:
        fields["turn"] = chance.randint(0, 3)
    if chance.random() < 0.6:
        fields["metadata"] = {
            f"place {number}": canaries.hidden(),
            f"k {canaries.hidden()}": "value",
            chance.choice(NAMED_BY_KEY): f"{canaries.new()}8",
        }
    if chance.random() < 0.6:
        fields["assertions"] = [
            {"subject": f"{said(number)} {canaries.hidden()}", "attribute": "colour", "value": "red"},
            {"subject": said(number), "attribute": f"paint {canaries.hidden()}", "value": canaries.hidden()},
            {"subject": said(number), "attribute": "password", "value": f"{canaries.new()}8"},
        ]
    return fields


def refused(canaries: Canaries) -> list[dict[str, Any]]:
    """Statements that cannot be stored as they are, for every reason, with something to hide in the wrong place."""

    def valid() -> dict[str, Any]:
        return {"namespace": "work", "content": f"Refused. {canaries.hidden(PRIVATE)}"}

    return [
        {"namespace": "work", "content": f" {canaries.hidden(PRIVATE[:6])} ."},
        {"namespace": "work", "content": canaries.hidden(PRIVATE), "metadata": {"note": canaries.hidden(PRIVATE)}},
        {"content": canaries.hidden(PRIVATE)},
        valid() | {"namespace": f"Not A Token {canaries.hidden(PRIVATE)}"},
        valid() | {"speaker": canaries.hidden(PRIVATE) + "x" * 300},
        valid() | {"metadata": {canaries.hidden(PRIVATE): ["no text"]}},
        valid() | {"metadata": {canaries.hidden(PRIVATE) + "x" * 300: "value"}},
        valid() | {"metadata": {f"k\x00{canaries.hidden(CREDENTIALS[:2])}": "value"}},
        valid() | {"metadata": [canaries.hidden(PRIVATE)]},
        valid() | {"assertions": [{"subject": canaries.hidden(PRIVATE), "attribute": canaries.hidden(), "value": ""}]},
        valid() | {"occurred_at": canaries.hidden(PRIVATE)},
        valid()
        | {"visibility": canaries.hidden(PRIVATE), canaries.hidden(PRIVATE): 1, "turn": canaries.hidden(PRIVATE)},
    ]


async def test_no_hidden_byte_is_anywhere(
    memory,
    nats: NatsServer,
    postgres: PostgresDatabase,
    postgres_server: PostgresServer,
    cache: CacheServer,
    tmp_path: Path,
) -> None:
    chance = random.Random(20261130)
    canaries = Canaries(chance)
    replies: list[str] = []

    async def ask(subject: str, request: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"principal": ME.model_dump()} | request).encode()
        reply = (await memory.bus.client.request(subject, body, timeout=30)).data.decode()
        replies.append(reply)
        return json.loads(reply)

    async def capture(body: bytes) -> None:
        await memory.bus.publish_raw(subjects.capture("local", "chat"), body, message_id=str(uuid4()), headers={})

    drafts = [draft(number, canaries, chance) for number in range(CASES)]
    for one in drafts[0::3]:
        await capture(json.dumps(one, ensure_ascii=chance.random() < 0.5).encode())
    for one in drafts[1::3]:
        kept = (await ask(RETAIN.subject, {"memory": one}))["result"]
        assert sum(kept["redactions"].values()) >= 1
    batch = await ask(RETAIN_BATCH.subject, {"memories": drafts[2::3], "embed": chance.random() < 0.5})
    assert all(item["retained"] for item in batch["result"]["items"])

    for one in refused(canaries):
        assert "error" in await ask(RETAIN.subject, {"memory": one})
        outcome = await ask(RETAIN_BATCH.subject, {"memories": [one]})
        assert "error" in outcome or outcome["result"]["items"][0]["error"]
    for one in refused(canaries):
        await capture(json.dumps(one).encode())
    # Broken ones: private without an owner, and three that are no JSON.
    await capture(
        json.dumps({"namespace": "work", "content": canaries.hidden(PRIVATE), "visibility": "private"}).encode()
    )
    await capture(f"no JSON {canaries.hidden(PRIVATE)}".encode())
    await capture(f'{{"content": "{canaries.hidden(PRIVATE[:2])}'.encode() + b"\xff")
    await capture(b"[" * 50_000 + canaries.hidden(PRIVATE).encode())

    provisioner = await connect(nats)
    try:
        await eventually(lambda: size(provisioner, CAPTURES), lambda left: left == 0, within_s=60)
        await memory.embedded()
        # Asked with the hidden text too, so that answers and vectors of it are in the cache.
        for number in range(0, CASES, 3):
            for query in (f"crane {said(number)}", f"crane {said(number)} {canaries.hidden()}"):
                found = await memory.recall(query, min_score=0.0)
                assert any(said(number) in one.content for one in found.memories), query
                replies.append(found.model_dump_json())
        for one in found.memories:
            await ask(GET.subject, {"memory_id": str(one.memory_id)})

        tables = await eventually(
            lambda: dump(with_database(postgres_server.superuser_url, postgres.name)),
            lambda rows: not rows["outbox"],
            within_s=60,
        )
        events, letters = await read(provisioner, EVENTS), await read(provisioner, DEAD_LETTERS)
    finally:
        await provisioner.close()
    logs = "".join((tmp_path / name / f"{name}.log").read_text(encoding="utf-8") for name in ("ingest", "recall"))
    places = tables | {
        "events": events,
        "dead letters": letters,
        "logs": logs,
        "cache": await kept_in(cache),
        "replies": "\n".join(replies),
    }

    for number in range(CASES):
        assert said(number) in tables["memories"]
        assert said(number) in events
    assert "cortex:v1:recall-" in places["cache"]
    assert "harbour" in places["cache"]
    # What was cut to nothing is no dead letter; what is wrong otherwise is one.
    assert logs.count("capture held nothing that may be stored") == EMPTIED
    assert letters.count("cortex.v1.dlq.") == len(refused(canaries)) - EMPTIED + BROKEN
    assert {place: left for place, text in places.items() if (left := canaries.left_in(text))} == {}


async def connect(server: NatsServer) -> nats.NATS:
    return await nats.connect(server.url(PROVISIONER), inbox_prefix=inbox_prefix(PROVISIONER))


async def size(client: nats.NATS, stream: Stream) -> int:
    count: int = (await client.jetstream().stream_info(stream.name)).state.messages
    return count


async def read(client: nats.NATS, stream: Stream) -> str:
    """Every message of a stream: subject, headers, body."""
    state = (await client.jetstream().stream_info(stream.name)).state
    found = []
    for sequence in range(state.first_seq, state.last_seq + 1):
        message = await client.jetstream().get_msg(stream.name, seq=sequence)
        body = (message.data or b"").decode(errors="replace")
        found.append(f"{message.subject} {message.headers} {body}")
    return "\n".join(found)


async def dump(url: str) -> dict[str, str]:
    """Every table of every schema that is ours, as text."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'm') "
            "AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) "
            "AND relnamespace <> 'pg_toast'::regnamespace"
        )
        rows: dict[str, str] = {}
        for table in tables:
            found = await connection.fetch(f"SELECT t::text AS row FROM {table['name']} t")
            name = "memories" if table["name"].startswith("memories") else table["name"]
            rows[name] = rows.get(name, "") + "\n".join(one["row"] for one in found)
        return rows
    finally:
        await connection.close()


async def kept_in(cache: CacheServer) -> str:
    async with redis.asyncio.Redis.from_url(cache.url) as client:
        keys = await client.keys()
        values = await client.mget(keys)
    return "\n".join(f"{k.decode()} {(v or b'').decode(errors='replace')}" for k, v in zip(keys, values, strict=True))
