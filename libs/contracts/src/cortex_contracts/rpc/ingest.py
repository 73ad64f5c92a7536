"""Ingest: what the writing side answers about its work."""

from __future__ import annotations

from pydantic import Field

from cortex_contracts.messages.base import Message, Principal, ShortText, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc


class SyncStatusRequest(Message):
    """How far is a vault?"""

    principal: Principal
    vault: Token


class PageProblem(Message):
    """One page that could not be applied; the rest of the vault was."""

    path: str
    message: str


class SyncStatus(Message):
    """State of one vault: `synced_commit` is what its pages equal."""

    vault: Token
    synced_commit: ShortText | None
    last_sync: Timestamp | None
    last_result: ShortText | None = Field(default=None, description="ok, partial or failed; none: never synced")
    pages_changed: int = Field(default=0, ge=0)
    errors: tuple[PageProblem, ...] = ()


SYNC_STATUS = Rpc("ingest", "sync_status", SyncStatusRequest, SyncStatus, 2.0, "How far the sync of a vault is.")
