"""The demonstration of `make up`: an example vault arrives by a signed push, two captures over NATS, one question.

Everything goes through the same doors as in production: a git repository, a GitHub push delivery with its signature at
the webhook service, captures published with an outside publisher's credentials, the question at the gateway.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx
from nats.aio.client import Client
from rich.console import Console
from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from cortex_cli.ask import put, show
from cortex_contracts import subjects
from cortex_contracts.errors import CortexError, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.commands import Capture
from cortex_contracts.permissions import OPERATOR
from cortex_contracts.rpc.ingest import SYNC_STATUS, SyncStatusRequest
from cortex_contracts.streams import INGEST_CAPTURES
from cortex_infra.bringup import System
from cortex_infra.home import Home
from cortex_infra.installation import DEFAULT_ORG
from cortex_runtime.connection import connect_once
from cortex_runtime.publishing import publish
from cortex_runtime.rpc import call

VAULT: Final = "example"
GITHUB: Final = "cortex/example-vault"
BRANCH: Final = "main"
WORK_LIMIT_S: Final = 60.0
POLL_S: Final = 0.1


def vault_setting(home: Home) -> str:
    """The value of `CORTEX_VAULTS` that makes the example vault known; an empty repository is made if it is missing."""
    repository = _repository(home)
    if not (repository / ".git").exists():
        repository.mkdir(parents=True, exist_ok=True)
        _git(repository, "init", "--quiet", "--initial-branch", BRANCH)
    vault = {"name": VAULT, "repository": str(repository), "branch": BRANCH, "github": GITHUB}
    return json.dumps([vault])


async def run(system: System, folder: Path, console: Console) -> None:
    """Bring in the example and ask its question.

    Raises:
        CortexError: a door did not open, or the work was not done in time.
    """
    prepared = system.installation
    org = os.environ.get("CORTEX_ORG") or DEFAULT_ORG
    before, head = commit(folder / "vault", _repository(prepared.home))
    status = deliver(system.url("webhook"), prepared.webhook_secret, before, head)
    console.print(f"\n  signed push of {head[:10]} → webhook: {status}")
    publisher = await connect_once(prepared.publisher_url)
    operator = await connect_once(prepared.operator_url)
    try:
        for capture_id, source_kind, capture in captures(folder / "captures.json"):
            subject = subjects.capture(org, source_kind)
            await publish(publisher, subject, capture.model_dump_json().encode(), message_id=capture_id, more={})
            console.print(f"  capture on {subject}")
        synced = await _until(lambda: _synced(operator, org, head), "the sync of the example vault")
        await _until(lambda: _captured(operator), "the captures of the example")
        console.print(f"  vault synced: {synced}")
    finally:
        await publisher.close()
        await operator.close()
    question = (folder / "question.txt").read_text(encoding="utf-8").strip()
    console.print(f"\n[bold cyan]? {question}[/bold cyan]")
    show(put(system.url("gateway"), os.environ.get("CORTEX_HTTP_TOKEN") or prepared.home.token(), question), console)


def commit(pages: Path, repository: Path) -> tuple[str, str]:
    """Put the pages into the repository; returns its head before (zeros: none) and after."""
    before = _git(repository, "rev-parse", "--verify", "--quiet", "HEAD", check=False) or "0" * 40
    for old in repository.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(pages, repository, dirs_exist_ok=True)
    _git(repository, "add", "--all")
    if _git(repository, "status", "--porcelain"):
        _git(repository, "commit", "--quiet", "--message", "The example vault")
    return before, _git(repository, "rev-parse", "HEAD")


def deliver(webhook: str, secret: str, before: str, head: str) -> str:
    """Deliver a push as GitHub does: JSON, signed over its bytes; returns what the webhook made of it.

    Raises:
        Permanent: the webhook refuses it.
        Unavailable: it does not answer.
    """
    body = json.dumps(
        {
            "ref": f"refs/heads/{BRANCH}",
            "before": before,
            "after": head,
            "created": before.startswith("0" * 40),
            "deleted": False,
            "forced": False,
            "commits": [{"id": head, "added": [], "modified": [], "removed": []}],
            "repository": {"full_name": GITHUB, "default_branch": BRANCH},
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}",
    }
    try:
        response = httpx.post(
            f"{webhook}/api/v1/brain/sync/webhook", content=body, headers=headers, timeout=10, trust_env=False
        )
    except httpx.HTTPError as error:
        raise Unavailable(f"the webhook does not answer ({type(error).__name__})") from None
    if response.status_code != 202:
        raise Permanent(f"the webhook answered {response.status_code} to the signed push")
    return f"202 {response.json().get('status', '')}"


def captures(file: Path) -> list[tuple[str, str, Capture]]:
    """Message id, kind of source and body of every capture; the same text has the same id, so it is retained once."""
    found = []
    for entry in json.loads(file.read_text(encoding="utf-8")):
        source_kind = entry.pop("source_kind")
        digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:32]
        found.append((f"example-{digest}", source_kind, Capture.model_validate(entry)))
    return found


async def _synced(operator: Client, org: str, head: str) -> str:
    request = SyncStatusRequest(principal=Principal(org=org, subject=OPERATOR), vault=VAULT)
    try:
        status = await call(operator, SYNC_STATUS, request, timeout_s=SYNC_STATUS.timeout_s)
    except CortexError:
        return ""
    if status.synced_commit != head:
        return ""
    return f"{status.pages_changed} pages changed, {len(status.errors)} errors ({status.last_result})"


async def _captured(operator: Client) -> bool:
    state = await operator.jetstream().consumer_info(INGEST_CAPTURES.stream.name, INGEST_CAPTURES.name)
    return not state.num_pending and not state.num_ack_pending


async def _until(ask: Callable[[], Awaitable[Any]], what: str) -> Any:
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_result(lambda answer: not answer),
            stop=stop_after_delay(WORK_LIMIT_S),
            wait=wait_fixed(POLL_S),
        ):
            with attempt:
                answer = await ask()
            if not attempt.retry_state.outcome or not attempt.retry_state.outcome.failed:
                attempt.retry_state.set_result(answer)
        return answer
    except RetryError:
        raise Unavailable(f"{what} was not done within {WORK_LIMIT_S:g} s; see the logs of ingest") from None


def _repository(home: Home) -> Path:
    return home.path / "example-vault"


def _git(repository: Path, *arguments: str, check: bool = True) -> str:
    identity = (
        "-c",
        "user.name=Cortex example",
        "-c",
        "user.email=example@cortex.invalid",
        "-c",
        "commit.gpgsign=false",
    )
    done = subprocess.run(
        ["git", *identity, "-c", f"safe.directory={repository}", *arguments],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"},
    )
    if check and done.returncode:
        raise Permanent(f"git {arguments[0]} failed: {done.stderr.strip()[:300]}")
    return done.stdout.strip()
