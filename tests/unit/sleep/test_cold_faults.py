"""What the libraries of the cold store raise is told by what it means, and shows nothing of what it holds."""

from __future__ import annotations

import errno

import psycopg
import pyarrow as pa
import pytest
import requests
import sqlalchemy.exc
from pyiceberg import exceptions as iceberg

from cortex_contracts.errors import CortexError, ErrorCode, Permanent, Unavailable
from cortex_providers.cold_store import Damaged
from cortex_sleep.iceberg.catalog import location_of
from cortex_sleep.iceberg.faults import translated

SECRET = "hunter2"


def aws(code: str) -> OSError:
    return OSError(f"When reading key '{SECRET}' in bucket '{SECRET}': AWS Error {code} during GetObject: {SECRET}")


@pytest.mark.parametrize(
    ("raised", "meant"),
    [
        (aws("NETWORK_CONNECTION"), Unavailable),
        (aws("SLOW_DOWN"), Unavailable),
        (aws("ACCESS_DENIED"), Permanent),
        (aws("SIGNATURE_DOES_NOT_MATCH"), Permanent),
        (aws("NO_SUCH_BUCKET"), Permanent),
        (aws("NO_SUCH_KEY"), Damaged),
        (FileNotFoundError(SECRET), Damaged),
        (pa.ArrowInvalid(SECRET), Damaged),
        (OSError(f"Couldn't deserialize thrift: {SECRET}"), Damaged),
        (OSError(errno.EROFS, SECRET), Permanent),
        (PermissionError(errno.EACCES, SECRET), Permanent),
        (OSError(errno.ENOSPC, SECRET), Unavailable),
        (OSError(errno.EIO, SECRET), Unavailable),
        (TimeoutError(SECRET), Unavailable),
        (requests.ConnectionError(SECRET), Unavailable),
        (psycopg.OperationalError(SECRET), Unavailable),
        (psycopg.errors.LockNotAvailable(SECRET), Unavailable),
        (psycopg.errors.InvalidPassword(SECRET), Permanent),
        (sqlalchemy.exc.OperationalError(SECRET, {}, psycopg.OperationalError(SECRET)), Unavailable),
        (sqlalchemy.exc.ProgrammingError(SECRET, {}, psycopg.errors.InsufficientPrivilege(SECRET)), Permanent),
        (sqlalchemy.exc.TimeoutError(SECRET), Unavailable),
        (iceberg.CommitFailedException(SECRET), Unavailable),
        (iceberg.CommitStateUnknownException(SECRET), Unavailable),
        (iceberg.ServerError(SECRET), Unavailable),
        (iceberg.ForbiddenError(SECRET), Permanent),
        (iceberg.NoSuchTableError(SECRET), Permanent),
    ],
)
def test_every_fault_has_a_meaning_and_keeps_its_secrets(raised: Exception, meant: type[CortexError]) -> None:
    with pytest.raises(CortexError) as told, translated():
        raise raised
    assert type(told.value) is meant
    assert told.value.code in (ErrorCode.UNAVAILABLE, ErrorCode.CONFLICT), "it says nothing of who asks, and for what"
    assert SECRET not in f"{told.value!r} {told.value.message} {told.value.__cause__!r}"
    assert told.value.__suppress_context__, "a traceback would show the library's message"


def test_bugs_and_errors_with_a_meaning_stay_what_they_are() -> None:
    for error in (AssertionError("a bug"), Unavailable("known")):
        with pytest.raises(type(error)) as raised, translated():
            raise error
        assert raised.value is error


@pytest.mark.parametrize(
    ("warehouse", "location"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("/var/lib/cold tier", "file:///var/lib/cold tier"),
        ("file:///var/lib/cold%20tier", "file:///var/lib/cold tier"),
    ],
)
def test_a_warehouse_is_a_bucket_or_a_folder(warehouse: str, location: str) -> None:
    assert location_of(warehouse) == location


@pytest.mark.parametrize("warehouse", ["relative", "s3://", "gs://bucket", "http://host/x", "", "/a#b", "/a?b", "/a%b"])
def test_anything_else_is_refused(warehouse: str) -> None:
    with pytest.raises(Permanent, match="CORTEX_COLD_STORE_WAREHOUSE"):
        location_of(warehouse)
