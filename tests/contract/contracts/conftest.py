"""What the tests of the contracts share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no finding.
settings.register_profile("contracts", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contracts")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the repository."""
    return Path(__file__).parents[3]
