"""Decay: what time takes from the importance of a memory, and what is left to keep it in the hot tier. Pure functions.

What is not used is forgotten along an exponential (Ebbinghaus, "Über das Gedächtnis", 1885), and each use makes it last
longer: `2^(−idle / half-life)`, the form that MemoryBank (Zhong et al., 2024, section 3.3) gives a store of memories.
Two numbers come of it: `decayed`, by which recall ranks, and `retention`, by which sleep chooses what goes cold.
Curves and worked figures: docs/decay.md.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

HALF_LIFE_DAYS: Final = 30.0
"""Of what matters not at all and was never used: a month, the time constant that references fade with
(`cortex_decision.importance`)."""
SALIENCE_GROWTH: Final = 32.0
"""How much longer what matters fully lasts than what does not: 32 months. Chosen so that chat (0.4) loses half in four
months and what somebody asked to remember (0.9) in two years."""
KEPT: Final = 0.5
"""The share of its importance that a memory never loses: of two memories of which one was twice as important when they
were written, decay does not make it the less important one."""
DAY_S: Final = 86_400.0


def half_life(importance: float, accesses: int = 0) -> float:
    """Days without use after which half is gone: `30 × 32^importance × (1 + log2(1 + accesses))`. The first recall
    doubles it, seven quadruple it.

    Args:
        importance: when it was written, in [0, 1]; clipped, NaN counts as 0.
        accesses: how often it was recalled or said again.
    """
    return HALF_LIFE_DAYS * math.pow(SALIENCE_GROWTH, _unit(importance)) * (1.0 + math.log2(1.0 + max(0, accesses)))


def retention(importance: float, *, age_days: float, idle_days: float | None = None, accesses: int = 0) -> float:
    """How much a memory is worth keeping at hand, in [0, 1]: its importance × what idleness left of it. It grows with
    importance and accesses and falls with every day without use: noise goes first, what matters and is used last.

    Args:
        importance: when it was written (`base_importance`), not after decay.
        age_days: since it became true.
        idle_days: since it was last recalled or said again; none: never. It cannot be idle for longer than it is old.
        accesses: how often it was recalled or said again.
    """
    return _unit(importance) * _strength(importance, age_days, idle_days, accesses)


def decayed(importance: float, *, age_days: float, idle_days: float | None = None, accesses: int = 0) -> float:
    """The importance that recall ranks by, in [importance / 2, importance]; arguments as of `retention`."""
    strength = _strength(importance, age_days, idle_days, accesses)
    return _unit(importance) * (KEPT + (1.0 - KEPT) * strength)


def whole_days(since: datetime, now: datetime) -> int:
    """The days from the date of one moment to that of another in UTC, 0 at least: within a day nothing decays."""
    return max(0, int(now.timestamp() // DAY_S) - int(since.timestamp() // DAY_S))


def _strength(importance: float, age_days: float, idle_days: float | None, accesses: int) -> float:
    idle = max(0.0, age_days if idle_days is None else min(idle_days, age_days))
    return math.exp2(-idle / half_life(importance, accesses))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value)) if value == value else 0.0
