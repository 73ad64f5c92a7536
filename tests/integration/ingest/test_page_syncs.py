"""Who may ask for syncs, and see how far they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Message, Principal
from cortex_contracts.rpc.ingest import SyncStatusRequest
from cortex_contracts.rpc.pages import SyncRequest, SyncStates, SyncStatesRequest
from cortex_ingest.sync_rpc import SyncCommands, SyncRpc
from cortex_runtime.publishing import Published
from cortex_runtime.settings_vaults import VaultSource
from cortex_store import vaults
from cortex_store.database import Database
from cortex_store.vaults import SyncResult

OWNER = Principal(org="local", subject="owner")
WORKER = Principal(org="local", subject="worker", readable=("notes",), writable=("work",))
STRANGER = Principal(org="stranger", subject="owner")
SOURCES = tuple(VaultSource(name=name, repository=f"/srv/{name}") for name in ("work", "notes", "lab"))


class Git(Protocol):
    commit: Callable[[dict[str, Any]], str]


class Vault(Protocol):
    database: Database
    git: Git
    sync: Callable[..., Awaitable[Any]]


class Bus:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        self.asked.append(subject)
        return Published("SYNCS", len(self.asked), duplicate=False)


@pytest.fixture
def bus() -> Bus:
    return Bus()


@pytest.fixture
def syncs(vault: Vault, bus: Bus) -> SyncRpc:
    return SyncRpc(vault.database, SyncCommands(bus, "local", pause_s=0), "local", SOURCES)


async def names(states: Awaitable[SyncStates]) -> list[str]:
    return [one.vault for one in (await states).vaults]


async def test_a_sync_of_one_vault_or_of_all_that_may_be_written_is_queued(syncs: SyncRpc, bus: Bus) -> None:
    assert (await syncs.sync(SyncRequest(principal=OWNER))).vaults == ("lab", "notes", "work")
    assert (await syncs.sync(SyncRequest(principal=WORKER))).vaults == ("work",)
    assert (await syncs.sync(SyncRequest(principal=OWNER, vault="notes"))).vaults == ("notes",)
    assert (await syncs.sync(SyncRequest(principal=STRANGER))).vaults == ()
    asked = [subject.removeprefix("cortex.v1.cmd.sync.local.") for subject in bus.asked]
    assert (sorted(asked[:3]), asked[3:]) == (["lab", "notes", "work"], ["work", "notes"])


@pytest.mark.parametrize(
    ("principal", "name", "code"),
    [
        (OWNER, "unknown", ErrorCode.NOT_FOUND),
        (STRANGER, "notes", ErrorCode.NOT_FOUND),
        (WORKER, "notes", ErrorCode.FORBIDDEN),
        (WORKER, "unknown", ErrorCode.FORBIDDEN),
    ],
)
async def test_no_other_sync_is(syncs: SyncRpc, bus: Bus, principal: Principal, name: str, code: ErrorCode) -> None:
    with pytest.raises(CortexError) as refused:
        await syncs.sync(SyncRequest(principal=principal, vault=name))
    assert refused.value.code is code
    assert bus.asked == []


async def test_every_configured_or_synced_vault_that_may_be_read_is_told(syncs: SyncRpc, vault: Vault) -> None:
    head = vault.git.commit({"a.md": "a"})
    await vault.sync()
    async with vault.database.transaction("local") as connection:
        # Synced once, and configured no longer.
        await vaults.record_sync(connection, "former", SyncResult.OK, synced_commit="b" * 40, pages_changed=3)
        await vaults.progress(connection, "work", "c" * 40, 5, 10)
    former, lab, notes, work = (await syncs.states(SyncStatesRequest(principal=OWNER))).vaults
    assert (lab.vault, lab.last_sync, lab.progress) == ("lab", None, None)
    assert (former.vault, former.pages_changed) == ("former", 3)
    assert (notes.vault, notes.synced_commit, notes.last_result, notes.progress) == ("notes", head, "ok", None)
    assert work.progress is not None
    assert (work.progress.commit, work.progress.done, work.progress.total) == ("c" * 40, 5, 10)

    assert await names(syncs.states(SyncStatesRequest(principal=WORKER))) == ["notes", "work"]
    assert await names(syncs.states(SyncStatesRequest(principal=STRANGER))) == []
    assert await names(syncs.states(SyncStatesRequest(principal=OWNER, vault="former"))) == ["former"]
    assert await syncs.status(SyncStatusRequest(principal=WORKER, vault="notes")) == notes


@pytest.mark.parametrize(("principal", "name"), [(OWNER, "unknown"), (STRANGER, "notes"), (WORKER, "lab")])
async def test_of_no_other_vault_anything_is_told(syncs: SyncRpc, principal: Principal, name: str) -> None:
    with pytest.raises(CortexError) as refused:
        await syncs.states(SyncStatesRequest(principal=principal, vault=name))
    assert refused.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(CortexError) as refused:
        await syncs.status(SyncStatusRequest(principal=principal, vault=name))
    assert refused.value.code is ErrorCode.NOT_FOUND
