"""Sync commands, polls and plans, without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_ingest.errors import RepositoryUnreachable, UnknownVault
from cortex_ingest.git_repository import Blob
from cortex_ingest.handlers import FETCH_ATTEMPTS, Vaults
from cortex_ingest.poll import Poll
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_sync import VaultSync, fingerprint, plan
from cortex_runtime.bus import Delivery
from cortex_runtime.publishing import Published
from cortex_runtime.settings import VaultSource
from cortex_store.pages import PageKey

SOURCE = VaultSource(name="notes", repository="/srv/notes")
POLL = SyncVault(reason=SyncReason.POLL)


@dataclass
class Syncs:
    """Stands for the use case: what it was asked, and whether git can fetch."""

    reachable: bool = True
    asked: list[tuple[str, bool]] = field(default_factory=list)

    async def run(self, message_id: str, *, quiet: bool = False) -> None:
        self.asked.append((message_id, quiet))
        if not self.reachable:
            raise RepositoryUnreachable("git could not fetch")


def vaults(syncs: Syncs) -> Vaults:
    def pages_of(org: str, vault: str) -> VaultPages:
        return cast("VaultPages", (org, vault))

    return Vaults("local", [SOURCE], pages_of, lambda *_: cast("VaultSync", syncs))


def delivery(subject: str = "cortex.v1.cmd.sync.local.notes", deliveries: int = 1) -> Delivery:
    return Delivery(subject, "m-1", "SYNCS", 1, deliveries, {})


async def test_a_command_syncs_the_vault_of_its_subject_and_polls_are_quiet() -> None:
    syncs = Syncs()
    await vaults(syncs).sync(SyncVault(reason=SyncReason.PUSH), delivery())
    await vaults(syncs).sync(POLL, delivery())
    assert syncs.asked == [("m-1", False), ("m-1", True)]


@pytest.mark.parametrize("subject", ["cortex.v1.cmd.sync.local.other", "cortex.v1.cmd.sync.stranger.notes"])
async def test_a_vault_of_another_name_or_org_is_unknown(subject: str) -> None:
    syncs = Syncs()
    with pytest.raises(UnknownVault):
        await vaults(syncs).sync(POLL, delivery(subject))
    assert syncs.asked == []


async def test_a_foreign_subject_is_no_command() -> None:
    with pytest.raises(InvalidMessage):
        await vaults(Syncs()).sync(POLL, delivery("cortex.v1.cmd.sync.local"))


async def test_an_unreachable_repository_is_retried_for_a_while_then_left_to_the_poll() -> None:
    syncs = Syncs(reachable=False)
    with pytest.raises(RepositoryUnreachable):
        await vaults(syncs).sync(POLL, delivery(deliveries=FETCH_ATTEMPTS - 1))
    await vaults(syncs).sync(POLL, delivery(deliveries=FETCH_ATTEMPTS))
    assert len(syncs.asked) == 2


@dataclass
class Recorder:
    """A bus that remembers what was published."""

    sent: list[tuple[str, str]] = field(default_factory=list)

    async def publish(self, subject: str, message: Message, *, message_id: str) -> Published:
        assert isinstance(message, SyncVault)
        assert message.reason is SyncReason.POLL
        self.sent.append((subject, message_id))
        return Published("SYNCS", len(self.sent), False)


async def test_a_poll_has_one_identity_per_vault_configuration_and_interval() -> None:
    bus = Recorder()
    poll = Poll(bus, "local", [SOURCE])
    for now in (900.0, 1799.9, 1800.0):
        await poll.ask(now)
    await Poll(bus, "local", [SOURCE.model_copy(update={"branch": "other"})]).ask(1800.0)
    assert {subject for subject, _ in bus.sent} == {"cortex.v1.cmd.sync.local.notes"}
    first, same, later, moved = (message_id for _, message_id in bus.sent)
    assert first == same
    assert len({first, later, moved}) == 3


PATHS = st.sampled_from(["a.md", "x/a.md", "b.md", "c c.md", "photo.png", ".obsidian/d.md"])
TREES = st.dictionaries(PATHS, st.sampled_from(["1", "2", "3"]))


@given(TREES, TREES)
def test_what_a_plan_leaves_is_what_the_files_say(before: dict[str, str], after: dict[str, str]) -> None:
    def files(tree: dict[str, str]) -> list[Blob]:
        return [Blob(path, blob, 1) for path, blob in tree.items()]

    first = plan(files(before), ())
    stored = {
        blob.path: PageKey(first.slugs[blob.path], blob.path, fingerprint(blob.id, first.slugs[blob.path]))
        for blob in first.changed
    }
    work = plan(files(after), stored.values())
    for key in work.gone:
        del stored[str(key.path)]
    for blob in work.changed:
        slug = work.slugs[blob.path]
        stored[blob.path] = PageKey(slug, blob.path, fingerprint(blob.id, slug))
    again = plan(files(after), stored.values())
    assert (again.gone, again.changed) == ((), ())
    assert stored.keys() == {path for path in after if path.endswith(".md") and not path.startswith(".")}
