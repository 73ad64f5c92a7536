"""Settings of the ingest service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from cortex_runtime.settings import CacheSettings, DatabaseSettings, ServiceSettings
from cortex_runtime.settings_models import EmbeddingsSettings, EngineSettings, LanguageModelSettings
from cortex_runtime.settings_part import setting
from cortex_runtime.settings_vaults import VaultsSettings


class IngestSettings(
    ServiceSettings,
    DatabaseSettings,
    EmbeddingsSettings,
    EngineSettings,
    LanguageModelSettings,
    CacheSettings,
    VaultsSettings,
):
    """What the ingest service reads."""

    service: ClassVar[str] = "ingest"

    ingest_host: str = setting("INGEST_HOST", default="127.0.0.1")
    ingest_port: int = setting("INGEST_PORT", default=9893)
    ingest_home: Path | None = setting("INGEST_HOME", default=None)
    """Where the mirrors of the vaults' repositories are kept; by default below `CORTEX_HOME`. They can be lost."""
    ingest_sweep_hour: Annotated[int, Field(ge=0, le=23)] = setting("INGEST_SWEEP_HOUR", default=3)
    """When (UTC) passages without a vector are embedded again, within a quarter of an hour."""
    home: Path | None = setting("HOME", default=None)

    @property
    def mirrors(self) -> Path:
        """The folder of the git mirrors."""
        if self.ingest_home is not None:
            return self.ingest_home.expanduser()
        return (self.home.expanduser() if self.home else Path.home() / ".cortex") / "ingest" / "mirrors"
