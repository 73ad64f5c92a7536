"""Settings of the cold store: where memories go that leave the hot tier."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from cortex_runtime.settings_part import SettingsPart, setting

BUCKET = "cortex"
"""The bucket of an S3 server for which none is named."""

Days = Annotated[float, Field(ge=0, le=3650)]


class ColdStoreSettings(SettingsPart):
    """Which cold store there is; `cold_store_driver` is an entry point of the group `cortex.cold_store`.

    Without an S3 server or a bucket the cold tier is a folder in the home of the installation.
    """

    cold_store_driver: str = setting("COLD_STORE_DRIVER", default="iceberg")
    cold_store_warehouse: str = setting("COLD_STORE_WAREHOUSE", default="")
    """`s3://bucket/prefix` or an absolute folder; empty: what the endpoint and the bucket say."""
    cold_store_catalog: SecretStr = setting("COLD_STORE_CATALOG", default=SecretStr(""))
    """SQL or REST URL of an Iceberg catalog; empty: a schema of the database."""
    cold_store_endpoint: str = setting("COLD_STORE_ENDPOINT", "COLD_STORE_ENDPOINT", default="")
    cold_store_bucket: str = setting("COLD_STORE_BUCKET", "COLD_STORE_BUCKET", default="")
    cold_store_region: str = setting("COLD_STORE_REGION", "COLD_STORE_REGION", default="")
    cold_store_access_key: SecretStr = setting("COLD_STORE_ACCESS_KEY", "COLD_STORE_ACCESS_KEY", default=SecretStr(""))
    cold_store_secret_key: SecretStr = setting("COLD_STORE_SECRET_KEY", "COLD_STORE_SECRET_KEY", default=SecretStr(""))
    cold_store_timeout_s: Annotated[float, Field(ge=1, le=600)] = setting("COLD_STORE_TIMEOUT_S", default=10.0)
    """How long a server may be silent."""
    cold_store_snapshot_days: Days = setting("COLD_STORE_SNAPSHOT_DAYS", default=3.0)
    """How long a replaced state of the table can still be read."""
    cold_store_orphan_days: Days = setting("COLD_STORE_ORPHAN_DAYS", default=3.0)
    """How old a file that nothing refers to must be before it is removed: longer than any write takes."""
    home: str = setting("HOME", default="")

    @field_validator("cold_store_endpoint")
    @classmethod
    def _is_url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("expected a URL that begins with http:// or https://")
        return value

    @field_validator("cold_store_warehouse")
    @classmethod
    def _is_location(cls, value: str) -> str:
        if value and not value.startswith(("s3://", "file:///", "/", "~/")):
            raise ValueError("expected s3://bucket/prefix or an absolute folder")
        return value

    @property
    def warehouse(self) -> str:
        """Where the cold tier is: an S3 URL or a folder."""
        if self.cold_store_warehouse:
            return self.cold_store_warehouse
        if self.cold_store_endpoint or self.cold_store_bucket:
            return f"s3://{self.cold_store_bucket or BUCKET}"
        return str(Path(self.home or Path.home() / ".cortex").absolute() / "cold")

    @property
    def keep_snapshots(self) -> timedelta:
        """`cold_store_snapshot_days`."""
        return timedelta(days=self.cold_store_snapshot_days)

    @property
    def orphan_age(self) -> timedelta:
        """`cold_store_orphan_days`."""
        return timedelta(days=self.cold_store_orphan_days)
