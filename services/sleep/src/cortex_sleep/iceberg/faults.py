"""What the libraries below raise, as errors that say whether a retry can help and show nothing of what they hold."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import pyarrow as pa
import requests
import sqlalchemy.exc
from pyiceberg import exceptions as iceberg

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_providers.cold_store import Damaged

_AWS: Final = re.compile(r"AWS Error ([A-Z_]+)")
_REFUSALS: Final = frozenset(
    {
        "ACCESS_DENIED",
        "INVALID_ACCESS_KEY_ID",
        "INVALID_CLIENT_TOKEN_ID",
        "INVALID_SIGNATURE",
        "MISSING_AUTHENTICATION_TOKEN",
        "NO_SUCH_BUCKET",
        "NOT_INITIALIZED",
        "SIGNATURE_DOES_NOT_MATCH",
        "UNRECOGNIZED_CLIENT",
    }
)
"""What S3 answers to whoever may not do this, and will answer again."""
_MISSING: Final = frozenset({"NO_SUCH_KEY", "RESOURCE_NOT_FOUND"})
_NETWORK: Final = (TimeoutError, ConnectionError, requests.RequestException)
_REFUSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST})
_PERMISSION: Final = frozenset({"28000", "28P01", "3D000", "42501", "42P01", "3F000"})
"""SQLSTATEs: wrong role, password or database, no privilege, no such table or schema (PostgreSQL, appendix A)."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise what happens inside as Unavailable, Permanent or Damaged; errors that have a meaning already stay.

    The messages of the libraries name hosts, keys and files: of them only a code is kept, and no cause. None is told as
    `forbidden` or `not_found`: whoever asks would take it for what he may read, and for the memory that he asked for.
    """
    try:
        yield
    except CortexError:
        raise
    except Exception as error:
        known = _meaning(error)
        if known is None:
            raise
        raise known from None


def _meaning(error: Exception) -> CortexError | None:
    for reader in (_of_iceberg, _of_database, _of_files):
        known = reader(error)
        if known is not None:
            return known
    return None


def _of_iceberg(error: Exception) -> CortexError | None:
    name = type(error).__name__
    match error:
        case iceberg.UnauthorizedError() | iceberg.ForbiddenError() | iceberg.OAuthError():
            return Permanent(f"the catalog of the cold store refuses ({name})", code=ErrorCode.UNAVAILABLE)
        case iceberg.CommitFailedException() | iceberg.ValidationException():
            return Unavailable(f"the cold store was changed by others at the same time ({name})")
        case iceberg.CommitStateUnknownException():
            return Unavailable("the catalog of the cold store did not say whether it took the change")
        case iceberg.RESTError():
            return Unavailable(f"the catalog of the cold store cannot work now ({name})")
        case iceberg.NoSuchTableError() | iceberg.NoSuchNamespaceError():
            return Permanent("the table of the cold store is not in its catalog any more", code=ErrorCode.UNAVAILABLE)
    return None


def _of_database(error: Exception) -> CortexError | None:
    if isinstance(error, sqlalchemy.exc.DBAPIError):
        cause = error.orig
    elif isinstance(error, (psycopg.Error, sqlalchemy.exc.SQLAlchemyError)):
        cause = error
    else:
        return None
    state = getattr(cause, "sqlstate", None)
    if state in _PERMISSION:
        return Permanent(f"the catalog of the cold store refuses (SQLSTATE {state})", code=ErrorCode.UNAVAILABLE)
    if state is None and not isinstance(cause, (psycopg.OperationalError, psycopg.InterfaceError)):
        return Unavailable(f"the catalog of the cold store cannot work now ({type(cause).__name__})")
    return Unavailable("the catalog of the cold store is away" + (f" (SQLSTATE {state})" if state else ""))


def _of_files(error: Exception) -> CortexError | None:
    if isinstance(error, FileNotFoundError):
        return Damaged("a file of the cold store is missing", code=ErrorCode.CONFLICT)
    if isinstance(error, (pa.ArrowInvalid, pa.ArrowNotImplementedError)):
        return Damaged("a file of the cold store cannot be read", code=ErrorCode.CONFLICT)
    if not isinstance(error, OSError):
        return None
    if error.errno in _REFUSED:
        return Permanent("the cold store refuses to be written or read", code=ErrorCode.UNAVAILABLE)
    if error.errno == errno.ENOSPC:
        return Unavailable("the cold store is full")
    code = _AWS.search(str(error))
    if code is not None and code[1] in _REFUSALS:
        return Permanent(f"the cold store refuses ({code[1]})", code=ErrorCode.UNAVAILABLE)
    if code is not None and code[1] in _MISSING:
        return Damaged("a file of the cold store is missing", code=ErrorCode.CONFLICT)
    if code is not None or error.errno is not None or isinstance(error, _NETWORK):
        return Unavailable("the cold store is away or slow" + (f" ({code[1]})" if code else ""))
    # Arrow's decoders say so of bytes that are not what was written; what comes from a disk or a server has a number.
    return Damaged("a file of the cold store was damaged", code=ErrorCode.CONFLICT)
