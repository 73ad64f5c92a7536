"""Services that a test plays: RPCs answered over NATS as the users that serve them in production."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from cortex_contracts.rpc.contract import Rpc
from cortex_runtime.bus import Bus
from cortex_testkit.nats_server import NatsServer


@asynccontextmanager
async def playing(nats: NatsServer, *answers: tuple[Rpc[Any, Any], Callable[[Any], Any]]) -> AsyncIterator[None]:
    """Serve each RPC by its handler for as long as the block runs."""
    buses: dict[str, Bus] = {}
    for rpc, handler in answers:
        bus = buses.setdefault(rpc.service, Bus(nats.url(rpc.service), rpc.service, "0.0.1"))
        bus.serve(rpc, handler)
    async with AsyncExitStack() as stack:
        for bus in buses.values():
            await bus.open()
            stack.push_async_callback(bus.close)
        yield
