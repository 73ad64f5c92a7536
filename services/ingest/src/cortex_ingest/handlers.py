"""Sync commands and questions about vaults: message in, use case, message out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.rpc.ingest import PageProblem, SyncStatus, SyncStatusRequest
from cortex_ingest.errors import RepositoryUnreachable, UnknownVault
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync
from cortex_runtime import logs
from cortex_runtime.bus import Delivery
from cortex_runtime.settings import VaultSource

FETCH_ATTEMPTS: Final = 8
"""About a minute of growing pauses. Later the poll tries again: a repository that is gone for good must not hold one of
the few places for syncs that all vaults share."""

log = logs.get(__name__)


class Vaults:
    """The vaults of one org as the bus sees them."""

    def __init__(
        self,
        org: str,
        sources: Sequence[VaultSource],
        pages_of: Callable[[str, str], VaultPages],
        sync_of: Callable[[VaultSource, VaultPages], VaultSync],
    ) -> None:
        self._org = org
        self._sources: Mapping[str, VaultSource] = {source.name: source for source in sources}
        self._pages_of = pages_of
        self._sync_of = sync_of

    async def sync(self, command: SyncVault, delivery: Delivery) -> None:
        """`cortex.v1.cmd.sync.<org>.<vault>`: the subject says which vault, the configuration where it is.

        Raises:
            UnknownVault: there is no such vault in this installation.
            Retryable: the repository, the embedder or the database is away, or another replica is at it.
        """
        try:
            org, name = subjects.parse_sync(delivery.subject)
        except ValueError as error:
            raise InvalidMessage(str(error)) from None
        source = self._source(org, name)
        sync = self._sync_of(source, self._pages_of(org, name))
        try:
            await sync.run(delivery.message_id, quiet=command.reason is SyncReason.POLL)
        except RepositoryUnreachable as error:
            if delivery.deliveries < FETCH_ATTEMPTS:
                raise
            log.warning("sync given up until the next poll", vault=name, reason=error.message)

    async def status(self, request: SyncStatusRequest) -> SyncStatus:
        """`cortex.v1.rpc.ingest.sync_status`.

        Raises:
            UnknownVault: the asking org has no such vault.
        """
        org = request.principal.org
        state = await self._pages_of(org, request.vault).state()
        if state is None:
            self._source(org, request.vault)
            return SyncStatus(vault=request.vault, synced_commit=None, last_sync=None)
        return SyncStatus(
            vault=request.vault,
            synced_commit=state.synced_commit,
            last_sync=state.last_sync,
            last_result=state.last_result,
            pages_changed=state.pages_changed,
            errors=tuple(PageProblem(path=error.path, message=error.message) for error in state.errors),
        )

    def _source(self, org: str, name: str) -> VaultSource:
        # The configured vaults are those of the configured org; another org must not get their pages.
        if org != self._org or name not in self._sources:
            raise UnknownVault(f"no vault {name!r} is configured for the org {org!r}")
        return self._sources[name]
