"""The keys of agents on behalf of an owner. Who may manage which is decided behind the bus."""

from __future__ import annotations

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.keys import (
    CREATE_KEY,
    KEYS,
    REVOKE_KEY,
    CreateKeyRequest,
    Key,
    KeyDraft,
    Keys,
    KeysRequest,
    RevokeKeyRequest,
)
from cortex_gateway.auth_keys import AgentKeys, NewKey
from cortex_runtime.bus import Bus


class CreatedKey(Key):
    """A key with its secret, which is shown this once."""

    key: str


class KeyRing:
    """Calls the service that keeps the keys.

    Every verb raises CortexError: forbidden for the principal, not found, or unavailable.
    """

    def __init__(self, bus: Bus, verifier: AgentKeys) -> None:
        self._bus = bus
        self._verifier = verifier

    async def create(self, principal: Principal, draft: KeyDraft) -> CreatedKey:
        """Make a key. Only its digest leaves this process, but in the answer."""
        new = NewKey.make()
        request = CreateKeyRequest(principal=principal, key_id=new.key_id, digest=new.digest, **dict(draft))
        made = await self._bus.request(CREATE_KEY, request)
        return CreatedKey(key=new.key, **dict(made))

    async def listed(self, principal: Principal) -> Keys:
        """The keys there are."""
        return await self._bus.request(KEYS, KeysRequest(principal=principal))

    async def revoke(self, principal: Principal, key_id: str) -> Key:
        """End a key, here at once and in other gateways when they hear of it."""
        ended = await self._bus.request(REVOKE_KEY, RevokeKeyRequest(principal=principal, key_id=key_id))
        self._verifier.forget(key_id)
        return ended
