"""Keys of agents: who makes, lists and ends them, and whose a key is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from cortex_contracts import subjects
from cortex_contracts.errors import ErrorCode, InvalidMessage, Permanent
from cortex_contracts.messages.base import Message, Principal
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.rpc.ingest import Access
from cortex_contracts.rpc.keys import (
    CreateKeyRequest,
    Key,
    KeyDraft,
    Keys,
    KeysRequest,
    ResolvedKey,
    ResolveKeyRequest,
    RevokeKeyRequest,
    Role,
)
from cortex_runtime import outbox
from cortex_runtime.worker import Worker
from cortex_store import access_keys, grants
from cortex_store.connection import Connection
from cortex_store.grants import Grant
from cortex_store.ids import uuid7
from cortex_writing.ports import Transactions, Unscoped

MOST_USES: Final = 10_000
"""Keys whose use waits to be recorded; the uses of more are not."""


class KeyDatabase(Transactions, Unscoped, Protocol):
    """Transactions of a principal, and those before anybody is known."""


class Tells(Protocol):
    """Says something to who listens now."""

    async def tell(self, subject: str, message: Message, *, message_id: str) -> None:
        """Never fails."""
        ...


class KeyUses(Worker):
    """Records when keys were used last, behind the answers: gateways ask about a key at most every few seconds."""

    trouble = "uses of keys are not recorded"

    def __init__(self, database: Unscoped) -> None:
        super().__init__()
        self._database = database
        self._waiting: dict[str, datetime] = {}

    def used(self, key_id: str) -> None:
        """A key was used just now."""
        if len(self._waiting) < MOST_USES or key_id in self._waiting:
            self._waiting[key_id] = datetime.now(UTC)

    async def step(self) -> bool:
        """Record what waits.

        Raises:
            Unavailable: the database is away; it goes on waiting.
        """
        recorded = dict(self._waiting)
        if recorded:
            async with self._database.unscoped() as connection:
                await access_keys.touch(connection, recorded)
            self._waiting = {key: at for key, at in self._waiting.items() if recorded.get(key) != at}
        return False


class AccessKeys:
    """Serves the RPCs of `cortex_contracts.rpc.keys`."""

    def __init__(self, database: KeyDatabase, uses: KeyUses, committed: Callable[[], None], bus: Tells) -> None:
        """`committed` is called after each commit that left an event in the outbox. The `bus` is told the end of a key
        directly, too: in the outbox it may stand behind the events of a whole import."""
        self._database = database
        self._uses = uses
        self._committed = committed
        self._bus = bus

    async def create(self, request: CreateKeyRequest) -> Key:
        """Remember a key.

        Raises:
            Permanent: the principal manages no keys, or none that reach this far; or the id is taken.
        """
        principal = request.principal
        _require_owner(principal)
        if request.expires_at is not None and request.expires_at <= datetime.now(UTC):
            raise InvalidMessage("expires_at: expected a time to come")
        async with self._database.transaction(principal) as connection:
            await _require_reach(connection, principal, request)
            key = await access_keys.insert(connection, request.key_id, bytes.fromhex(request.digest), request)
            if key is None:
                raise Permanent("there is such a key already: make another one", code=ErrorCode.CONFLICT)
            await _announce(connection, principal.org, key.key_id, revoked=False)
        self._committed()
        return key

    async def listed(self, request: KeysRequest) -> Keys:
        """The keys of the org that reach no further than the principal.

        Raises:
            Permanent: the principal manages no keys.
        """
        principal = request.principal
        _require_owner(principal)
        async with self._database.transaction(principal) as connection:
            found = await access_keys.listed(connection)
        return Keys(keys=tuple(key for key in found if within(principal, key)))

    async def revoke(self, request: RevokeKeyRequest) -> Key:
        """End a key. To end it again changes nothing.

        Raises:
            Permanent: the principal manages no keys, or there is no such one that it manages.
        """
        principal = request.principal
        _require_owner(principal)
        async with self._database.transaction(principal) as connection:
            key = await access_keys.get(connection, request.key_id)
            if key is None or not within(principal, key):
                raise Permanent(f"there is no key {request.key_id}", code=ErrorCode.NOT_FOUND)
            event = None
            if await access_keys.revoke(connection, key.key_id):
                event = await _announce(connection, principal.org, key.key_id, revoked=True)
            key = await access_keys.get(connection, key.key_id)
        if event is not None:
            await self._bus.tell(subjects.key_event(event.org), event, message_id=str(event.event_id))
        self._committed()
        assert key is not None, "keys are not deleted"
        return key

    async def resolve(self, request: ResolveKeyRequest) -> ResolvedKey:
        """Whose key this is."""
        async with self._database.unscoped() as connection:
            found = await access_keys.resolve(connection, bytes.fromhex(request.digest))
        if found is None:
            return ResolvedKey()
        self._uses.used(found.key_id)
        return ResolvedKey(key_id=found.key_id, principal=found.principal, expires_at=found.expires_at)


def within(principal: Principal, key: Key | KeyDraft) -> bool:
    """Whether a key reads and writes nothing that the principal's own credentials do not; what the subject of either
    was granted beside does not count."""
    may_read, may_write = _reach(principal)
    reads, writes = _reach(key)
    return _covers(may_read, reads) and _covers(may_write, writes)


def _reach(one: Principal | Key | KeyDraft) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """What is read and written, as bind_principal() has it; none: all."""
    writable = one.readable if one.writable is None else one.writable
    writes = None if writable is None else frozenset(writable)
    reads = None if one.readable is None else frozenset(one.readable) | (writes or frozenset())
    return reads, writes


def _covers(outer: frozenset[str] | None, inner: frozenset[str] | None) -> bool:
    return outer is None or (inner is not None and inner <= outer)


def _require_owner(principal: Principal) -> None:
    if principal.role != Role.OWNER:
        raise Permanent("only the role owner manages keys", code=ErrorCode.FORBIDDEN)


async def _require_reach(connection: Connection, principal: Principal, draft: KeyDraft) -> None:
    """Raises Permanent when the key would reach further than the principal, also by what its subject was granted."""
    reads, writes = _reach(principal)
    granted: tuple[Grant, ...] = ()
    if draft.subject != principal.subject and (reads is not None or writes is not None):
        granted = await grants.of_agent(connection, draft.subject)
    beyond = any(
        not _covers(writes if one.access is Access.WRITE else reads, frozenset({one.namespace})) for one in granted
    )
    if beyond or not within(principal, draft):
        raise Permanent("a key cannot reach further than the credentials that make it", code=ErrorCode.FORBIDDEN)


async def _announce(connection: Connection, org: str, key_id: str, *, revoked: bool) -> KeyEvent:
    event = KeyEvent(event_id=uuid7(), org=org, key_id=key_id, revoked=revoked, occurred_at=datetime.now(UTC))
    await outbox.enqueue(connection, subjects.key_event(org), str(event.event_id), event)
    return event
