"""Waiting for something that another process does: ask until it is so, or fail with what was seen last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from cortex_contracts.errors import Unavailable

ResultT = TypeVar("ResultT")

INTERVAL_S: Final = 0.05


async def eventually(
    ask: Callable[[], Awaitable[ResultT]],
    holds: Callable[[ResultT], bool] = bool,
    *,
    within_s: float = 30.0,
    ignoring: tuple[type[Exception], ...] = (),
) -> ResultT:
    """Return what `ask` answers as soon as it `holds`; who is `Unavailable`, as on a busy machine, is asked again.

    Raises:
        AssertionError: it did not within `within_s`; the message holds the last answer or error.
    """
    not_yet: tuple[type[Exception], ...] = (Unavailable, *ignoring)
    deadline = time.monotonic() + within_s
    last: object = None
    while True:
        try:
            answer = await ask()
            if holds(answer):
                return answer
            last = answer
        except not_yet as error:
            last = error
        if time.monotonic() > deadline:
            raise AssertionError(f"not so within {within_s:g} s; last seen: {last!r}")
        await asyncio.sleep(INTERVAL_S)
