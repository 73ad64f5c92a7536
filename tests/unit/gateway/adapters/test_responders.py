"""The order in which engines are served and connected to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cortex_gateway.adapters import responders
from cortex_testkit.eventually import eventually


class Engine:
    """A guard that only says when it was started."""

    def __init__(self, key: str, told: list[str]) -> None:
        self.key = key
        self._told = told

    async def run(self) -> None:
        self._told.append(f"{self.key} connected to")
        await asyncio.Event().wait()

    async def ask(self) -> None: ...

    async def health(self) -> None: ...


async def test_every_engine_is_served_before_any_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    done = asyncio.Event()

    class Server:
        def __init__(self, name: str, version: str) -> None:
            self._name = name

        def add(self, rpc: object, handler: object) -> None: ...

        async def start(self, client: object) -> None:
            await asyncio.sleep(0)
            told.append(f"{self._name} served")

        async def stop(self) -> None:
            told.append(f"{self._name} ended")
            done.set()

    monkeypatch.setattr(responders, "RpcServer", Server)
    bus: Any = type("Bus", (), {"client": None})()
    guards: Any = [Engine("rag", told), Engine("cbm", told)]
    running = asyncio.create_task(responders.Responders(bus, guards).run())
    async with asyncio.timeout(10):
        await eventually(lambda: asyncio.sleep(0, told), lambda so_far: len(so_far) == 4)
        assert told == ["engine-rag served", "engine-cbm served", "rag connected to", "cbm connected to"]
        running.cancel()
        await done.wait()
        await asyncio.wait({running})
    assert told[4:] == ["engine-rag ended", "engine-cbm ended"]
