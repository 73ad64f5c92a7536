"""Private repositories: git servers that want a token or a key, and nobody else who learns of them."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import asyncssh
import pytest

from cortex_ingest.errors import RepositoryUnreachable
from cortex_ingest.git_access import Access
from cortex_ingest.git_repository import GitRepository
from cortex_store.vaults import SyncResult, Vault

TOKEN = "github_pat_11ABCDEFG_never-to-be-seen"


class Git(Protocol):
    folder: Path
    run: Callable[..., str]
    commit: Callable[[dict[str, Any]], str]


class SyncedVault(Protocol):
    git: Git
    mirror: Path
    repository: Callable[[], GitRepository]
    sync: Callable[..., Awaitable[Vault]]
    state: Callable[[], Awaitable[Vault]]
    slugs: Callable[[], Awaitable[list[str]]]


def reading(vault: SyncedVault, address: str, access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let syncs of the vault read `address`."""
    monkeypatch.setattr(
        vault, "repository", lambda: GitRepository(address, "main", vault.mirror, access, fetch_timeout_s=20)
    )


# HTTP -----------------------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A git server on this machine that lets in who has the token."""

    folder: Path
    token: str
    redirect_to: str | None = None
    credentials: list[str] = field(default_factory=list)
    """What clients sent."""
    command_lines: set[str] = field(default_factory=set)
    """Of every process that ran while a request was answered."""
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[Server]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.answer(self)

            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, *_: object) -> None:
                """Nothing: the output of a test is its own."""

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            http.shutdown()
            thread.join()
            http.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer as `git http-backend` does, if the client may come in."""
        body = request.rfile.read(int(request.headers.get("Content-Length", "0")))
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.command_lines.add(process.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue  # it has ended
        given = request.headers.get("Authorization")
        if given:
            self.credentials.append(base64.b64decode(given.removeprefix("Basic ")).decode())
        path, _, query = request.path.partition("?")
        if self.redirect_to:
            self._send(request, 301, [("Location", f"{self.redirect_to}{request.path}")], b"")
        elif given is None or self.credentials[-1].partition(":")[2] != self.token:
            self._send(request, 401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
        else:
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": request.command,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            }
            done = subprocess.run(
                ["git", "http-backend"], env=environment, input=body, capture_output=True, check=True, timeout=30
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = [
                (name, value.strip()) for name, _, value in (h.partition(":") for h in head.decode().split("\r\n"))
            ]
            status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
            self._send(request, status, headers, content)

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        request.send_response(status)
        for name, value in headers:
            if name not in ("Status", "Content-Length"):
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)


def assert_unseen(secret: str, vault: SyncedVault, state: Vault, shown: str) -> None:
    """No file beside or in the mirror, no error and no line of a log has the secret."""
    files = [path for path in vault.mirror.parent.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert secret.encode() not in path.read_bytes(), path
    assert secret not in repr(state)
    assert secret not in shown


async def test_a_token_opens_a_private_repository_and_is_left_nowhere(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    vault.git.commit({"a.md": "private"})
    with Server(vault.git.folder.parent, TOKEN).running() as server:
        reading(vault, f"{server.url}/origin/.git", Access(TOKEN), monkeypatch)
        state = await vault.sync()
        assert (state.last_result, await vault.slugs()) == (SyncResult.OK, ["a"])
        vault.git.commit({"b.md": "more"})
        state = await vault.sync()
        assert await vault.slugs() == ["a", "b"]
        assert set(server.credentials) == {f"x-access-token:{TOKEN}"}
        assert any("remote-http" in line for line in server.command_lines)
        assert not [line for line in server.command_lines if TOKEN in line]
    assert_unseen(TOKEN, vault, state, "".join(capfd.readouterr()))


async def test_a_token_that_is_refused_is_an_error_that_does_not_tell_it(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    vault.git.commit({"a.md": "private"})
    with Server(vault.git.folder.parent, "another").running() as server:
        reading(vault, f"{server.url}/origin/.git", Access(TOKEN), monkeypatch)
        with pytest.raises(RepositoryUnreachable) as caught:
            await vault.sync()
        assert server.credentials
    assert "Authentication failed for" in caught.value.message
    assert TOKEN not in str(caught.value)
    state = await vault.state()
    assert state.last_result is SyncResult.FAILED
    assert_unseen(TOKEN, vault, state, "".join(capfd.readouterr()))


async def test_without_a_token_nobody_is_asked_for_one(vault: SyncedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.git.commit({"a.md": "private"})
    with Server(vault.git.folder.parent, TOKEN).running() as server:
        reading(vault, f"{server.url}/origin/.git", Access(), monkeypatch)
        with pytest.raises(RepositoryUnreachable):
            await vault.sync()
        assert server.credentials == []


async def test_a_server_to_which_another_redirects_does_not_learn_the_token(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.git.commit({"a.md": "private"})
    with (
        Server(vault.git.folder.parent, TOKEN).running() as thief,
        Server(vault.git.folder.parent, TOKEN, redirect_to=thief.url).running() as server,
    ):
        reading(vault, f"{server.url}/origin/.git", Access(TOKEN), monkeypatch)
        with pytest.raises(RepositoryUnreachable):
            await vault.sync()
        assert thief.command_lines, "it was asked"
        assert thief.credentials == []


async def test_a_token_in_the_address_is_left_nowhere_either(
    vault: SyncedVault, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    vault.git.commit({"a.md": "private"})
    with Server(vault.git.folder.parent, TOKEN).running() as server:
        address = server.url.replace("//", f"//x-access-token:{TOKEN}@")
        reading(vault, f"{address}/origin/.git", Access(), monkeypatch)
        state = await vault.sync()
        assert state.last_result is SyncResult.OK
    assert_unseen(TOKEN, vault, state, "".join(capfd.readouterr()))


# SSH ------------------------------------------------------------------------------------------------------------------


@dataclass
class Keys:
    """The key of a server, and those of who may come in and who may not."""

    server: asyncssh.SSHKey
    friend: Path
    stranger: Path


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """New keys in files of which the names need quoting."""
    made = [asyncssh.generate_private_key("ssh-ed25519") for _ in range(3)]
    paths = [tmp_path / f"the {name} key" for name in ("friend", "stranger")]
    for key, path in zip(made[1:], paths, strict=True):
        key.write_private_key(path)
        path.chmod(0o600)
    return Keys(made[0], *paths)


async def git_over_ssh(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Run what git asks for, which is to read, with the streams of the connection."""
    assert process.command is not None
    program, _, folder = process.command.partition(" ")
    assert program == "git-upload-pack"
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec("git", "upload-pack", folder.strip("'"), stdin=pipe, stdout=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    asking = asyncio.create_task(pump(process.stdin, child.stdin))
    await pump(child.stdout, process.stdout)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    child.stdin.close()
    process.exit(await child.wait())


async def pump(source: Any, target: Any) -> None:
    """Copy a stream of bytes to its end."""
    while data := await source.read(65_536):
        target.write(data)
        await target.drain()


async def test_a_key_opens_a_repository_over_ssh_and_only_on_the_server_that_was_seen_first(
    vault: SyncedVault, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.git.commit({"a.md": "private"})
    friends = asyncssh.import_authorized_keys(asyncssh.read_private_key(keys.friend).export_public_key().decode())

    async def served(server_key: asyncssh.SSHKey, port: int = 0) -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            port,
            server_host_keys=[server_key],
            authorized_client_keys=friends,
            process_factory=git_over_ssh,
            encoding=None,
        )

    server = await served(keys.server)
    port = server.get_port()
    address = f"ssh://git@127.0.0.1:{port}{vault.git.folder}"
    async with server:
        reading(vault, address, Access(ssh_key=keys.stranger), monkeypatch)
        with pytest.raises(RepositoryUnreachable, match="Permission denied"):
            await vault.sync()
        reading(vault, address, Access(ssh_key=keys.friend), monkeypatch)
        state = await vault.sync()
        assert (state.last_result, await vault.slugs()) == (SyncResult.OK, ["a"])
        seen = vault.mirror.with_suffix(".known_hosts").read_text().split()
        assert seen[1:] == keys.server.export_public_key().decode().split()[:2]
        known = vault.mirror.with_name("nobody is known")
        known.write_text("")
        reading(vault, address, Access(ssh_key=keys.friend, known_hosts=known), monkeypatch)
        with pytest.raises(RepositoryUnreachable, match="Host key verification failed"):
            await vault.sync()
    # Another server in its place, with another key.
    async with await served(asyncssh.generate_private_key("ssh-ed25519"), port):
        reading(vault, address, Access(ssh_key=keys.friend), monkeypatch)
        with pytest.raises(RepositoryUnreachable, match="IDENTIFICATION HAS CHANGED"):
            await vault.sync()
