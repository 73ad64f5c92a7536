"""Composition root of sleep: the only place that names what it stands on."""

from __future__ import annotations

from cortex_contracts.messages.events import MemoryEvent
from cortex_contracts.rpc.sleep import SLEEP_STATUS
from cortex_contracts.streams import SLEEP_MEMORY_EVENTS
from cortex_runtime.outbox import OutboxRelay
from cortex_runtime.service import Service
from cortex_sleep.config import SleepSettings
from cortex_sleep.observe import Observer
from cortex_sleep.partitions import Partitions
from cortex_sleep.status import Status
from cortex_store.database import Database


def build(settings: SleepSettings) -> Service:
    """The sleep service, ready to run."""
    service = Service(settings)
    database = service.use(
        "database", Database(settings.sleep_database_url.get_secret_value(), application_name="cortex-sleep")
    )
    outbox = OutboxRelay(database, service.bus)
    service.background("outbox", outbox.run)
    service.background("partitions", Partitions(database).run)
    service.bus.consume(SLEEP_MEMORY_EVENTS, MemoryEvent, Observer(database, outbox.wake).observe)
    service.bus.serve(SLEEP_STATUS, Status(database).status)
    return service
