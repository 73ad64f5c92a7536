"""How the warehouse's files are reached: one file system for the driver and for what pyiceberg writes itself."""

from __future__ import annotations

from typing import Final

from pyarrow import fs
from pyiceberg.io import (
    S3_ACCESS_KEY_ID,
    S3_CONNECT_TIMEOUT,
    S3_ENDPOINT,
    S3_REGION,
    S3_REQUEST_TIMEOUT,
    S3_SECRET_ACCESS_KEY,
)
from pyiceberg.io.pyarrow import PyArrowFileIO

from cortex_providers.cold_store import ColdStoreConfig

REGION: Final = "us-east-1"
"""What S3 servers that are not Amazon's expect; without a region pyarrow would ask Amazon for one."""


class ColdFileIO(PyArrowFileIO):
    """pyiceberg's files on our file system."""

    def _initialize_s3_fs(self, netloc: str | None) -> fs.FileSystem:  # noqa: ARG002 - overridden
        return s3(dict(self.properties))


def properties(config: ColdStoreConfig) -> dict[str, str]:
    """The properties of a catalog whose files are in the warehouse of a configuration."""
    return {
        "py-io-impl": f"{ColdFileIO.__module__}.{ColdFileIO.__name__}",
        S3_REGION: config.region or REGION,
        S3_CONNECT_TIMEOUT: str(config.timeout_s),
        S3_REQUEST_TIMEOUT: str(config.timeout_s),
        S3_ENDPOINT: config.endpoint,
        S3_ACCESS_KEY_ID: config.access_key,
        S3_SECRET_ACCESS_KEY: config.secret_key,
    }


def s3(known: dict[str, str]) -> fs.FileSystem:
    """S3 as `properties` say. What is tried three times may be silent three times as long."""
    return fs.S3FileSystem(
        access_key=known.get(S3_ACCESS_KEY_ID) or None,
        secret_key=known.get(S3_SECRET_ACCESS_KEY) or None,
        region=known.get(S3_REGION) or REGION,
        endpoint_override=known.get(S3_ENDPOINT) or None,
        connect_timeout=float(known[S3_CONNECT_TIMEOUT]),
        request_timeout=float(known[S3_REQUEST_TIMEOUT]),
        allow_bucket_creation=True,
        # A small file, such as all of the metadata, then takes one request and not three.
        allow_delayed_open=True,
    )


def file_system(config: ColdStoreConfig, location: str) -> fs.FileSystem:
    """The file system of a warehouse."""
    return s3(properties(config)) if location.startswith("s3://") else fs.LocalFileSystem()
