"""Keys: what agents and scripts prove themselves with, one for each of them.

A key is `ctx_<id>_<secret>`. The gateway makes it and shows it once; only its SHA-256 crosses the bus and is stored. A
slow, salted hash protects secrets that people choose. This one has 256 random bits: neither guessing nor a table made
in advance finds it (NIST SP 800-63B, revision 3, section 5.1.2.2: from 112 bits on a plain hash is enough), and its
digest can be looked up by an index.

Only the role `owner` makes, lists and revokes keys, and none that reach further than its own credentials do. Whoever
makes keys chooses the subjects that they speak for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import Message, Name, Principal, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc

KEY_ID_PATTERN: Final = r"^[0-9a-f]{12}$"
KeyId = Annotated[str, StringConstraints(pattern=KEY_ID_PATTERN)]
"""The readable part of a key: it names it and proves nothing."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 of the whole key, in hex."""

MAX_KEY_NAMESPACES = 64
MAX_KEYS_LISTED = 500

Namespaces = Annotated[tuple[Token, ...], Field(max_length=MAX_KEY_NAMESPACES)]


class Role(StrEnum):
    """What a principal may do beside reading and writing."""

    OWNER = "owner"
    """Manages the keys of its org."""
    MEMBER = "member"


class KeyDraft(Message):
    """A key to be made."""

    subject: Name = Field(description="the agent that it is for")
    role: Role = Role.MEMBER
    readable: Namespaces | None = Field(default=None, description="namespaces; none: all of the org")
    writable: Namespaces | None = Field(default=None, description="namespaces; none: all of the org")
    expires_at: Timestamp | None = Field(default=None, description="none: never")


class Key(Message):
    """A key as it is listed: everything but the secret."""

    key_id: KeyId
    subject: str
    role: Role
    readable: tuple[Token, ...] | None = None
    writable: tuple[Token, ...] | None = None
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp | None = None
    revoked_at: Timestamp | None = None
    last_used_at: Timestamp | None = Field(default=None, description="to about a minute")


class CreateKeyRequest(KeyDraft):
    """Remember a key that the caller has made."""

    principal: Principal
    key_id: KeyId
    digest: Digest


class KeysRequest(Message):
    """The keys of the principal's org."""

    principal: Principal


class Keys(Message):
    """Those that work first, then those that were revoked; the newest first."""

    keys: tuple[Key, ...] = Field(max_length=MAX_KEYS_LISTED)


class RevokeKeyRequest(Message):
    """End a key for good."""

    principal: Principal
    key_id: KeyId


class ResolveKeyRequest(Message):
    """Whose key has this digest?"""

    digest: Digest


class ResolvedKey(Message):
    """The principal that a key proves; none: there is no such key, or it was revoked or has expired."""

    key_id: KeyId | None = None
    principal: Principal | None = None
    expires_at: Timestamp | None = None


CREATE_KEY = Rpc("ingest", "create_key", CreateKeyRequest, Key, 5.0, "Remember a new key.")
KEYS = Rpc("ingest", "keys", KeysRequest, Keys, 5.0, "The keys of an org.")
REVOKE_KEY = Rpc("ingest", "revoke_key", RevokeKeyRequest, Key, 5.0, "End a key.")
RESOLVE_KEY = Rpc("ingest", "resolve_key", ResolveKeyRequest, ResolvedKey, 2.0, "Whose key this is.")

KEY_RPCS = (CREATE_KEY, KEYS, REVOKE_KEY, RESOLVE_KEY)
