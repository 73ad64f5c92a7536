"""Composition root of recall: the only place that names what it stands on."""

from __future__ import annotations

from cortex_contracts.rpc import engine
from cortex_contracts.rpc.documents import DOCUMENT, DOCUMENTS
from cortex_contracts.rpc.pages import BRAIN_STATUS, GRAPH, PAGE, QUERY_PAGES, TIMELINE
from cortex_contracts.rpc.recall import CONTEXT, GET, RECALL
from cortex_providers import reranker as rerankers
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.embedder import configured
from cortex_providers.generations import Generations
from cortex_ranking import calibration
from cortex_ranking.query_vector import QueryVectors
from cortex_recall.access_log import AccessLog
from cortex_recall.brain_status import Status
from cortex_recall.config import RecallSettings
from cortex_recall.context import Context
from cortex_recall.contradictions import Contradictions
from cortex_recall.documents import Documents
from cortex_recall.hot_tier import HotTier
from cortex_recall.memory_engine import MemoryEngine
from cortex_recall.page_engine import PageEngine
from cortex_recall.page_query import PageFinder, PageQuery
from cortex_recall.page_reads import PageReads
from cortex_recall.provenance import Provenance
from cortex_recall.recall import Recall
from cortex_recall.result_cache import ResultCache
from cortex_runtime import logs
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel

log = logs.get(__name__)


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

    contradictions = Contradictions(database, relay.wake)
    service.background("contradictions", contradictions.run)

    hot_tier = HotTier(database)
    results = ResultCache(cache, Generations(cache), settings.recall_cache_ttl_s)
    recipe = settings.recall_recipe
    if not calibration.known(settings.embeddings_model) and recipe.cosine_floor == calibration.NEUTRAL.cosine_floor:
        log.warning(
            "embedding model was not measured: what is relevant is a guess until CORTEX_RECALL_RECIPE has its cosines",
            model=settings.embeddings_model,
            cosine_floor=recipe.cosine_floor,
            cosine_span=recipe.cosine_span,
        )
    backgrounds = calibration.backgrounds(settings.embeddings_model)
    recall = Recall(hot_tier, vectors, results, access_log, reranker, recipe, backgrounds, contradictions)
    service.bus.serve(RECALL, recall.recall)
    service.bus.serve(GET, Provenance(database, results).get)
    service.bus.serve(CONTEXT, Context(database).context)
    documents = Documents(database)
    service.bus.serve(DOCUMENT, documents.document)
    service.bus.serve(DOCUMENTS, documents.documents)
    finder = PageFinder(database, vectors, recipe, backgrounds)
    service.bus.serve(QUERY_PAGES, PageQuery(finder).query)
    reads = PageReads(database, settings.default_vault)
    service.bus.serve(PAGE, reads.page)
    service.bus.serve(GRAPH, reads.graph)
    service.bus.serve(TIMELINE, reads.timeline)
    service.bus.serve(BRAIN_STATUS, Status(database, vectors, model).status)
    memory = MemoryEngine(recall, hot_tier)
    pages = PageEngine(finder, hot_tier)
    for key, built_in in ((engine.MEMORY, memory), (engine.PAGES, pages)):
        service.bus.serve(engine.ask(key), built_in.ask)
        service.bus.serve(engine.health(key), built_in.health)
    return service
