"""Composition root of sleep: the only place that names what it stands on."""

from __future__ import annotations

from cortex_contracts.messages.events import MemoryEvent, WakeEvent
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.archive import CHAIN_ARCHIVED, GET_ARCHIVED, RECALL_ARCHIVE
from cortex_contracts.rpc.cold import COLD_STATUS, COLD_VERIFY, THAW
from cortex_contracts.rpc.sleep import SLEEP_RUN, SLEEP_RUNS, SLEEP_STATUS, SLEEP_STOP
from cortex_contracts.streams import SLEEP_MEMORY_EVENTS, SLEEP_WAKES
from cortex_providers import embedder as embedders
from cortex_providers import summariser as summarisers
from cortex_providers.cache import Cache, CachedEmbedder
from cortex_providers.generations import Generations
from cortex_ranking import calibration
from cortex_ranking.query_vector import NoVectors, QueryVectors, VectorSource
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_runtime.settings_models import LanguageModelPurpose
from cortex_sleep.archive.archive import Archive
from cortex_sleep.archive.engine import ArchiveEngine
from cortex_sleep.cold import configured, upkeep
from cortex_sleep.cold_rpc import ColdTier
from cortex_sleep.config import SleepSettings
from cortex_sleep.consolidation.phase import Consolidate
from cortex_sleep.decay_phase import Decay
from cortex_sleep.deduplicate import Deduplicate
from cortex_sleep.demote import Demote
from cortex_sleep.demotion import Rules
from cortex_sleep.maintain import Maintain
from cortex_sleep.observe import Observer
from cortex_sleep.partitions import Partitions
from cortex_sleep.phase import Phase
from cortex_sleep.reconsolidate import Reconsolidate
from cortex_sleep.run import Runner
from cortex_sleep.schedule import Schedule
from cortex_sleep.status import Status
from cortex_sleep.thaw import Thaw
from cortex_sleep.wakes import Stale, Watch
from cortex_sleep.webhook import Webhook, nobody
from cortex_store.database import Database
from cortex_store.embedding import RecordedModel
from cortex_writing.announcements import Announcements


def build(settings: SleepSettings) -> Service:
    """The sleep service, ready to run."""
    service = Service(settings)
    database = service.use(
        "database", Database(settings.sleep_database_url.get_secret_value(), application_name="cortex-sleep")
    )
    # Without the cache an answer may be as old as its time to live.
    cache = service.use("cache", Cache(settings.cache_url.get_secret_value()), required=False)
    # Opening it touches nothing. Without it everything works but what needs the cold tier.
    cold = service.use("cold store", configured(settings), required=False)
    outbox = OutboxRelay(database, service.bus)
    service.background("outbox", outbox.run)
    service.background("partitions", Partitions(database).run)
    watch = Watch(database, outbox.wake, Observer(database, outbox.wake, lambda: runner.wake()).observe)
    service.bus.consume(SLEEP_MEMORY_EVENTS, MemoryEvent, watch.observe)

    # What a person should know now ---------------------------------------------------------------------------------
    if url := settings.wake_webhook_url.get_secret_value():
        webhook = service.use("webhook", Webhook(url, settings.wake_webhook_keys, database))
        service.bus.consume(SLEEP_WAKES, WakeEvent, webhook.deliver)
    else:
        service.bus.consume(SLEEP_WAKES, WakeEvent, nobody)

    announcements = Announcements(outbox.wake, Generations(cache))
    # While it is away facts are told by quotations alone, as they are without one.
    summariser = None
    if LanguageModelPurpose.SUMMARISE in settings.llm_purposes:
        summariser = service.use("summariser", summarisers.configured(settings), required=False)

    # Runs ----------------------------------------------------------------------------------------------------------
    # What a run does, in the order of run.ORDER, whatever the order here.
    phases: tuple[Phase, ...] = (
        Reconsolidate(announcements),
        Deduplicate(announcements),
        Consolidate(announcements, summariser),
        Decay(then=Stale(outbox.wake).run),
        Demote(
            cold,
            announcements,
            Rules.of_days(
                settings.sleep_demote_invalid_days, settings.sleep_demote_learned_days, settings.sleep_demote_retention
            ),
        ),
        Maintain(cold, upkeep(settings)),
    )
    runner = Runner(database, phases, outbox.wake, workers=settings.sleep_workers)
    service.background("runs", runner.run)
    schedule = Schedule(
        database,
        [phase for phase in runner.phases if phase in (settings.sleep_phases or runner.phases)],
        runner.wake,
        at=settings.sleep_at,
        zone=settings.sleep_timezone,
        pressure=settings.sleep_pressure,
    )
    service.background("schedule", schedule.run)
    status = Status(database, runner.phases, runner.wake, lambda: schedule.next_at)
    cold_tier = ColdTier(database, cold)
    service.background("cold verifications", cold_tier.run)
    service.bus.serve(COLD_STATUS, cold_tier.status)
    service.bus.serve(COLD_VERIFY, cold_tier.verify)
    service.bus.serve(THAW, Thaw(cold, database, announcements).thaw)

    # The archive ---------------------------------------------------------------------------------------------------
    vectors: VectorSource = NoVectors(settings.embeddings_model)
    if settings.embeddings_url:
        model = RecordedModel(database, settings.embeddings_dimension, settings.embeddings_model)
        vectors = service.use(
            "embedder", QueryVectors(CachedEmbedder(embedders.configured(settings), cache), model), required=False
        )
    archive = Archive(
        cold, database, vectors, settings.recall_recipe, calibration.backgrounds(settings.embeddings_model)
    )
    service.bus.serve(RECALL_ARCHIVE, archive.recall)
    service.bus.serve(GET_ARCHIVED, archive.get)
    service.bus.serve(CHAIN_ARCHIVED, archive.chain)
    archive_engine = ArchiveEngine(archive, database)
    service.bus.serve(engine.ask(engine.ARCHIVE), archive_engine.ask)
    service.bus.serve(engine.health(engine.ARCHIVE), archive_engine.health)

    service.bus.serve(SLEEP_STATUS, status.status)
    service.bus.serve(SLEEP_RUN, status.run)
    service.bus.serve(SLEEP_RUNS, status.runs)
    service.bus.serve(SLEEP_STOP, status.stop)
    return service
