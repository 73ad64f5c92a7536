"""An MCP server as a process of ours, spoken to over its standard input and output.

The SDK's own transport keeps a line of any length and lets a server write to our standard error; this one bounds both,
reads past what is no message, and leaves no process behind: it asks, then tells, then kills the whole process group;
and where this process is killed itself, the system kills the server (`tied_command`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from cortex_contracts.errors import Unavailable
from cortex_gateway.adapters import tied_command
from cortex_gateway.adapters.broken_json import repaired
from cortex_gateway.adapters.mcp_http import MAX_ANSWER_BYTES, Broken
from cortex_gateway.adapters.settings import EngineSource

ASKED_S: Final = 1.0
"""How long a server may take to end after its input was closed, and again after SIGTERM."""
STRAY_LINES: Final = 1_000
"""Lines in a row that are no message, empty ones too; some servers greet, one that never stops does not speak MCP."""

Incoming: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


class ServerProcess:
    """One server process and the streams of messages to and from it."""

    def __init__(self, source: EngineSource, who: str, broken: Broken) -> None:
        self._source = source
        self._who = who
        self._broken = broken
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it. Raises Unavailable."""
        given = {name: value.get_secret_value() for name, value in self._source.env.items()}
        environment = get_default_environment() | given
        try:
            self._process = await asyncio.create_subprocess_exec(
                *_tied(self._source.command, environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                start_new_session=True,
                limit=MAX_ANSWER_BYTES,
            )
        except (OSError, ValueError) as error:
            raise Unavailable(f"{self._who} cannot be started ({type(error).__name__})") from None

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """The messages of the process; to leave the block ends the reading, not the process."""
        assert self._process is not None
        sent_in, received = anyio.create_memory_object_stream[Incoming](0)
        sending, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        async with sent_in, received, sending, to_send, anyio.create_task_group() as group:
            group.start_soon(self._read, sent_in)
            group.start_soon(self._write, to_send, sent_in)
            group.start_soon(self._drop_stderr)
            try:
                yield received, sending
            finally:
                group.cancel_scope.cancel()

    async def stop(self) -> None:
        """End it and everything that it has started."""
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        asked: tuple[Callable[[], None], ...] = (lambda: None, lambda: self._signal(signal.SIGTERM))
        for ask in asked:
            ask()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ASKED_S):
                    await self._ended()
                break
        self._signal(signal.SIGKILL)
        await self._ended()
        # The pipes may be held open by a process that left the group; nobody reads them any more.
        getattr(process, "_transport").close()  # noqa: B009 - asyncio has no public way to let go of a process's pipes

    async def _ended(self) -> None:
        # Not `wait`: it also waits for the end of the pipes, which a grandchild may hold.
        assert self._process is not None
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio tells nothing else of the process alone
            await asyncio.sleep(0.01)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _read(self, sent_in: MemoryObjectSendStream[Incoming]) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        stray = 0
        async with sent_in:
            while True:
                try:
                    line = await self._process.stdout.readuntil(b"\n")
                except asyncio.LimitOverrunError:
                    return self._broken(f"writes a line of more than {MAX_ANSWER_BYTES} bytes")
                except (asyncio.IncompleteReadError, OSError):
                    return self._gone()
                try:
                    message = SessionMessage(jsonrpc_message_adapter.validate_json(repaired(line), by_name=False))
                except ValidationError:
                    stray += 1
                    if stray > STRAY_LINES:
                        return self._broken("writes lines that are no messages of MCP")
                    continue
                stray = 0
                try:
                    await sent_in.send(message)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return None

    async def _write(
        self, to_send: MemoryObjectReceiveStream[SessionMessage], sent_in: MemoryObjectSendStream[Incoming]
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        async with to_send:
            async for message in to_send:
                body = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    self._process.stdin.write(body.encode() + b"\n")
                    await self._process.stdin.drain()
                except OSError:
                    self._gone()
                    # Whoever waits for an answer learns that none will come.
                    return await sent_in.aclose()

    async def _drop_stderr(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        # What an engine writes for itself may hold anything, and has no place in our log.
        while await self._process.stderr.read(65_536):
            pass

    def _gone(self) -> None:
        assert self._process is not None
        code = self._process.returncode
        self._broken("has ended its process" + (f" (exit code {code})" if code is not None else ""))


def _tied(command: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """The command that starts `command` so that it ends with this process, even when that is killed.

    Not in a function between fork and exec, which is unsafe beside threads.
    Raises OSError: there is no such program.
    """
    if sys.platform != "linux":
        return command
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None:
        raise PermissionError if Path(command[0]).exists() else FileNotFoundError
    return sys.executable, "-I", tied_command.__file__, str(os.getpid()), program, *command[1:]
