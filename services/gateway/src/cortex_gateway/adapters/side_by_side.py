"""Several calls of one search at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def side_by_side(*calls: Coroutine[Any, Any, ResultT]) -> list[ResultT]:
    """The results of `calls`, in their order. The first that raises ends the others, and what it raises is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failed:
        # Who asks wants to know what is broken, not that something in a group is.
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
