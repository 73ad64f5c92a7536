"""How much is asked of engines at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from cortex_contracts.errors import ErrorCode
from cortex_gateway.errors import Busy
from cortex_gateway.turns import Turns

LONG_S = 30.0


class Question:
    """Takes so many hits, and holds them until it is told."""

    def __init__(self, turns: Turns, hits: int, within_s: float = LONG_S) -> None:
        self.answered = asyncio.Event()
        self.asked = asyncio.Event()
        self.task = asyncio.create_task(self._ask(turns, hits, within_s))

    async def _ask(self, turns: Turns, hits: int, within_s: float) -> float:
        async with turns.taken(hits, within_s) as waited_s:
            self.asked.set()
            await self.answered.wait()
        return waited_s


@asynccontextmanager
async def asking(turns: Turns, *hits: int) -> AsyncIterator[list[Question]]:
    """Questions that have come in this order."""
    async with AsyncExitStack() as stack:
        questions = []
        for number in hits:
            question = Question(turns, number)
            stack.callback(question.task.cancel)
            questions.append(question)
            await settled()
        yield questions


async def settled() -> None:
    """Everything that can go on has gone on."""
    for _ in range(5):
        await asyncio.sleep(0)


def asked(questions: list[Question]) -> list[bool]:
    return [question.asked.is_set() for question in questions]


async def test_what_fits_beside_the_others_does_not_wait():
    async with asking(Turns(10), 4, 6) as questions:
        assert asked(questions) == [True, True]
        questions[1].answered.set()
        assert await questions[1].task == 0.0


async def test_who_does_not_fit_waits_until_another_is_answered():
    async with asking(Turns(10), 4, 6, 5) as questions:
        assert asked(questions) == [True, True, False]
        questions[0].answered.set()
        await settled()
        assert asked(questions) == [True, True, False]
        questions[1].answered.set()
        await settled()
        questions[2].answered.set()
        assert await questions[2].task > 0


async def test_nobody_overtakes_a_question_that_is_larger():
    async with asking(Turns(10), 8, 5, 1) as questions:
        assert asked(questions) == [True, False, False]
        questions[0].answered.set()
        await settled()
        assert asked(questions) == [True, True, True]


async def test_a_question_larger_than_everything_is_asked_alone():
    async with asking(Turns(10), 100, 1) as questions:
        assert asked(questions) == [True, False]
        questions[0].answered.set()
        await settled()
        assert asked(questions) == [True, True]


async def test_a_turn_that_does_not_come_in_time_is_told_as_busy():
    turns = Turns(10)
    async with asking(turns, 10):
        with pytest.raises(Busy) as refused:
            async with turns.taken(1, 0.0):
                raise AssertionError("it was nobody's turn")
    assert refused.value.code is ErrorCode.UNAVAILABLE
    assert refused.value.retryable


async def test_who_stops_waiting_stands_in_nobodys_way():
    turns = Turns(10)
    async with asking(turns, 6, 6, 4) as questions:
        assert asked(questions) == [True, False, False]
        questions[1].task.cancel()
        await settled()
        assert asked(questions) == [True, False, True]


async def test_a_turn_that_comes_as_its_question_gives_up_goes_to_the_next():
    turns = Turns(10)
    async with AsyncExitStack() as stack:
        async with turns.taken(10, LONG_S):
            first, second = await stack.enter_async_context(asking(turns, 10, 10))
        first.task.cancel()  # its turn has come, and it has not gone on yet
        await settled()
        assert first.task.cancelled()
        assert asked([first, second]) == [False, True]


async def test_several_that_stop_waiting_at_once_are_passed_over():
    turns = Turns(10)
    async with asking(turns, 10, 10, 10, 10) as questions:
        for question in questions[:3]:
            question.task.cancel()
        await settled()
        assert asked(questions) == [True, False, False, True]


async def test_a_question_that_fails_gives_its_turn_back():
    turns = Turns(10)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"):
            async with turns.taken(10, LONG_S):
                raise ValueError("broken")
