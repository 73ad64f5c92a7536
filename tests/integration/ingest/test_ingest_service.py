"""The ingest service as a process: sync commands in, pages and events out."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import httpx
import nats as nats_client
import pytest

from cortex_contracts import subjects
from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_contracts.messages.dead_letter import DeadLetter
from cortex_contracts.messages.events import PageEvent
from cortex_contracts.permissions import OPERATOR, inbox_prefix
from cortex_contracts.rpc.ingest import SYNC_STATUS, SyncStatus, SyncStatusRequest
from cortex_contracts.rpc.pages import (
    DELETE_PAGE,
    IMPORT_PAGE,
    PUT_PAGE,
    SYNC,
    SYNC_STATES,
    ImportPageRequest,
    PageDraft,
    PageRequest,
    PutPageRequest,
    SyncRequest,
    SyncStatesRequest,
)
from cortex_infra import ports
from cortex_providers.embedder import EmbedderConfig
from cortex_runtime import dead_letters
from cortex_runtime.bus import Bus
from cortex_testkit.eventually import eventually
from cortex_testkit.nats_server import NatsServer
from cortex_testkit.postgres_server import PostgresDatabase

EXAMPLE = Path(__file__).parents[3] / "examples" / "vault"


class Git(Protocol):
    folder: Path
    run: Callable[..., str]
    commit: Callable[[dict[str, Any]], str]


class Ingest:
    """A running ingest service with one good vault and one that does not exist."""

    def __init__(self, bus: Bus, git: Git) -> None:
        self.bus = bus
        self.git = git

    async def status(self, vault: str = "demo", org: str = "local") -> SyncStatus:
        principal = Principal(org=org, subject="test")
        return await self.bus.request(SYNC_STATUS, SyncStatusRequest(principal=principal, vault=vault))

    async def command(self, vault: str, message_id: str) -> None:
        subject = subjects.sync("local", vault)
        await self.bus.publish(subject, SyncVault(reason=SyncReason.PUSH), message_id=message_id)

    async def synced(self, commit: str) -> SyncStatus:
        return await eventually(self.status, lambda status: status.synced_commit == commit, within_s=60)


@pytest.fixture
async def ingest(
    nats: NatsServer,
    postgres: PostgresDatabase,
    embedder: EmbedderConfig,
    make_git: Callable[[str], Git],
    tmp_path: Path,
) -> AsyncIterator[Ingest]:
    git = make_git("demo")
    git.commit({"first.md": "---\ntitle: First\n---\nA page.\n"})
    vaults = [
        {"name": "demo", "repository": str(git.folder)},
        {"name": "lost", "repository": str(tmp_path / "lost")},
    ]
    port = ports.choose()
    environment = {
        **os.environ,
        "CORTEX_HOME": str(tmp_path / "home"),
        "CORTEX_NATS_URL": nats.url("ingest"),
        "CORTEX_DATABASE_URL": postgres.runtime_url,
        "CORTEX_CACHE_URL": f"redis://127.0.0.1:{ports.choose()}/0",
        "CORTEX_EMBEDDINGS_URL": embedder.url,
        "CORTEX_EMBEDDINGS_MODEL": embedder.model,
        "CORTEX_EMBEDDINGS_API_KEY": embedder.api_key,
        "CORTEX_INGEST_PORT": str(port),
        "CORTEX_VAULTS": json.dumps(vaults),
    }
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("wb"))
        command = [sys.executable, "-m", "cortex_ingest"]
        process = await asyncio.to_thread(subprocess.Popen, command, env=environment, stderr=log)
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as http:
                await eventually(
                    lambda: http.get("/health/ready"),
                    lambda answer: answer.status_code == 200,
                    ignoring=(httpx.HTTPError,),
                )
            bus = Bus(nats.url("gateway"), "gateway", "0.1.0")
            await bus.open()
            yield Ingest(bus, git)
            await bus.close()
        finally:
            process.terminate()
            assert await asyncio.to_thread(process.wait, 30) == 0


async def test_the_service_syncs_at_start_and_when_it_is_told(ingest: Ingest, nats: NatsServer) -> None:
    status = await ingest.synced(ingest.git.run("rev-parse", "HEAD"))
    assert (status.last_result, status.pages_changed, status.errors) == ("ok", 1, ())

    shutil.copytree(EXAMPLE, ingest.git.folder, dirs_exist_ok=True)
    head = ingest.git.commit({"first.md": None})
    await ingest.command("demo", "github:1:demo")
    status = await ingest.synced(head)
    assert (status.last_result, status.pages_changed, status.errors) == ("ok", 37, ())

    client = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))
    js = client.jetstream()

    async def events() -> list[PageEvent]:
        last = (await js.stream_info("EVENTS")).state.last_seq
        raw = [await js.get_msg("EVENTS", sequence) for sequence in range(1, last + 1)]
        # Beside them are those that tell how far a sync is.
        of_pages = [each for each in raw if subjects.covers(subjects.PAGE_EVENT_PATTERN, each.subject or "")]
        return [PageEvent.model_validate_json(each.data or b"") for each in of_pages]

    try:
        found = await eventually(events, lambda events: len(events) == 1 + 1 + 37 + 1)
    finally:
        await client.close()
    assert [event.slug for event in found if event.op == "delete"] == ["first"]
    assert [event.pages_changed for event in found if event.op == "sync"] == [1, 37]


async def test_a_vault_nobody_configured_is_a_dead_letter_and_another_org_sees_nothing(
    ingest: Ingest, nats: NatsServer
) -> None:
    await ingest.synced(ingest.git.run("rev-parse", "HEAD"))
    await ingest.command("unknown", "github:2:unknown")
    client = await nats_client.connect(nats.url(OPERATOR), inbox_prefix=inbox_prefix(OPERATOR))

    async def letters() -> list[DeadLetter]:
        return [letter async for letter in dead_letters.browse(client)]

    try:
        (letter,) = await eventually(letters)
    finally:
        await client.close()
    assert letter.subject == "cortex.v1.cmd.sync.local.unknown"
    assert letter.message_id == "github:2:unknown"
    for vault, org in (("unknown", "local"), ("demo", "stranger")):
        with pytest.raises(CortexError) as caught:
            await ingest.status(vault, org)
        assert caught.value.code is ErrorCode.NOT_FOUND


async def test_a_repository_that_cannot_be_reached_is_reported(ingest: Ingest) -> None:
    status = await eventually(lambda: ingest.status("lost"), lambda status: status.last_result is not None)
    assert (status.last_result, status.synced_commit) == ("failed", None)
    assert [problem.path for problem in status.errors] == ["."]


async def test_the_service_writes_pages_and_syncs_when_it_is_asked(ingest: Ingest) -> None:
    await ingest.synced(ingest.git.run("rev-parse", "HEAD"))
    me = Principal(org="local", subject="me")
    draft = PageDraft(title="By hand", body_markdown="See [[first]].")
    written = await ingest.bus.request(PUT_PAGE, PutPageRequest(principal=me, slug="By Hand", page=draft))
    assert written.page is not None
    assert (written.created, written.page.vault, written.page.slug) == (True, "demo", "by-hand")
    assert written.page.links_out == ("first",)
    wrong = ImportPageRequest(principal=me, slug="wrong", markdown="---\ntype: bogus\n---\nText.")
    assert [error.field for error in (await ingest.bus.request(IMPORT_PAGE, wrong)).errors] == ["type"]

    head = ingest.git.commit({"second.md": "Another page."})
    assert (await ingest.bus.request(SYNC, SyncRequest(principal=me))).vaults == ("demo", "lost")
    await ingest.synced(head)
    states = await ingest.bus.request(SYNC_STATES, SyncStatesRequest(principal=me))
    assert [state.vault for state in states.vaults] == ["demo", "lost"]

    gone = PageRequest(principal=me, slug="By Hand")
    assert [(await ingest.bus.request(DELETE_PAGE, gone)).deleted for _ in range(2)] == [True, False]
