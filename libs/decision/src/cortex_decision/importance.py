"""Importance of a new memory, in [0, 1]: a pure function of what is known when it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

EXPLICIT: Final = 0.9
"""Least importance of what somebody asked to remember."""

BY_SOURCE: Final[Mapping[str, float]] = {
    "manual": 0.7,
    "live_infra": 0.6,
    "claude_code": 0.5,
    "coder_run": 0.5,
    "slack": 0.4,
    "whatsapp": 0.4,
    "chat": 0.4,
}
"""How much a kind of source tends to matter (source specification 4.1)."""
OTHER_SOURCE: Final = 0.5

NOVELTY_SPAN: Final = 0.2
"""From nothing new to all new, importance moves by this much around the source's weight: chosen so that novelty orders
the memories of a source and reaches the next kind of source, no further."""
RECENCY_SPAN: Final = 0.1
"""What a reference of this very moment adds; half as much as novelty, because it fades."""
RECENCY_DAYS: Final = 30.0
"""Age at which a reference counts for 1/e: the time constant of the gateway's score (gateway contract section 2)."""


def importance(novelty: float, *, explicit: bool, source_kind: str, reference_age_days: float | None) -> float:
    """Importance in [0, 1], growing with novelty and with the recency of the last reference.

    `weight(source) + 0.2 × (novelty − 0.5) + 0.1 × exp(−age / 30)`, clipped to [0, 1]; what was asked to be
    remembered lies in [0.9, 1], ordered by the same formula.

    Args:
        novelty: 1 − similarity to the nearest neighbour, rescaled to [0, 1] by the caller (the span of cosines is a
            property of the embedder); 1 without neighbours. Values outside are clipped, NaN counts as 0.5.
        explicit: somebody asked to remember this.
        source_kind: as the capture names it; unknown kinds weigh `OTHER_SOURCE`.
        reference_age_days: days since something last referred to it or to what it is about; none: never, no bonus.
    """
    fresh = 0.5 if math.isnan(novelty) else min(1.0, max(0.0, novelty))
    recency = 0.0 if reference_age_days is None else math.exp(-max(0.0, reference_age_days) / RECENCY_DAYS)
    weight = BY_SOURCE.get(source_kind, OTHER_SOURCE) + NOVELTY_SPAN * (fresh - 0.5) + RECENCY_SPAN * recency
    bounded = min(1.0, max(0.0, weight))
    return EXPLICIT + (1.0 - EXPLICIT) * bounded if explicit else bounded
