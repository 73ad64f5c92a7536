"""The settle rule: what happens to a message after its handler, the same for every consumer (ADR 0002).

| outcome                                   | settlement                                    |
|-------------------------------------------|-----------------------------------------------|
| done                                      | acknowledged, and the server confirmed it     |
| retryable (a dependency is down)          | again after a growing, jittered delay or that of the error, for ever |
| permanent, or a body that is no message   | dead letter, then terminated                  |
| anything else                             | delivered again, at most `max_deliver` times, then dead letter |
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import ValidationError

from cortex_contracts.errors import Permanent, Retryable

FIRST_DELAY_S: Final = 0.25
LONGEST_DELAY_S: Final = 15.0
"""A dependency that comes back is noticed within this time, however long it was away."""


_FIELD: Final = re.compile(r"[a-z_]{1,40}")


class Action(StrEnum):
    """What to tell the server about a message."""

    ACKNOWLEDGE = "acknowledge"
    RETRY = "retry"
    DEAD_LETTER = "dead_letter"


@dataclass(frozen=True, slots=True)
class Settlement:
    """One message's fate; `delay_s` for a retry, `reason` for a retry or a dead letter."""

    action: Action
    delay_s: float = 0.0
    reason: str = ""


def settle(error: BaseException | None, deliveries: int, max_deliver: int, jitter: float | None = None) -> Settlement:
    """Decide the fate of a message whose handler raised `error` (none: it is done) on its `deliveries`-th delivery.

    `jitter` in [0, 1] is drawn at random when not given.
    """
    match error:
        case None:
            return Settlement(Action.ACKNOWLEDGE)
        case ValidationError():
            return Settlement(Action.DEAD_LETTER, reason=f"invalid message: {describe(error)}")
        case Permanent():
            return Settlement(Action.DEAD_LETTER, reason=f"{error.code}: {error.message}")
        case Retryable():
            delay_s = retry_delay(deliveries, jitter) if error.delay_s is None else error.delay_s
            return Settlement(Action.RETRY, delay_s, f"{error.code}: {error.message}")
    # The text of an unknown error may hold anything, so a header or log gets its class only.
    reason = f"unexpected {type(error).__name__}"
    if deliveries >= max_deliver:
        return Settlement(Action.DEAD_LETTER, reason=f"{reason} on delivery {deliveries} of {max_deliver}")
    return Settlement(Action.RETRY, retry_delay(deliveries, jitter), reason)


def retry_delay(deliveries: int, jitter: float | None = None) -> float:
    """Seconds until the next delivery: doubling from `FIRST_DELAY_S`, half of it jitter, at most `LONGEST_DELAY_S`."""
    drawn = random.random() if jitter is None else jitter
    ceiling: float = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(deliveries, 30))
    return ceiling * (0.5 + 0.5 * drawn)


def describe(error: ValidationError) -> str:
    """Which fields are wrong and why, without the values that were sent. The keys of a mapping are values too: what
    does not look like the name of a field is not shown."""
    problems = [
        f"{'.'.join(_place(part) for part in item['loc']) or 'body'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")


def _place(part: int | str) -> str:
    return str(part) if isinstance(part, int) or _FIELD.fullmatch(part) else "…"
