"""Settings of the sleep service: its own database role, on its own connections."""

from __future__ import annotations

from typing import ClassVar

from pydantic import SecretStr

from cortex_runtime.settings import ServiceSettings
from cortex_runtime.settings_part import setting


class SleepSettings(ServiceSettings):
    """What sleep reads."""

    service: ClassVar[str] = "sleep"

    sleep_database_url: SecretStr = setting("SLEEP_DATABASE_URL")
    sleep_host: str = setting("SLEEP_HOST", default="127.0.0.1")
    sleep_port: int = setting("SLEEP_PORT", default=9895)
