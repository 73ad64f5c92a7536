"""The RPCs about syncs: ask for one, and see how far they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.rpc.ingest import SyncStatus, SyncStatusRequest
from cortex_contracts.rpc.pages import SyncQueued, SyncRequest, SyncStates, SyncStatesRequest
from cortex_ingest import handlers
from cortex_ingest.errors import UnknownVault
from cortex_ingest.poll import Publisher
from cortex_ingest.write_access import require_vault
from cortex_runtime.settings_vaults import VaultSource
from cortex_store import pages, vaults
from cortex_store.ids import uuid7
from cortex_writing.ports import Transactions

PAUSE_S: Final = 0.2
"""Between two commands for one vault. Who asks meanwhile waits for the next one, which begins after all of them asked:
a burst queues a few, and callers at their rate limit still leave most places for RPCs to others."""


class SyncCommands:
    """Queues syncs of one org's vaults. Each is asked for by every caller before it, and none by a caller after it."""

    def __init__(self, bus: Publisher, org: str, pause_s: float = PAUSE_S) -> None:
        self._bus = bus
        self._org = org
        self._pause_s = pause_s
        self._next: dict[str, asyncio.Task[None]] = {}
        self._sent_at: dict[str, float] = {}

    async def send(self, vault: VaultSource) -> None:
        """Queue a sync of a vault; returns when the bus has it.

        Raises:
            Unavailable: the bus did not confirm.
        """
        waiting = self._next.get(vault.name)
        if waiting is None:
            waiting = self._next[vault.name] = asyncio.create_task(self._publish(vault))
        # One caller that goes away must not take the others' command along.
        await asyncio.shield(waiting)

    async def _publish(self, vault: VaultSource) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(self._sent_at.get(vault.name, -self._pause_s) + self._pause_s - clock())
        # From here on the command may be taken up at any moment: who asks now needs the next one.
        self._sent_at[vault.name] = clock()
        del self._next[vault.name]
        command = SyncVault(reason=SyncReason.MANUAL, branch=vault.branch[:200])
        await self._bus.publish(subjects.sync(self._org, vault.name), command, message_id=f"manual:{uuid7()}")


class SyncRpc:
    """Serves `cortex.v1.rpc.ingest.sync`, `sync_states` and `sync_status` for the vaults of one org."""

    def __init__(
        self, database: Transactions, commands: SyncCommands, org: str, sources: Sequence[VaultSource]
    ) -> None:
        self._database = database
        self._commands = commands
        self._org = org
        self._sources = {source.name: source for source in sources}

    async def sync(self, request: SyncRequest) -> SyncQueued:
        """Queue the sync of one vault, or of all that the principal may write.

        Raises:
            UnknownVault: no vault of that name is configured for the principal's org.
            VaultForbidden: the principal may not write it.
            Unavailable: the bus or the database is away.
        """
        # The configured vaults are those of the configured org.
        sources = self._sources if request.principal.org == self._org else {}
        async with self._database.transaction(request.principal) as connection:
            if request.vault is not None:
                await require_vault(connection, request.vault)
                if request.vault not in sources:
                    raise _unknown(request.vault)
                wanted = [sources[request.vault]]
            else:
                wanted = [sources[name] for name in sorted(sources) if await pages.may_write(connection, name)]
        await asyncio.gather(*(self._commands.send(source) for source in wanted))
        return SyncQueued(vaults=tuple(source.name for source in wanted))

    async def states(self, request: SyncStatesRequest) -> SyncStates:
        """How far the vaults are that the principal may read, by name.

        Raises:
            UnknownVault: there is no such vault, or the principal may not read it.
            Unavailable: the database is away.
        """
        sources = self._sources if request.principal.org == self._org else {}
        async with self._database.transaction(request.principal) as connection:
            known = {state.vault: state for state in await vaults.listed(connection)}
            names = {name for name in sources if name in known or await vaults.may_read(connection, name)}
        found = {name: handlers.status(name, known.get(name)) for name in names | known.keys()}
        if request.vault is not None and request.vault not in found:
            raise _unknown(request.vault)
        wanted = sorted(found) if request.vault is None else [request.vault]
        return SyncStates(vaults=tuple(found[name] for name in wanted))

    async def status(self, request: SyncStatusRequest) -> SyncStatus:
        """How far one vault is.

        Raises:
            UnknownVault, Unavailable: as for `states`.
        """
        [found] = (await self.states(SyncStatesRequest(principal=request.principal, vault=request.vault))).vaults
        return found


def _unknown(vault: str) -> UnknownVault:
    return UnknownVault(f"there is no vault {vault!r} that is synced")
