"""Composition root of ingest: the only place that names what it stands on."""

from __future__ import annotations

import os
import socket

from cortex_contracts.messages.commands import Capture, SyncVault
from cortex_contracts.rpc import ingest as rpc
from cortex_contracts.rpc.documents import FORGET_DOCUMENT, RETAIN_DOCUMENT
from cortex_contracts.rpc.keys import CREATE_KEY, KEYS, RESOLVE_KEY, REVOKE_KEY
from cortex_contracts.rpc.operations import (
    CANCEL_OPERATION,
    OPERATION,
    OPERATIONS,
    RETRY_OPERATION,
    STAGE_DOCUMENT,
    START_DOCUMENT,
)
from cortex_contracts.rpc.pages import DELETE_PAGE, IMPORT_PAGE, PUT_PAGE, SYNC, SYNC_STATES
from cortex_contracts.rpc.usage import RECORD_USAGE, USAGE
from cortex_contracts.streams import INGEST_CAPTURES, INGEST_SYNCS
from cortex_ingest.access_keys import AccessKeys, KeyUses
from cortex_ingest.awaited_passages import AwaitedPassages
from cortex_ingest.captures import Captures, redacted_body
from cortex_ingest.changes import Changes
from cortex_ingest.cold_tier import ColdTier
from cortex_ingest.config import IngestSettings
from cortex_ingest.document_operations import DocumentKind
from cortex_ingest.document_rpc import DocumentRpc
from cortex_ingest.documents import Documents
from cortex_ingest.endings import Endings
from cortex_ingest.git_access import Access
from cortex_ingest.git_repository import GitRepository
from cortex_ingest.handlers import Vaults
from cortex_ingest.indexing import Indexer, TermCounts
from cortex_ingest.memory_rpc import MemoryRpc
from cortex_ingest.operation_kinds import ImproveKind, RetainBatchKind
from cortex_ingest.operation_worker import Kind, OperationWorker
from cortex_ingest.operations import Operations
from cortex_ingest.page_rpc import PageRpc
from cortex_ingest.page_words import PageWords
from cortex_ingest.page_writes import PageWrites
from cortex_ingest.poll import Poll
from cortex_ingest.retain import Retain
from cortex_ingest.sweep import Sweep
from cortex_ingest.sync_rpc import SyncCommands, SyncRpc
from cortex_ingest.usage import UsageRpc
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.classifier import configured as configured_classifier
from cortex_providers.embedder import configured
from cortex_providers.engine import configured as configured_engine
from cortex_providers.generations import Generations
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_runtime.settings_vaults import VaultSource
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel
from cortex_writing.announcements import Announcements


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
    # Without these two the built-in rules work, and each reply says so.
    engine = service.use("engine", configured_engine(settings), required=False)
    classifier = service.use("classifier", configured_classifier(settings), required=False)
    relay = OutboxRelay(database, service.bus)
    service.background("outbox", relay.run)

    # Memories ------------------------------------------------------------------------------------------------------
    generations = Generations(cache)
    indexer = Indexer(database, embedder, generations)
    counts = TermCounts(database)
    service.background("indexer", indexer.run)
    service.background("term_counts", counts.run)
    service.background("page_words", PageWords(database).run)
    service.background("endings", Endings(database, generations).run)

    def committed() -> None:
        for worker in (relay, indexer, counts):
            worker.wake()

    announcements = Announcements(committed, generations)
    retain = Retain(database, embedder, announcements, engine=engine, classifier=classifier)
    service.bus.consume(INGEST_CAPTURES, Capture, Captures(retain).handle, dead_body=redacted_body)
    cold = ColdTier(database, service.bus)
    changes = Changes(database, embedder, announcements, engine=engine, cold=cold)

    def queued() -> None:
        worker.wake()

    operations = Operations(database, queued)
    batches = RetainBatchKind(operations, retain)
    improvements = ImproveKind(database, operations, changes)
    memory = MemoryRpc(database, retain, changes, settings.embeddings_dimension, batches, improvements)
    service.bus.serve(rpc.RETAIN, memory.retain)
    service.bus.serve(rpc.RETAIN_BATCH, memory.retain_batch)
    service.bus.serve(rpc.FORGET, memory.forget)
    service.bus.serve(rpc.RESTORE, memory.restore)
    service.bus.serve(rpc.IMPROVE, memory.improve)
    service.bus.serve(rpc.SHARE, memory.share)
    service.bus.serve(rpc.GRANTS, memory.grants)
    service.bus.serve(rpc.BACKLOG, memory.backlog)
    documents = Documents(database, embedder, announcements, engine=engine)
    document = DocumentRpc(documents)
    service.bus.serve(RETAIN_DOCUMENT, document.retain)
    service.bus.serve(FORGET_DOCUMENT, document.forget)

    # Operations ----------------------------------------------------------------------------------------------------
    long_documents = DocumentKind(database, operations, documents)
    kinds: dict[str, Kind] = {kind.name: kind for kind in (batches, improvements, long_documents)}
    worker = OperationWorker(database, f"{socket.gethostname()}:{os.getpid()}", kinds)
    service.background("operations", worker.run)
    service.bus.serve(OPERATION, operations.get)
    service.bus.serve(OPERATIONS, operations.listed)
    service.bus.serve(CANCEL_OPERATION, operations.cancel)
    service.bus.serve(RETRY_OPERATION, operations.retry)
    service.bus.serve(STAGE_DOCUMENT, long_documents.stage)
    service.bus.serve(START_DOCUMENT, long_documents.start)

    # Usage ---------------------------------------------------------------------------------------------------------
    usage = UsageRpc(database)
    service.bus.serve(RECORD_USAGE, usage.record)
    service.bus.serve(USAGE, usage.totals)

    # Keys ----------------------------------------------------------------------------------------------------------
    uses = KeyUses(database)
    service.background("key_uses", uses.run)
    keys = AccessKeys(database, uses, relay.wake, service.bus)
    service.bus.serve(CREATE_KEY, keys.create)
    service.bus.serve(KEYS, keys.listed)
    service.bus.serve(REVOKE_KEY, keys.revoke)
    service.bus.serve(RESOLVE_KEY, keys.resolve)

    # Vaults --------------------------------------------------------------------------------------------------------
    def pages_of(org: str, vault: str) -> VaultPages:
        return VaultPages(database, org, vault, relay.wake)

    def sync_of(source: VaultSource, pages: VaultPages) -> VaultSync:
        mirror = settings.mirrors / settings.org / f"{source.name}.git"
        access = Access(source.token.get_secret_value(), source.ssh_key, source.known_hosts)
        return VaultSync(GitRepository(source.repository, source.branch, mirror, access), pages, embedder)

    vaults = Vaults(settings.org, settings.vaults, pages_of, sync_of)
    service.bus.consume(INGEST_SYNCS, SyncVault, vaults.sync)
    syncs = SyncRpc(database, SyncCommands(service.bus, settings.org), settings.org, settings.vaults)
    service.bus.serve(SYNC, syncs.sync)
    service.bus.serve(SYNC_STATES, syncs.states)
    service.bus.serve(rpc.SYNC_STATUS, syncs.status)
    service.background("poll", Poll(service.bus, settings.org, settings.vaults).run)

    # Pages ---------------------------------------------------------------------------------------------------------
    page = PageRpc(PageWrites(database, AwaitedPassages(embedder), settings.default_vault, committed))
    service.bus.serve(PUT_PAGE, page.put)
    service.bus.serve(IMPORT_PAGE, page.import_)
    service.bus.serve(DELETE_PAGE, page.delete)
    service.background("sweep", Sweep(database, embedder, settings.ingest_sweep_hour).run)
    return service
