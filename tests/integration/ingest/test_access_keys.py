"""Keys of agents in a real database: who makes, sees and ends which, and whose a key is."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent
from cortex_contracts.messages.base import Message, Principal
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.rpc.ingest import Access
from cortex_contracts.rpc.keys import (
    CreateKeyRequest,
    Key,
    KeyDraft,
    KeysRequest,
    ResolvedKey,
    ResolveKeyRequest,
    RevokeKeyRequest,
    Role,
)
from cortex_ingest.access_keys import AccessKeys, KeyUses, within
from cortex_store import grants
from cortex_store.database import Database
from cortex_testkit.postgres_server import PostgresDatabase

OWNER = Principal(org="mine", subject="owner")
NARROW = Principal(org="mine", subject="lead", readable=("atlas", "nile"), writable=("atlas",))
MEMBER = Principal(org="mine", subject="agent", role="member")
OTHER_ORG = Principal(org="theirs", subject="owner")


@dataclass
class Ring:
    """The use cases, with what they left behind."""

    database: Database
    uses: KeyUses
    woken: list[None] = field(default_factory=list)
    told: list[tuple[str, str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keys = AccessKeys(self.database, self.uses, lambda: self.woken.append(None), self)

    async def tell(self, subject: str, message: Message, *, message_id: str) -> None:
        assert isinstance(message, KeyEvent)
        assert message_id == str(message.event_id)
        assert await self.events(), "it is said after the commit"
        self.told.append((subject, message.key_id, message.revoked))

    async def create(self, principal: Principal = OWNER, subject: str = "agent", **fields: Any) -> tuple[Key, str]:
        digest = hashlib.sha256(secrets.token_bytes(32)).hexdigest()
        request = CreateKeyRequest(
            principal=principal, key_id=secrets.token_hex(6), digest=digest, subject=subject, **fields
        )
        return await self.keys.create(request), digest

    async def resolve(self, digest: str) -> ResolvedKey:
        return await self.keys.resolve(ResolveKeyRequest(digest=digest))

    async def revoke(self, key_id: str, principal: Principal = OWNER) -> Key:
        return await self.keys.revoke(RevokeKeyRequest(principal=principal, key_id=key_id))

    async def listed(self, principal: Principal = OWNER) -> list[str]:
        return [key.key_id for key in (await self.keys.listed(KeysRequest(principal=principal))).keys]

    async def events(self) -> list[tuple[str, str, bool]]:
        async with self.database.unscoped() as connection:
            rows = await connection.fetch("SELECT subject, body FROM outbox ORDER BY id")
        told = [(row["subject"], KeyEvent.model_validate_json(row["body"])) for row in rows]
        return [(subject, event.key_id, event.revoked) for subject, event in told]


@pytest.fixture
async def ring(postgres: PostgresDatabase) -> AsyncIterator[Ring]:
    database = Database(postgres.runtime_url)
    await database.open()
    yield Ring(database, KeyUses(database))
    await database.close()


async def refused(attempt: Any, code: ErrorCode) -> str:
    with pytest.raises(Permanent) as error:
        await attempt
    assert error.value.code is code
    return error.value.message


async def test_a_key_proves_the_principal_that_it_was_made_for(ring: Ring) -> None:
    until = datetime.now(UTC) + timedelta(days=30)
    key, digest = await ring.create(
        subject="milly", role=Role.OWNER, readable=("atlas", "nile"), writable=("atlas",), expires_at=until
    )
    assert (key.created_by, key.revoked_at, key.last_used_at) == ("owner", None, None)
    found = await ring.resolve(digest)
    assert found.principal == Principal(
        org="mine",
        subject="milly",
        role="owner",
        authenticated_by=f"key:{key.key_id}",
        readable=("atlas", "nile"),
        writable=("atlas",),
    )
    assert (found.key_id, found.expires_at) == (key.key_id, until)
    assert await ring.resolve("0" * 64) == ResolvedKey()


async def test_a_revoked_key_proves_nobody_and_its_end_is_announced_once(ring: Ring) -> None:
    key, digest = await ring.create()
    ended = await ring.revoke(key.key_id)
    assert ended.revoked_at is not None
    assert await ring.resolve(digest) == ResolvedKey()
    assert await ring.revoke(key.key_id) == ended
    subject = "cortex.v1.evt.key.mine"
    assert await ring.events() == [(subject, key.key_id, False), (subject, key.key_id, True)]
    assert ring.told == [(subject, key.key_id, True)]
    assert ring.woken
    await refused(ring.revoke("0" * 12), ErrorCode.NOT_FOUND)


async def test_two_who_revoke_at_the_same_time_announce_one_end(ring: Ring) -> None:
    key, _ = await ring.create()
    await asyncio.gather(*(ring.revoke(key.key_id) for _ in range(5)))
    assert [revoked for *_, revoked in await ring.events()] == [False, True]


async def test_a_key_stops_at_its_date(ring: Ring, postgres: PostgresDatabase) -> None:
    key, digest = await ring.create(expires_at=datetime.now(UTC) + timedelta(days=1))
    assert (await ring.resolve(digest)).key_id == key.key_id
    connection = await asyncpg.connect(postgres.migration_url)
    await connection.execute("UPDATE access_keys SET expires_at = now()")
    await connection.close()
    assert await ring.resolve(digest) == ResolvedKey()
    with pytest.raises(InvalidMessage, match="expires_at"):
        await ring.create(expires_at=datetime.now(UTC) - timedelta(seconds=1))


async def test_an_id_or_a_digest_is_taken_once(ring: Ring) -> None:
    key, digest = await ring.create()
    again = {"principal": OTHER_ORG, "subject": "thief"}
    for request in (
        CreateKeyRequest(key_id=key.key_id, digest="1" * 64, **again),
        CreateKeyRequest(key_id="0" * 12, digest=digest, **again),
    ):
        await refused(ring.keys.create(request), ErrorCode.CONFLICT)
    assert (await ring.resolve(digest)).principal is not None
    assert len(await ring.events()) == 1


async def test_only_owners_manage_keys(ring: Ring) -> None:
    key, _ = await ring.create()
    for attempt in (ring.create(MEMBER), ring.listed(MEMBER), ring.revoke(key.key_id, MEMBER)):
        assert "only the role owner" in await refused(attempt, ErrorCode.FORBIDDEN)


async def test_an_org_knows_nothing_of_the_keys_of_another(ring: Ring) -> None:
    key, digest = await ring.create()
    assert await ring.listed(OTHER_ORG) == []
    await refused(ring.revoke(key.key_id, OTHER_ORG), ErrorCode.NOT_FOUND)
    assert (await ring.resolve(digest)).principal is not None
    theirs, _ = await ring.create(OTHER_ORG)
    assert (await ring.listed(), await ring.listed(OTHER_ORG)) == ([key.key_id], [theirs.key_id])


async def test_keys_that_work_are_listed_before_those_that_ended_and_new_ones_first(ring: Ring) -> None:
    first, second, third = [(await ring.create())[0].key_id for _ in range(3)]
    await ring.revoke(third)
    assert await ring.listed() == [second, first, third]


@pytest.mark.parametrize(
    ("fields", "made"),
    [
        ({"readable": ("atlas",), "writable": ()}, True),
        ({"readable": ("atlas", "nile"), "writable": ("atlas",)}, True),
        ({"readable": ("atlas",)}, True),
        ({}, False),
        ({"readable": ("atlas",), "writable": None}, True),
        ({"writable": ("atlas",)}, False),
        ({"readable": ("nile",)}, False),
        ({"readable": ("nile",), "writable": ("nile",)}, False),
        ({"readable": ("atlas", "other"), "writable": ()}, False),
    ],
    ids=str,
)
async def test_a_narrowed_owner_makes_no_wider_key(ring: Ring, fields: dict[str, Any], made: bool) -> None:
    if made:
        key, _ = await ring.create(NARROW, **fields)
        assert await ring.listed(NARROW) == [key.key_id]
    else:
        assert "cannot reach further" in await refused(ring.create(NARROW, **fields), ErrorCode.FORBIDDEN)


async def test_a_narrowed_owner_gains_nothing_by_what_others_were_granted(ring: Ring) -> None:
    async with ring.database.transaction(OWNER) as connection:
        await grants.put(connection, grants.Grant("secret", "spy", Access.READ))
        await grants.put(connection, grants.Grant("nile", "writer", Access.WRITE))
        await grants.put(connection, grants.Grant("nile", "reader", Access.READ))
        await grants.put(connection, grants.Grant("secret", "lead", Access.READ))
    for subject in ("spy", "writer"):
        await refused(ring.create(NARROW, subject, readable=("atlas",)), ErrorCode.FORBIDDEN)
    await refused(ring.create(NARROW, "x", readable=("secret",), writable=()), ErrorCode.FORBIDDEN)
    await ring.create(NARROW, "reader", readable=("atlas",))
    await ring.create(NARROW, "lead", readable=("atlas",))
    await ring.create(OWNER, "spy")


async def test_a_narrowed_owner_neither_sees_nor_ends_wider_keys(ring: Ring) -> None:
    wide, digest = await ring.create()
    assert await ring.listed(NARROW) == []
    await refused(ring.revoke(wide.key_id, NARROW), ErrorCode.NOT_FOUND)
    assert (await ring.resolve(digest)).principal is not None


NAMES = st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(tuple)


@settings(deadline=None, max_examples=200)
@given(NAMES, NAMES, NAMES, NAMES)
def test_within_is_an_order_of_what_is_reached(
    readable: Any, writable: Any, other_readable: Any, other_writable: Any
) -> None:
    def reach(reads: Any, writes: Any) -> tuple[set[str], set[str]]:
        """As `bind_principal` has it; "*" beside the names stands for the rest of the org."""
        everything = {"a", "b", "c", "*"}
        writable = reads if writes is None else writes
        writing = everything if writable is None else set(writable)
        return (everything if reads is None else set(reads) | writing), writing

    principal = Principal(org="mine", subject="x", readable=readable, writable=writable)
    draft = KeyDraft(subject="y", readable=other_readable, writable=other_writable)
    outer, inner = reach(readable, writable), reach(other_readable, other_writable)
    assert within(principal, draft) == (inner[0] <= outer[0] and inner[1] <= outer[1])


async def test_the_use_of_a_key_is_recorded_behind(ring: Ring) -> None:
    key, digest = await ring.create()
    before = datetime.now(UTC)
    await ring.resolve(digest)
    await ring.resolve("0" * 64)
    assert await ring.uses.step() is False
    (listed,) = (await ring.keys.listed(KeysRequest(principal=OWNER))).keys
    assert listed.key_id == key.key_id
    assert listed.last_used_at is not None
    assert before <= listed.last_used_at <= datetime.now(UTC)
    assert ring.uses._waiting == {}


async def test_no_service_reads_a_digest_or_changes_what_a_key_is(ring: Ring, postgres: PostgresDatabase) -> None:
    await ring.create()
    for url in (postgres.runtime_url, postgres.sleep_url):
        connection = await asyncpg.connect(url)
        for statement in (
            "SELECT digest FROM access_keys",
            "SELECT * FROM access_keys",
            "UPDATE access_keys SET role = 'owner'",
            "UPDATE access_keys SET org = 'theirs'",
            "DELETE FROM access_keys",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
        await connection.close()


async def test_without_a_principal_no_key_is_seen(ring: Ring) -> None:
    await ring.create()
    count = "SELECT count(id) FROM access_keys"
    async with ring.database.unscoped() as connection:
        assert await connection.fetchval(count) == 0
    async with ring.database.transaction("mine") as connection:
        assert await connection.fetchval(count) == 0
    async with ring.database.transaction(OTHER_ORG) as connection:
        assert await connection.fetchval(count) == 0
        assert await connection.execute("UPDATE access_keys SET revoked_at = now()") == "UPDATE 0"
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(
                "INSERT INTO access_keys (id, org, digest, subject, role) "
                "VALUES ('000000000000', 'mine', decode(repeat('00', 32), 'hex'), 'x', 'owner')"
            )
