"""The circuit breaker of one engine: whether to ask it, and when to see whether it is back. Pure; time is given to it.

An engine that failed is not asked until a trial in the background has succeeded, so that no question pays for finding
out. Trials come after 0.5 s, then after twice as long each time, to 30 s, or to five minutes where each one starts a
process, each with a share of chance off, so that the engines of many gateways are not tried in step (exponential
backoff with jitter, AWS Architecture Blog, 2015; the share is a quarter, so that the delays still grow). Only an answer
to a question ends the counting: an engine that can be connected to and then never answers costs its limit once for each
delay, not twice a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

FIRST_TRIAL_S: Final = 0.5
LAST_TRIAL_S: Final = 30.0
LAST_START_S: Final = 300.0
"""Of an engine that is a process of ours: each trial of one that starts, and is of no use, costs a start."""
CHANCE: Final = 0.25
"""The share of a delay that chance may take off."""


class Standing(StrEnum):
    """What is known of an engine."""

    UNKNOWN = "unknown"
    """It has not been connected to yet; questions wait for that."""
    CLOSED = "closed"
    """It is asked."""
    OPEN = "open"
    """It is not asked."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is known of one engine at one time. Times are in seconds of any clock that only goes forward."""

    standing: Standing = Standing.UNKNOWN
    failures: int = 0
    """In a row, of questions and trials."""
    reason: str = ""
    """Why it is open, for people."""
    trial_at: float = 0.0
    """When it is tried next; counts while it is not closed."""

    @property
    def asked(self) -> bool:
        """Whether questions go to the engine."""
        return self.standing is not Standing.OPEN

    def answered(self) -> Self:
        """The engine answered a question."""
        return replace(self, standing=Standing.CLOSED, failures=0, reason="", trial_at=0.0)

    def reached(self) -> Self:
        """A trial succeeded: the engine is asked again; how often it failed is not forgotten until it has answered."""
        return replace(self, standing=Standing.CLOSED, reason="", trial_at=0.0)

    def failed(self, now: float, reason: str, wait_s: float) -> Self:
        """A question or a trial failed; the next trial is after `wait_s`."""
        failures, trial_at = self.failures + 1, now + wait_s
        return replace(self, standing=Standing.OPEN, failures=failures, reason=reason, trial_at=trial_at)


def delay_s(failures: int, chance: float, last_s: float = LAST_TRIAL_S) -> float:
    """The time to the next trial after so many failures in a row, at least one: at most `last_s`, and `chance` in
    [0, 1] takes some off."""
    # The exponent is bounded, so that no number of failures overflows.
    return min(last_s, FIRST_TRIAL_S * 2.0 ** min(failures - 1, 16)) * (1 - CHANCE * chance)
