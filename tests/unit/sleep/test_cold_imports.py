"""Who pays for the libraries of the cold tier: nobody but a process that uses it."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIBRARIES = ("pyarrow", "pyiceberg", "sqlalchemy", "psycopg")
# Everything that a service imports by itself, its drivers included.
IMPORTS = """
import importlib, pkgutil, sys
from importlib.metadata import entry_points

name = sys.argv[1]
importlib.import_module(f"{name}.app")
for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
    if not module.name.endswith("__main__") and not module.name.startswith("cortex_sleep.iceberg."):
        importlib.import_module(module.name)
for group in entry_points().groups:
    if group.startswith("cortex."):
        for point in entry_points(group=group):
            point.load()
print(*(library for library in sys.argv[2:] if library in sys.modules))
"""


@pytest.mark.parametrize(
    "service", ["cortex_recall", "cortex_sleep", "cortex_ingest", "cortex_gateway", "cortex_webhook"]
)
def test_no_service_imports_the_libraries_of_the_cold_tier_at_its_start(service: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORTS, service, *LIBRARIES],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
