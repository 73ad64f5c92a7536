"""Role passwords on their way to the database."""

from __future__ import annotations

import pytest

from cortex_infra.bootstrap import password_of, scram_verifier, with_database
from cortex_infra.errors import SettingError


def test_the_verifier_has_the_form_the_database_stores() -> None:
    verifier = scram_verifier("pencil", bytes(range(16)))
    head, keys = verifier.rsplit("$", 1)
    assert head.startswith("SCRAM-SHA-256$4096:")
    assert [len(key) for key in keys.split(":")] == [44, 44]
    assert "pencil" not in verifier


def test_the_password_of_the_wrong_role_is_refused_without_showing_it() -> None:
    with pytest.raises(SettingError, match="CORTEX_DATABASE_URL: expected postgresql://cortex_runtime:") as caught:
        password_of("CORTEX_DATABASE_URL", "postgresql://postgres:hunter2@db/cortex", "cortex_runtime")
    assert "hunter2" not in str(caught.value)
    assert password_of("X", "postgresql://cortex_runtime:pw@db/cortex", "cortex_runtime") == "pw"


def test_another_database_of_the_same_server() -> None:
    assert with_database("postgresql://a:b@h:5/postgres?x=1", "cortex") == "postgresql://a:b@h:5/cortex?x=1"
