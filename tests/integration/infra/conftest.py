"""A folder of the test's own.

Not pytest's `tmp_path`: every pytest that starts takes the permissions on the folder above it away again, and with it
the way of another user to his database.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cortex-", ignore_cleanup_errors=True) as name:
        yield Path(name)
