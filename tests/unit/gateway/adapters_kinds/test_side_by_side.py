"""Calls of one search at the same time."""

from __future__ import annotations

import asyncio

import pytest

from cortex_contracts.errors import Unavailable
from cortex_gateway.adapters.side_by_side import side_by_side


async def test_results_come_in_the_order_of_the_calls():
    turn = asyncio.Event()

    async def late() -> str:
        await turn.wait()
        return "late"

    async def early() -> str:
        turn.set()
        return "early"

    async with asyncio.timeout(20):
        assert await side_by_side(late(), early()) == ["late", "early"]
    assert await side_by_side() == []


async def test_the_first_error_ends_the_others_and_is_raised_as_it_is():
    ended = asyncio.Event()

    async def hanging() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def failing() -> None:
        raise Unavailable("gone")

    async with asyncio.timeout(20):
        with pytest.raises(Unavailable, match="gone"):
            await side_by_side(hanging(), failing())
    assert ended.is_set()


async def test_whoever_is_cancelled_cancels_them():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hanging() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(side_by_side(hanging()))
    async with asyncio.timeout(20):
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended.is_set()
