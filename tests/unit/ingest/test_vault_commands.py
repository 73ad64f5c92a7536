"""Sync commands, polls and plans, without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.rpc.ingest import SyncProgress
from cortex_ingest.errors import RepositoryUnreachable, UnknownVault
from cortex_ingest.git_repository import Blob
from cortex_ingest.handlers import FETCH_ATTEMPTS, Vaults, status
from cortex_ingest.poll import Poll
from cortex_ingest.vault_pages import VaultPages
from cortex_ingest.vault_plan import MAX_PAGE_BYTES, Claims, fingerprint, plan
from cortex_ingest.vault_sync import VaultSync
from cortex_runtime.bus import Delivery
from cortex_runtime.publishing import Published
from cortex_runtime.settings_vaults import VaultSource
from cortex_store.pages import PageKey
from cortex_store.vaults import PageFailure, Progress, SyncResult, Vault

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


@given(
    st.lists(st.tuples(st.sampled_from("pqrstu"), st.sampled_from("xyz")), unique_by=lambda each: each[0]), st.data()
)
def test_each_slug_goes_to_the_first_path_that_asks_whatever_was_stored(
    wanted: list[tuple[str, str]], data: st.DataObject
) -> None:
    expected: dict[str, str] = {}
    for path, slug in sorted(wanted):
        expected.setdefault(slug, path)
    # Any part of a first import may be stored already and unchanged.
    stored = data.draw(st.sets(st.sampled_from(sorted(expected)))) if expected else set()
    unchanged = {f"{expected[slug]}.md": slug for slug in stored}
    defaults = {f"{path}.md": path for path, _ in wanted}
    keys = [PageKey(slug, path, fingerprint("1", defaults[path])) for path, slug in unchanged.items()]
    claims = Claims(plan([Blob(path, "1", 1) for path in defaults], keys))
    holders = {slug: path for path, slug in unchanged.items()}
    for path, slug in sorted(wanted):
        if f"{path}.md" in unchanged:
            continue
        holder, loser = claims.ask(slug, f"{path}.md")
        assert loser is None or holders[slug] == loser
        holders[slug] = holder
    assert holders == {slug: f"{path}.md" for slug, path in expected.items()}


def test_a_file_takes_a_slug_from_one_that_comes_later_by_path() -> None:
    later = Blob("b.md", "1", 1)
    claims = Claims(plan([Blob("a.md", "2", 1), later], [PageKey("s", "b.md", fingerprint("1", "b"))]))
    assert claims.ask("s", "a.md") == ("a.md", "b.md")
    assert claims.ask("s", "a.md") == ("a.md", None)
    assert claims.ask("s", "c.md") == ("a.md", None)


@pytest.mark.parametrize(
    ("path", "is_told"),
    [("a.md", True), ("../a.md", True), ("/a.md", True), ("./x/a.md", True), ("a.png", False), (".h/a.md", False)],
)
def test_what_is_refused_is_told_where_a_page_would_be(path: str, is_told: bool) -> None:
    work = plan([Blob(path, "1", 1, "expected a file")], [PageKey("a", "a.md", b"")])
    assert [failure.path for failure in work.refused] == ([path] if is_told else [])
    assert (work.changed, [key.slug for key in work.gone]) == ((), ["a"])


def test_a_file_may_be_as_large_as_a_page_and_no_larger() -> None:
    work = plan([Blob("a.md", "1", MAX_PAGE_BYTES), Blob("b.md", "2", MAX_PAGE_BYTES + 1)], ())
    assert [blob.path for blob in work.changed] == ["a.md"]
    assert [failure.path for failure in work.refused] == ["b.md"]


def test_a_status_tells_as_many_errors_as_a_message_takes() -> None:
    errors = tuple(PageFailure(f"{number:05}.md", "m" * 92) for number in range(5_000))
    state = Vault(
        "notes", "c", None, SyncResult.PARTIAL, 1, errors, Progress("d", 2, 3, datetime(2026, 1, 1, tzinfo=UTC))
    )
    told = status("notes", state)
    assert told.progress == SyncProgress(commit="d", done=2, total=3, started_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert [error.path for error in told.errors[:2]] == ["00000.md", "00001.md"]
    assert (told.errors[-1].path, told.errors[-1].message) == (".", "and 4000 more")
    assert len(told.model_dump_json()) < 200_000
    assert status("notes", None).last_sync is None
