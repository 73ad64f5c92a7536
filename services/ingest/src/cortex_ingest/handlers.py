"""Sync commands: message in, use case; and the state of a vault as a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.rpc.ingest import PageProblem, SyncProgress, SyncStatus
from cortex_ingest.errors import RepositoryUnreachable, UnknownVault
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import WHOLE_VAULT, VaultSync
from cortex_runtime import logs
from cortex_runtime.bus import Delivery
from cortex_runtime.settings_vaults import VaultSource
from cortex_store.vaults import PageFailure, Vault

FETCH_ATTEMPTS: Final = 8
"""About a minute of growing pauses. Later the poll tries again: a repository that is gone for good must not hold one of
the few places for syncs that all vaults share."""

TOLD_BYTES: Final = 100_000
"""Of a vault's errors in a message, which is limited to 1 MiB and may tell of several vaults."""

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

    def _source(self, org: str, name: str) -> VaultSource:
        # The configured vaults are those of the configured org; another org must not get their pages.
        if org != self._org or name not in self._sources:
            raise UnknownVault(f"no vault {name!r} is configured for the org {org!r}")
        return self._sources[name]


def status(name: str, state: Vault | None) -> SyncStatus:
    """The state of a vault as a message; none: it was never synced. Of many errors the first by path are told, and how
    many more there are."""
    if state is None:
        return SyncStatus(vault=name, synced_commit=None, last_sync=None)
    return SyncStatus(
        vault=name,
        synced_commit=state.synced_commit,
        last_sync=state.last_sync,
        last_result=state.last_result,
        pages_changed=state.pages_changed,
        errors=_problems(state.errors),
        progress=None
        if state.progress is None
        else SyncProgress(
            commit=state.progress.commit,
            done=state.progress.done,
            total=state.progress.total,
            started_at=state.progress.started_at,
        ),
    )


def _problems(errors: Sequence[PageFailure]) -> tuple[PageProblem, ...]:
    told: list[PageProblem] = []
    size = 0
    for error in errors:
        size += len(error.path.encode()) + len(error.message.encode())
        if size > TOLD_BYTES:
            message = f"and {len(errors) - len(told)} more"
            return (*told, PageProblem(path=WHOLE_VAULT, message=message))
        told.append(PageProblem(path=error.path, message=error.message))
    return tuple(told)
