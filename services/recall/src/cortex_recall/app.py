"""Composition root of recall: the only place that names what it stands on."""

from __future__ import annotations

from cortex_contracts.rpc import engine
from cortex_contracts.rpc.recall import CONTEXT, GET, RECALL
from cortex_providers import reranker as rerankers
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.embedder import configured
from cortex_providers.generations import Generations
from cortex_recall.access_log import AccessLog
from cortex_recall.config import RecallSettings
from cortex_recall.context import Context
from cortex_recall.hot_tier import HotTier
from cortex_recall.memory_engine import MemoryEngine
from cortex_recall.page_engine import PageEngine
from cortex_recall.provenance import Provenance
from cortex_recall.query_vector import QueryVectors
from cortex_recall.recall import Recall
from cortex_recall.result_cache import ResultCache
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel


def build(settings: RecallSettings) -> Service:
    """The recall service, ready to run."""
    service = Service(settings)
    database = service.use(
        "database", Database(settings.database_url.get_secret_value(), application_name="cortex-recall")
    )
    model = service.use("model", RecordedModel(database, settings.embeddings_dimension, settings.embeddings_model))
    # Neither is needed to answer: without the cache it is slower, without the embedder it goes by words and says so.
    cache = service.use("cache", Cache(settings.cache_url.get_secret_value()), required=False)
    vectors = service.use("embedder", QueryVectors(CachedEmbedder(configured(settings), cache), model), required=False)
    reranker = service.use("reranker", rerankers.configured(settings), required=False)
    relay = OutboxRelay(database, service.bus)
    service.background("outbox", relay.run)
    access_log = AccessLog(database, relay.wake)
    service.background("access_log", access_log.run)

    hot_tier = HotTier(database)
    results = ResultCache(cache, Generations(cache), settings.recall_cache_ttl_s)
    recall = Recall(hot_tier, vectors, results, access_log, reranker, settings.recall_recipe)
    service.bus.serve(RECALL, recall.recall)
    service.bus.serve(GET, Provenance(database, results).get)
    service.bus.serve(CONTEXT, Context(database).context)
    memory = MemoryEngine(recall, hot_tier)
    pages = PageEngine(hot_tier, vectors)
    for key, built_in in ((engine.MEMORY, memory), (engine.PAGES, pages)):
        service.bus.serve(engine.ask(key), built_in.ask)
        service.bus.serve(engine.health(key), built_in.health)
    return service
