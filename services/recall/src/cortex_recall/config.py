"""Settings of the recall service."""

from __future__ import annotations

from typing import ClassVar

from cortex_runtime.settings import CacheSettings, DatabaseSettings, EmbeddingsSettings, ServiceSettings, setting


class RecallSettings(ServiceSettings, DatabaseSettings, EmbeddingsSettings, CacheSettings):
    """What recall reads."""

    service: ClassVar[str] = "recall"

    recall_host: str = setting("RECALL_HOST", default="127.0.0.1")
    recall_port: int = setting("RECALL_PORT", default=9894)
