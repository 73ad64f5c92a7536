"""Where the table is: the warehouse (S3 or a folder), the catalog that names its current state, and the table itself,
made at first use."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from pyarrow import fs
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.table import Table
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import IntegrityError

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_providers.cold_store import ColdStoreConfig
from cortex_sleep.iceberg import file_io, layout
from cortex_sleep.iceberg.faults import translated

CATALOG: Final = "cortex"
SCHEMA: Final = "cold_catalog"
"""The schema of the database that holds the catalog when no other one is configured (migration 0017)."""
IDENTIFIER: Final = (layout.NAMESPACE, layout.TABLE)


class Warehouse:
    """The table of one configuration. Everything here blocks: call it in a worker thread. Made once per process."""

    def __init__(self, config: ColdStoreConfig) -> None:
        self._config = config
        self._catalog: Catalog | None = None
        self._opening = threading.Lock()
        self.location = location_of(config.warehouse)

    def table(self) -> Table:
        """The table as it is now, made if there is none.

        Raises:
            Unavailable, Permanent: the warehouse or the catalog is away, or refuses.
        """
        with translated():
            return self._open().load_table(IDENTIFIER)

    def file_system(self) -> tuple[fs.FileSystem, str]:
        """The file system of the warehouse and the path of the table in it, without a slash at the end."""
        return file_io.file_system(self._config, self.location), f"{path_of(self.location)}/{'/'.join(IDENTIFIER)}"

    def close(self) -> None:
        """Let the connections of the catalog go."""
        with self._opening:
            if self._catalog is not None:
                self._catalog.close()
            self._catalog = None

    def _open(self) -> Catalog:
        with self._opening:
            if self._catalog is None:
                prepare(file_io.file_system(self._config, self.location), path_of(self.location))
                catalog = open_catalog(self._config, self.location)
                try:
                    _make(catalog, self.location)
                except BaseException:
                    catalog.close()
                    raise
                self._catalog = catalog
            return self._catalog


def location_of(warehouse: str) -> str:
    """The URL of a warehouse: `s3://bucket/prefix` or `file:///folder`, without a slash at the end.

    Raises:
        Permanent: it is neither an S3 URL with a bucket nor an absolute folder.
    """
    url = urlsplit(warehouse)
    if url.scheme == "s3" and url.netloc:
        return warehouse.rstrip("/")
    path = Path(unquote(url.path) if url.scheme == "file" else warehouse).expanduser()
    # What has a meaning in a URL would not be the folder's name in the URLs of its files.
    if url.scheme not in ("", "file") or not path.is_absolute() or any(sign in str(path) for sign in "?#%"):
        raise Permanent(
            "CORTEX_COLD_STORE_WAREHOUSE: expected s3://bucket/prefix or an absolute folder",
            code=ErrorCode.INVALID_REQUEST,
        )
    return f"file://{path}"


def path_of(location: str) -> str:
    """A location as the file system names it."""
    scheme, _, rest = location.partition("://")
    return rest if scheme == "s3" else rest.rstrip("/") or "/"


def prepare(files: fs.FileSystem, path: str) -> None:
    """Make the folder or the bucket of a warehouse if it is not there."""
    if isinstance(files, fs.LocalFileSystem):
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    bucket = path.split("/")[0]
    if files.get_file_info(bucket).type is fs.FileType.NotFound:
        files.create_dir(bucket)


def open_catalog(config: ColdStoreConfig, location: str) -> Catalog:
    """The configured catalog: SQL, REST, or the schema of the database."""
    properties = {"warehouse": location, **file_io.properties(config)}
    if config.catalog.startswith(("http://", "https://")):
        url = urlsplit(config.catalog)
        if url.username:
            properties["credential"] = f"{unquote(url.username)}:{unquote(url.password or '')}"
        host = url.netloc.rpartition("@")[2]
        return RestCatalog(CATALOG, uri=url._replace(netloc=host).geturl(), **properties)
    if config.catalog:
        url_of_catalog = make_url(config.catalog)
        if url_of_catalog.get_backend_name() == "postgresql":
            url_of_catalog = _bounded(url_of_catalog, config.timeout_s)
        uri = url_of_catalog
    else:
        uri = _bounded(make_url(config.database), config.timeout_s, SCHEMA)
    return SqlCatalog(
        CATALOG,
        uri=uri.render_as_string(hide_password=False),
        pool_pre_ping="true",
        init_catalog_tables=str(bool(config.catalog)).lower(),
        **properties,
    )


def _bounded(url: URL, timeout_s: float, schema: str | None = None) -> URL:
    """A PostgreSQL URL for psycopg whose statements and silences end."""
    limit_ms = round(timeout_s * 1_000)
    options = f"-c statement_timeout={limit_ms} -c lock_timeout={limit_ms}"
    if schema is not None:
        options += f" -c search_path={schema}"
    return url.set(drivername="postgresql+psycopg").update_query_dict(
        {
            "application_name": "cortex-sleep-cold",
            "connect_timeout": str(max(2, round(timeout_s))),
            "tcp_user_timeout": str(limit_ms),
            "options": options,
        }
    )


def _make(catalog: Catalog, location: str) -> None:
    """The namespace and the table, unless they are there; two processes may do it at once."""
    try:
        catalog.load_table(IDENTIFIER)
        return
    except NoSuchTableError:
        pass
    with contextlib.suppress(NamespaceAlreadyExistsError, IntegrityError):
        catalog.create_namespace(layout.NAMESPACE)
    with contextlib.suppress(TableAlreadyExistsError):
        catalog.create_table(
            IDENTIFIER,
            layout.SCHEMA,
            location=f"{location}/{'/'.join(IDENTIFIER)}",
            partition_spec=layout.PARTITION_SPEC,
            sort_order=layout.SORT_ORDER,
            properties=layout.PROPERTIES,
        )
