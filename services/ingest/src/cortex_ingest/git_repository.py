"""A vault's git repository, read through the git command line into a bare mirror.

Nothing of the repository is ever executed or checked out: no hooks, no filters, no submodules. Git never asks
anybody anything, every call has a time limit, and what it says on its error output is shown without credentials.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cortex_contracts.errors import Permanent
from cortex_ingest.errors import BranchMissing, RepositoryUnreachable
from cortex_ingest.git_access import Access

FETCH_TIMEOUT_S: Final = 300.0
READ_TIMEOUT_S: Final = 60.0
END_TIMEOUT_S: Final = 5.0

TIMED_OUT: Final = 124
"""Exit code of a git that did not answer in time, as coreutils' `timeout` has it."""
MAX_PATH_BYTES: Final = 2_000
"""Longer paths do not fit into an index of PostgreSQL (a third of a page of 8 KiB)."""

HEAD: Final = "refs/cortex/head"
"""Where the mirror keeps the head of the branch: two branches whose names are a folder and a file would be in each
other's way when the settings change from one to the other."""

PUBLIC: Final = Access()

_REGULAR_FILES: Final = ("100644", "100755", "100664")
_NO_FILES: Final = {
    "120000": "expected a file, got a symbolic link; links are not followed",
    "160000": "expected a file, got a submodule; submodules are not read",
}
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_REF_REFUSED = re.compile(r"^$|^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|//|@\{|\.lock(/|$)|[/.]$|^@$")
_BROKEN_MIRROR = re.compile(
    r"\.lock'|not a git repository|corrupt|bad (?:\w+ )?object|missing (?:blob|tree|commit)|not our ref"
)
_NO_SHALLOW = re.compile(r"does not support (?:shallow|--depth)", re.IGNORECASE)
_MISSING_BRANCH = re.compile(r"couldn't find remote ref|remote ref .* not found", re.IGNORECASE)

