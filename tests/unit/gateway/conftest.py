"""Hits to reason about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from cortex_contracts.messages.base import Assertion
from cortex_contracts.rpc.engine import Hit, SourceClass

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def make_hit() -> Callable[..., Hit]:
    def make(
        snippet: str = "Hermes is stopped.",
        *,
        source_class: SourceClass = SourceClass.AGENT_MEMORY,
        age_days: float | None = 0.0,
        relevance: float = 0.9,
        confidence: float = 1.0,
        engine: str = "memory",
        title: str = "",
        path: str = "memory:1",
        says: tuple[tuple[str, str, str], ...] = (),
    ) -> Hit:
        return Hit(
            engine=engine,
            title=title,
            path=path,
            snippet=snippet,
            native_score=relevance,
            relevance=relevance,
            last_seen=None if age_days is None else NOW - timedelta(days=age_days),
            confidence=confidence,
            source_class=source_class,
            assertions=tuple(Assertion(subject=s, attribute=a, value=v) for s, a, v in says),
        )

    return make
