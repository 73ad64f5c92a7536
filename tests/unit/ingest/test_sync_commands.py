"""Commands to sync: every caller gets one that begins after it asked, and a burst gets few."""

from __future__ import annotations

import asyncio

import pytest

from cortex_contracts.errors import Unavailable
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_ingest.sync_rpc import SyncCommands
from cortex_runtime.publishing import Published
from cortex_runtime.settings_vaults import VaultSource

NOTES = VaultSource(name="notes", repository="/srv/notes", branch="main")
WORK = VaultSource(name="work", repository="/srv/work", branch="b" * 250)


class Bus:
    """Keeps what it is given; confirms when `confirmed` is set, or fails."""

    def __init__(self) -> None:
        self.published: list[tuple[str, Message, str]] = []
        self.asked = asyncio.Event()
        self.confirmed = asyncio.Event()
        self.confirmed.set()
        self.fails = False

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        self.published.append((subject, message, message_id))
        self.asked.set()
        await self.confirmed.wait()
        if self.fails:
            raise Unavailable("the bus does not confirm")
        return Published("SYNCS", len(self.published), duplicate=False)


@pytest.fixture
def bus() -> Bus:
    return Bus()


@pytest.fixture
def commands(bus: Bus) -> SyncCommands:
    return SyncCommands(bus, "local", pause_s=0.01)


async def test_a_command_says_what_is_to_be_synced(bus: Bus, commands: SyncCommands) -> None:
    await commands.send(NOTES)
    await commands.send(WORK)
    assert [(subject, message) for subject, message, _ in bus.published] == [
        ("cortex.v1.cmd.sync.local.notes", SyncVault(reason=SyncReason.MANUAL, branch="main")),
        ("cortex.v1.cmd.sync.local.work", SyncVault(reason=SyncReason.MANUAL, branch="b" * 200)),
    ]


async def test_those_who_ask_together_share_a_command(bus: Bus, commands: SyncCommands) -> None:
    await asyncio.gather(*(commands.send(NOTES) for _ in range(100)), *(commands.send(WORK) for _ in range(100)))
    assert [subject.rsplit(".", 1)[-1] for subject, _, _ in bus.published] == ["notes", "work"]


async def test_who_asks_later_gets_a_command_of_its_own(bus: Bus, commands: SyncCommands) -> None:
    for _ in range(3):
        await commands.send(NOTES)
    assert len({message_id for _, _, message_id in bus.published}) == 3


async def test_who_asks_while_a_command_is_on_its_way_gets_the_next_one(bus: Bus, commands: SyncCommands) -> None:
    bus.confirmed.clear()
    first = asyncio.create_task(commands.send(NOTES))
    async with asyncio.timeout(20):
        await bus.asked.wait()
    # The first command may be taken up before this one asks: it must not count for it.
    later = asyncio.gather(*(commands.send(NOTES) for _ in range(10)))
    bus.confirmed.set()
    await asyncio.gather(first, later)
    assert len(bus.published) == 2


async def test_all_who_share_a_command_learn_that_it_failed_and_the_next_one_is_tried(
    bus: Bus, commands: SyncCommands
) -> None:
    bus.fails = True
    outcomes = await asyncio.gather(*(commands.send(NOTES) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    bus.fails = False
    await commands.send(NOTES)
    assert len(bus.published) == 2


async def test_one_who_goes_away_does_not_take_the_others_command_along(bus: Bus, commands: SyncCommands) -> None:
    bus.confirmed.clear()
    impatient, patient = (asyncio.create_task(commands.send(NOTES)) for _ in range(2))
    async with asyncio.timeout(20):
        await bus.asked.wait()
    impatient.cancel()
    bus.confirmed.set()
    await patient
    with pytest.raises(asyncio.CancelledError):
        await impatient
    assert len(bus.published) == 1