CONFIGURATION: Final = """\
# Written by the ingest service: what every git call of its mirrors uses.
[include]
    # Credential helpers and address rewrites of the account that runs the service.
    path = ~/.gitconfig
[safe]
    # A repository on this machine may belong to another account; it is only read.
    directory = *
[core]
    hooksPath = /dev/null
    askPass =
[fetch]
    recurseSubmodules = false
[gc]
    autoDetach = false
"""


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a commit; `refused` says why it is never read."""

    path: str
    id: str
    size_bytes: int
    refused: str | None = None


class GitRepository:
    """The mirror of one branch of one repository, in the folder `mirror`."""

    def __init__(
        self,
        repository: str,
        branch: str,
        mirror: Path,
        access: Access = PUBLIC,
        *,
        fetch_timeout_s: float = FETCH_TIMEOUT_S,
    ) -> None:
        """Raises Permanent when the address or the branch is something that git could take for an option."""
        if not repository or repository.startswith("-") or "\x00" in repository or repository.startswith("ext::"):
            raise Permanent("expected the address or path of a git repository")
        if _REF_REFUSED.search(branch):
            raise Permanent(f"expected the name of a branch, got {branch[:80]!r}")
        # Git runs in the mirror's folder: a path must not depend on the folder of this process.
        is_path = repository.startswith(("/", "~", "."))
        self._repository = str(Path(repository).expanduser().absolute()) if is_path else repository
        self._branch = branch
        self._mirror = mirror
        self._access = access
        self._fetch_timeout_s = fetch_timeout_s

    async def fetch(self) -> str:
        """Bring the mirror up to date and return the commit at the head of the branch.

        Raises:
            RepositoryUnreachable: git could not fetch.
            BranchMissing: there is no such branch; the mirror stays as it was.
        """
        code, problem = await self._fetch()
        if code and _BROKEN_MIRROR.search(problem):
            # What a killed git left behind.
            await self._drop()
            code, problem = await self._fetch()
        if code and _MISSING_BRANCH.search(problem):
            raise BranchMissing(f"the repository has no branch {self._branch}")
        if code:
            raise RepositoryUnreachable(f"git could not fetch: {problem}")
        head = await self._read(["rev-parse", "--verify", "--quiet", f"{HEAD}^{{commit}}"])
        return head.decode().strip()

    async def files(self, commit: str) -> tuple[Blob, ...]:
        """Every file of a commit, by path; what is none, or has a path that leads out of the vault, is refused."""
        listing = await self._read(["ls-tree", "-r", "-z", "-l", "--full-tree", commit])
        try:
            return await asyncio.to_thread(_blobs, listing)
        except ValueError:  # a file whose object is gone or empty has "BAD" for a size
            raise await self._damaged("the mirror has lost a file of the head") from None

    async def contents(self, blobs: Iterable[Blob]) -> AsyncGenerator[tuple[Blob, bytes], None]:
        """The contents of files in the order given, read one by one through a single git process.

        Raises:
            RepositoryUnreachable: the mirror cannot be read.
        """
        process = await self._start(["cat-file", "--batch"], stdin=asyncio.subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for blob in blobs:
                async with asyncio.timeout(READ_TIMEOUT_S):
                    process.stdin.write(f"{blob.id}\n".encode())
                    await process.stdin.drain()
                    header = (await process.stdout.readline()).split()
                    if len(header) != 3 or header[1] != b"blob":
                        raise await self._damaged(f"the mirror has lost the contents of {blob.path}")
                    content = await process.stdout.readexactly(int(header[2]))
                    await process.stdout.readexactly(1)
                yield blob, content
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError) as error:
            raise RepositoryUnreachable(f"the mirror cannot be read ({type(error).__name__})") from None
        finally:
            await _end(process)

    async def _fetch(self) -> tuple[int, str]:
        """Exit code of the fetch into a mirror that exists, and what git said."""
        await asyncio.to_thread(self._prepare)
        code, _, problem = await self._run(["init", "--quiet", "--bare", "--template="], READ_TIMEOUT_S)
        if code:
            return code, problem
        ref = f"+refs/heads/{self._branch}:{HEAD}"
        arguments = ["--quiet", "--no-tags", "--update-shallow", "--no-write-fetch-head", "origin", ref]
        # Only the head is ever read (ADR 0011): a long history must not decide whether a vault arrives in time.
        code, _, problem = await self._run(["fetch", "--depth=1", *arguments], self._fetch_timeout_s)
        if code and _NO_SHALLOW.search(problem):  # plain files behind a web server
            code, _, problem = await self._run(["fetch", *arguments], self._fetch_timeout_s)
        return code, problem

    def _prepare(self) -> None:
        self._mirror.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._configuration.write_text(CONFIGURATION, encoding="utf-8")

    @property
    def _configuration(self) -> Path:
        return self._mirror.with_suffix(".gitconfig")

    async def _read(self, arguments: Sequence[str]) -> bytes:
        code, output, problem = await self._run(arguments, READ_TIMEOUT_S)
        if code:
            reason = f"the mirror cannot be read: git {arguments[0]}: {problem}"
            # Slow is not damaged: a good mirror may be long to make anew.
            raise RepositoryUnreachable(reason) if code == TIMED_OUT else await self._damaged(reason)
        return output

    async def _damaged(self, reason: str) -> RepositoryUnreachable:
        """What to raise about a mirror that the fetch took for a good one; the next one makes it anew."""
        await self._drop()
        return RepositoryUnreachable(reason)

    async def _drop(self) -> None:
        """Remove the mirror: it is a copy, and a new one is the whole repair."""
        await asyncio.to_thread(shutil.rmtree, self._mirror, ignore_errors=True)

    async def _run(self, arguments: Sequence[str], timeout_s: float) -> tuple[int, bytes, str]:
        """Exit code, output, and the error output in one line without credentials."""
        process = await self._start(arguments)
        try:
            async with asyncio.timeout(timeout_s):
                output, errors = await process.communicate()
        except TimeoutError:
            return TIMED_OUT, b"", f"no answer within {timeout_s:g} s"
        finally:
            await _end(process)
        assert process.returncode is not None
        return process.returncode, output, self._shown(errors)

    async def _start(
        self, arguments: Sequence[str], *, stdin: int = asyncio.subprocess.DEVNULL
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                *arguments,
                cwd=self._mirror,
                env=self._environment(),
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL if stdin == asyncio.subprocess.PIPE else asyncio.subprocess.PIPE,
                # Its helpers (ssh, upload-pack) must end with it.
                start_new_session=True,
            )
        except OSError as error:
            raise RepositoryUnreachable(f"git cannot be started ({error.strerror})") from None

    def _environment(self) -> Mapping[str, str]:
        # The address may hold a token too: a command line is visible to every account.
        configuration = [("remote.origin.url", self._repository), *self._access.configuration(self._repository)]
        # Git needs none of the service's own settings, which are full of secrets.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CORTEX_"))}
        return {
            "HOME": str(self._mirror.parent.absolute()),
            **kept,
            "LC_ALL": "C",
            "GIT_DIR": str(self._mirror.absolute()),
            "GIT_CONFIG_GLOBAL": str(self._configuration.absolute()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": str(len(configuration)),
            **{f"GIT_CONFIG_KEY_{place}": key for place, (key, _) in enumerate(configuration)},
            **{f"GIT_CONFIG_VALUE_{place}": value for place, (_, value) in enumerate(configuration)},
            **self._access.variables(),
            "GIT_TERMINAL_PROMPT": "0",
            "SSH_ASKPASS": "",
            # Servers that were seen are kept beside the mirror: the account's own folder may be read-only.
            "GIT_SSH_COMMAND": self._access.ssh_command(self._mirror.with_suffix(".known_hosts")),
            "GIT_ALLOW_PROTOCOL": "file:https:http:ssh",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def _shown(self, errors: bytes) -> str:
        line = " ".join(errors.decode("utf-8", "replace").replace("\0", " ").split())
        line = line.replace(self._repository, "the repository")
        return _CREDENTIALS.sub("//", self._access.redacted(line))[:300] or "no reason given"


def _blobs(listing: bytes) -> tuple[Blob, ...]:
    """The entries of `git ls-tree -r -z -l`."""
    blobs: list[Blob] = []
    shown: set[str] = set()
    entries = [entry.partition(b"\t") for entry in listing.split(b"\x00") if entry]
    # A path that is not UTF-8 keeps its bytes in a form that can be shown, which must not take a real path's place.
    for about, _, name in sorted(entries, key=lambda entry: not _is_utf8(entry[2])):
        mode, _, blob, size = about.decode().split()
        path = name.decode("utf-8", "backslashreplace")
        refused = None if mode in _REGULAR_FILES else _NO_FILES.get(mode, f"expected a file, got mode {mode}")
        if any(part in ("", ".", "..") for part in path.split("/")):
            refused = "expected a path inside of the vault"
        elif (size_bytes := len(path.encode())) > MAX_PATH_BYTES:
            path = f"{path[:100]}…{path[-100:]}"
            refused = f"expected a path of at most {MAX_PATH_BYTES} bytes, got {size_bytes}"
        elif path in shown:
            refused = "two paths of the vault look alike"
        shown.add(path)
        blobs.append(Blob(path, blob, 0 if size == "-" else int(size), refused))
    return tuple(sorted(blobs, key=lambda blob: blob.path))


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


async def _end(process: asyncio.subprocess.Process) -> None:
    """Make sure that a git process and its helpers are gone."""
    if process.stdin is not None:
        process.stdin.close()
    # Asked first: it removes its lock files.
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_TIMEOUT_S):
                await process.wait()
