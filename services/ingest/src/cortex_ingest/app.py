"""Composition root of ingest: the only place that names what it stands on."""

from __future__ import annotations

from cortex_contracts.messages.commands import Capture, SyncVault
from cortex_contracts.rpc import ingest as rpc
from cortex_contracts.streams import INGEST_CAPTURES, INGEST_SYNCS
from cortex_ingest.announcements import Announcements
from cortex_ingest.captures import Captures, redacted_body
from cortex_ingest.changes import Changes
from cortex_ingest.config import IngestSettings
from cortex_ingest.git_repository import GitRepository
from cortex_ingest.handlers import Vaults
from cortex_ingest.indexing import Indexer, TermCounts
from cortex_ingest.memory_rpc import MemoryRpc
from cortex_ingest.poll import Poll
from cortex_ingest.retain import Retain
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.embedder import configured
from cortex_providers.generations import Generations
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_runtime.settings import VaultSource
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel


def build(settings: IngestSettings) -> Service:
    """The ingest service, ready to run."""
    service = Service(settings)
    database = service.use(
        "database", Database(settings.database_url.get_secret_value(), application_name="cortex-ingest", pool_size=16)
    )
    # Without the cache it is slower; without the model nothing can be written.
    cache = service.use("cache", Cache(settings.cache_url.get_secret_value()), required=False)
    service.use("model", RecordedModel(database, settings.embeddings_dimension, settings.embeddings_model))
    embedder = service.use("embedder", CachedEmbedder(configured(settings), cache))
    relay = OutboxRelay(database, service.bus)
    service.background("outbox", relay.run)

    # Memories ------------------------------------------------------------------------------------------------------
    generations = Generations(cache)
    indexer = Indexer(database, embedder, generations)
    counts = TermCounts(database)
    service.background("indexer", indexer.run)
    service.background("term_counts", counts.run)

    def committed() -> None:
        for worker in (relay, indexer, counts):
            worker.wake()

    announcements = Announcements(committed, generations)
    retain = Retain(database, embedder, announcements)
    service.bus.consume(INGEST_CAPTURES, Capture, Captures(retain).handle, dead_body=redacted_body)
    changes = Changes(database, embedder, announcements)
    memory = MemoryRpc(database, retain, changes, settings.embeddings_dimension)
    service.bus.serve(rpc.RETAIN, memory.retain)
    service.bus.serve(rpc.RETAIN_BATCH, memory.retain_batch)
    service.bus.serve(rpc.FORGET, memory.forget)
    service.bus.serve(rpc.RESTORE, memory.restore)
    service.bus.serve(rpc.IMPROVE, memory.improve)
    service.bus.serve(rpc.SHARE, memory.share)
    service.bus.serve(rpc.GRANTS, memory.grants)
    service.bus.serve(rpc.BACKLOG, memory.backlog)

    # Vaults --------------------------------------------------------------------------------------------------------
    def pages_of(org: str, vault: str) -> VaultPages:
        return VaultPages(database, org, vault, relay.wake)

    def sync_of(source: VaultSource, pages: VaultPages) -> VaultSync:
        mirror = settings.mirrors / settings.org / f"{source.name}.git"
        return VaultSync(GitRepository(source.repository, source.branch, mirror), pages, embedder)

    vaults = Vaults(settings.org, settings.vaults, pages_of, sync_of)
    service.bus.consume(INGEST_SYNCS, SyncVault, vaults.sync)
    service.bus.serve(rpc.SYNC_STATUS, vaults.status)
    service.background("poll", Poll(service.bus, settings.org, settings.vaults).run)
    return service
