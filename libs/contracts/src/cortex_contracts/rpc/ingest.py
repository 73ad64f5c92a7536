"""Ingest: everything that writes the hot tier."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from cortex_contracts.errors import ErrorBody
from cortex_contracts.messages.base import Message, Name, Principal, ShortText, Timestamp, Token
from cortex_contracts.messages.memory import MemoryDraft, Retained, Vector
from cortex_contracts.rpc.contract import Rpc


class RetainRequest(Message):
    """Remember one statement. It is found by its words and its meaning when the reply has come."""

    principal: Principal
    memory: MemoryDraft


MAX_BATCH = 500
"""Statements of one `retain_batch`; a message is limited to 1 MiB anyway."""


class RetainBatch(Message):
    """Statements to remember in their order; each succeeds or fails on its own.

    `embed` false: found by words at once, by meaning as soon as they are embedded behind. `vectors` are the embeddings
    of the contents, made by the caller with the recorded model; they must be named by `model`.
    """

    memories: tuple[MemoryDraft, ...] = Field(min_length=1, max_length=MAX_BATCH)
    embed: bool = True
    decide: bool = Field(default=True, description="false: add everything but exact repeats, for bulk loads")
    vectors: tuple[Vector, ...] | None = None
    model: ShortText | None = None
    background: bool = Field(default=False, description="do not wait: the reply names an operation; without `vectors`")


class RetainBatchRequest(RetainBatch):
    """Remember many statements, for one principal."""

    principal: Principal


class BatchItem(Message):
    """Outcome of one statement of a batch: exactly one of both."""

    retained: Retained | None = None
    error: ErrorBody | None = None


class RetainBatchReply(Message):
    """Outcomes in the order of the request; in the background there are none yet."""

    items: tuple[BatchItem, ...]
    operation_id: UUID | None = Field(default=None, description="with `background`: see the verb `operation`")


class MemoryRequest(Message):
    """One memory, by its id."""

    principal: Principal
    memory_id: UUID


class Changed(Message):
    """The state of a memory after a change; a change that had happened already is no error."""

    memory_id: UUID
    invalid_at: Timestamp | None
    superseded_by: UUID | None = None
    changed: bool


class Improve(Message):
    """Extract, score and index memories again, for instance after the rules became better: the named ones, or, in the
    background, all live ones of a namespace that were there when it started."""

    memory_ids: tuple[UUID, ...] = Field(default=(), max_length=MAX_BATCH)
    namespace: Token | None = Field(default=None, description="instead of ids")
    background: bool = Field(default=False, description="do not wait: the reply names an operation")


class ImproveRequest(Improve):
    """Extract, score and index memories again, for one principal."""

    principal: Principal


class Improved(Message):
    """How many were improved, and the ids that the principal does not have; in the background none yet."""

    improved: int = Field(ge=0)
    unknown: tuple[UUID, ...] = ()
    operation_id: UUID | None = Field(default=None, description="with `background`: see the verb `operation`")


class Access(StrEnum):
    """What a grant allows; to write includes to read."""

    NONE = "none"
    READ = "read"
    WRITE = "write"


class Share(Message):
    """An agent's access to a namespace, to grant or, with `none`, to take back."""

    namespace: Token
    agent: Name
    access: Access = Access.READ


class ShareRequest(Share):
    """Grant an agent access to a namespace, or take it back, for one principal."""

    principal: Principal


class Grant(Message):
    """What an agent may do in a namespace beyond its own credential."""

    namespace: Token
    agent: Name
    access: Access


class GrantsRequest(Message):
    """Which grants are there?"""

    principal: Principal
    namespace: Token | None = None


class Grants(Message):
    """Grants by namespace and agent."""

    grants: tuple[Grant, ...]


class BacklogRequest(Message):
    """What waits to be embedded or indexed?"""

    principal: Principal


class Backlog(Message):
    """Memories of the org that are found by words only so far, and how long the oldest has waited."""

    waiting: int = Field(ge=0)
    oldest_s: float | None = Field(default=None, ge=0.0)


class SyncStatusRequest(Message):
    """How far is a vault?"""

    principal: Principal
    vault: Token


class PageProblem(Message):
    """One page that could not be applied; the rest of the vault was."""

    path: str
    message: str


class SyncProgress(Message):
    """A sync that runs: how many of the files that changed were applied."""

    commit: ShortText
    done: int = Field(ge=0)
    total: int = Field(ge=0)
    started_at: Timestamp


class SyncStatus(Message):
    """State of one vault: `synced_commit` is what its pages equal."""

    vault: Token
    synced_commit: ShortText | None
    last_sync: Timestamp | None
    last_result: ShortText | None = Field(default=None, description="ok, partial or failed; none: never synced")
    pages_changed: int = Field(default=0, ge=0)
    errors: tuple[PageProblem, ...] = ()
    progress: SyncProgress | None = Field(default=None, description="none: no sync of it runs")


RETAIN = Rpc("ingest", "retain", RetainRequest, Retained, 30.0, "Remember one statement.")
RETAIN_BATCH = Rpc("ingest", "retain_batch", RetainBatchRequest, RetainBatchReply, 300.0, "Remember many statements.")
# A memory may have to come back from the cold tier first.
FORGET = Rpc("ingest", "forget", MemoryRequest, Changed, 30.0, "A memory stops being true; nothing is deleted.")
RESTORE = Rpc("ingest", "restore", MemoryRequest, Changed, 30.0, "Undo a forget.")
IMPROVE = Rpc("ingest", "improve", ImproveRequest, Improved, 60.0, "Extract, score and index memories again.")
SHARE = Rpc("ingest", "share", ShareRequest, Grant, 5.0, "Grant an agent access to a namespace, or take it back.")
GRANTS = Rpc("ingest", "grants", GrantsRequest, Grants, 2.0, "Who was granted what.")
BACKLOG = Rpc("ingest", "backlog", BacklogRequest, Backlog, 2.0, "What waits to be embedded.")
SYNC_STATUS = Rpc("ingest", "sync_status", SyncStatusRequest, SyncStatus, 2.0, "How far the sync of a vault is.")

INGEST_RPCS = (RETAIN, RETAIN_BATCH, FORGET, RESTORE, IMPROVE, SHARE, GRANTS, BACKLOG, SYNC_STATUS)
