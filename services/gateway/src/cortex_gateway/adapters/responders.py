"""The configured engines on the bus: each answers `ask` and `health` under its key, as the built-in ones do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cortex_contracts.rpc import engine
from cortex_gateway.adapters.guard import Guard
from cortex_runtime import VERSION
from cortex_runtime.bus import Bus
from cortex_runtime.rpc import RpcServer


class Responders:
    """Answers for `guards` on `bus`, each beside the others: one that hangs takes nobody else's places."""

    def __init__(self, bus: Bus, guards: Sequence[Guard]) -> None:
        self._bus = bus
        self._guards = tuple(guards)

    async def run(self) -> None:
        """Serve until cancelled; then take no new questions, finish those that run and close the engines.

        Raises:
            Unavailable: the bus is not open.
        """
        async with asyncio.TaskGroup() as group:
            servers = [self._server(guard) for guard in self._guards]
            try:
                # Before anything is connected to: a question that comes early waits, and finds somebody who answers.
                for server in servers:
                    await server.start(self._bus.client)
                for guard in self._guards:
                    group.create_task(guard.run())
                await asyncio.Event().wait()
            finally:
                for server in servers:
                    await server.stop()

    def _server(self, guard: Guard) -> RpcServer:
        server = RpcServer(f"engine-{guard.key}", VERSION)
        server.add(engine.ask(guard.key), guard.ask)
        server.add(engine.health(guard.key), guard.health)
        return server
