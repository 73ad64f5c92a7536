"""The cold tier as an operator sees it, how much is there and whether it is whole; and the way back from it."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from cortex_contracts.messages.base import Message, Principal, ShortText, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc

MAX_DAMAGES = 500
MAX_THAWED = 500


class VerificationState(StrEnum):
    """How far a verification is."""

    RUNNING = "running"
    DONE = "done"
    """Everything was read, whatever was found."""
    FAILED = "failed"
    """It could not be read to the end; `reason` says why."""


class ColdDamage(Message):
    """Something that is not as it was written."""

    what: ShortText = Field(description="for example `file missing`, `row changed`, `batch differs`")
    where: ShortText = Field(description="name of the file or id of the batch")
    rows: int = Field(default=0, ge=0, description="how many rows are concerned")
    ids: tuple[UUID, ...] = Field(default=(), max_length=10, description="the first of them, where they are known")


class ColdVerification(Message):
    """One time that everything an org has in the cold tier was read again and compared with what went in."""

    verification_id: UUID
    state: VerificationState
    files_done: int = Field(default=0, ge=0)
    files: int | None = Field(default=None, ge=0)
    rows: int = Field(default=0, ge=0)
    batches: int = Field(default=0, ge=0)
    damaged: int = Field(default=0, ge=0, description="how many damages there are; `damages` lists the first ones")
    damages: tuple[ColdDamage, ...] = Field(default=(), max_length=MAX_DAMAGES)
    reason: ShortText | None = None
    began_at: Timestamp
    finished_at: Timestamp | None = None


class ColdNamespace(Message):
    """Memories of a namespace that left the hot tier; `size_bytes`: of their files, as they were written."""

    namespace: Token
    rows: int = Field(ge=0)
    size_bytes: int = Field(ge=0)
    unfinished: int = Field(default=0, ge=0, description="batches that are on their way")
    last_done_at: Timestamp | None = None


class ColdTableStatus(Message):
    """What the org has in the table. `snapshots` and `last_change_at` are those of the whole table."""

    rows: int = Field(ge=0)
    files: int = Field(ge=0)
    size_bytes: int = Field(ge=0)
    months: int = Field(ge=0)
    small_files: int = Field(ge=0, description="that maintenance will join")
    snapshots: int = Field(ge=0)
    last_change_at: Timestamp | None = None


class ColdStatusRequest(Message):
    """How is the cold tier? For principals that may read everything of their org."""

    principal: Principal


class ColdStatusReply(Message):
    """The cold tier of an org: `namespaces` by the database, `table` by the store itself."""

    namespaces: tuple[ColdNamespace, ...]
    table: ColdTableStatus | None = Field(default=None, description="none: the store does not answer, see `reason`")
    reason: ShortText | None = None
    verification: ColdVerification | None = Field(default=None, description="the latest one")


class ColdVerifyRequest(Message):
    """Read everything again, in the background; one that is under way is told instead."""

    principal: Principal
    verification_id: UUID | None = Field(default=None, description="tell how far this one is, begin nothing")


class ThawRequest(Message):
    """Bring memories back into the hot tier, because somebody is about to change them."""

    principal: Principal
    memory_ids: tuple[UUID, ...] = Field(min_length=1, max_length=MAX_THAWED)


class ThawReply(Message):
    """What came back. Others are hot already, or there is no such memory for the principal."""

    thawed: tuple[UUID, ...] = ()
    forbidden: tuple[UUID, ...] = Field(default=(), description="the principal may read them, and not write them")


# The first use of the cold tier imports its libraries, and a server may be silent for a while before it is given up.
COLD_STATUS = Rpc("sleep", "cold_status", ColdStatusRequest, ColdStatusReply, 60.0, "How the cold tier is.")
COLD_VERIFY = Rpc(
    "sleep", "cold_verify", ColdVerifyRequest, ColdVerification, 5.0, "Read the cold tier again and prove it."
)
THAW = Rpc("sleep", "thaw", ThawRequest, ThawReply, 25.0, "Bring memories back into the hot tier.")

COLD_RPCS = (COLD_STATUS, COLD_VERIFY, THAW)
