"""The cold store of the settings."""

from __future__ import annotations

from cortex_providers.cold_store import ColdStore, ColdStoreConfig, Upkeep, open_store
from cortex_sleep.config import SleepSettings


def configured(settings: SleepSettings) -> ColdStore:
    """The cold store that the settings name; nothing of it is opened or imported yet.

    Raises:
        Permanent: its driver is not installed.
    """
    config = ColdStoreConfig(
        warehouse=settings.warehouse,
        database=settings.sleep_database_url.get_secret_value(),
        catalog=settings.cold_store_catalog.get_secret_value(),
        endpoint=settings.cold_store_endpoint,
        region=settings.cold_store_region,
        access_key=settings.cold_store_access_key.get_secret_value(),
        secret_key=settings.cold_store_secret_key.get_secret_value(),
        timeout_s=settings.cold_store_timeout_s,
    )
    return open_store(settings.cold_store_driver, config)


def upkeep(settings: SleepSettings) -> Upkeep:
    """How maintenance treats it."""
    return Upkeep(keep_snapshots=settings.keep_snapshots, orphan_age=settings.orphan_age)
