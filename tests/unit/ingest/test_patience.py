"""What is away is waited for so long, and then left alone for a while."""

from __future__ import annotations

import asyncio

import pytest

from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_providers.language_model import UnfitAnswer
from cortex_writing.patience import Patience


class Helper:
    def __init__(self, *outcomes: CortexError | int) -> None:
        self.outcomes = list(outcomes)
        self.asked = 0

    async def ask(self) -> int:
        self.asked += 1
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, CortexError):
            raise outcome
        return outcome


async def test_what_failed_is_left_alone_until_the_pause_is_over():
    helper = Helper(Unavailable("away"), 2)
    patience = Patience("the helper", 5.0, pause_s=3600.0)
    with pytest.raises(Unavailable, match="away"):
        await patience.wait(helper.ask)
    with pytest.raises(Unavailable, match="the helper failed a moment ago and was not asked"):
        await patience.wait(helper.ask)
    assert helper.asked == 1
    at_once = Patience("the helper", 5.0, pause_s=0.0)
    helper = Helper(Unavailable("away"), 2)
    with pytest.raises(Unavailable):
        await at_once.wait(helper.ask)
    assert await at_once.wait(helper.ask) == 2


@pytest.mark.parametrize("failure", [UnfitAnswer("nonsense"), Permanent("too long")])
async def test_what_works_but_could_not_answer_this_is_asked_the_next(failure: CortexError):
    helper = Helper(failure, 2)
    patience = Patience("the helper", 5.0, pause_s=3600.0)
    with pytest.raises(type(failure)):
        await patience.wait(helper.ask)
    assert await patience.wait(helper.ask) == 2


async def test_what_is_slow_is_given_up_in_time_and_left_alone():
    patience = Patience("the helper", 0.01, pause_s=3600.0)
    async with asyncio.timeout(20):
        with pytest.raises(Unavailable, match=r"the helper did not answer within 0\.01 s"):
            await patience.wait(asyncio.Event().wait)
        with pytest.raises(Unavailable, match="a moment ago"):
            await patience.wait(Helper(2).ask)
