"""The supervisor's event listener: keeps a journal of deaths, and ends everything when one process keeps dying.

Run by path with the standard library only: `python watchdog.py <run folder> <log folder>`. It writes one JSON object
per death to `events.log`, and the reason to `failure.json` before it has the supervisor shut down. It speaks the event
listener protocol of supervisord on its standard input and output.
"""

import json
import os
import re
import signal
import sys
import time
from collections import defaultdict, deque
from pathlib import Path
from typing import TextIO

MAX_EXITS = 5
WRONG_SETTINGS = 2
# What a service ends with when starting it again is no use (cortex_runtime.settings; this file imports nothing).
WINDOW_S = 60.0
EVENTS_FILE = "events.log"
FAILURE_FILE = "failure.json"
_LOG_LINES = 6
_TAIL_BYTES = 16_384


class Watchdog:
    """Counts the deaths of each process and decides when it is enough."""

    def __init__(self, run: Path, logs: Path, max_exits: int = MAX_EXITS, window_s: float = WINDOW_S) -> None:
        self._run = run
        self._logs = logs
        self._max_exits = max_exits
        self._window_s = window_s
        self._exits: dict[str, deque[float]] = defaultdict(deque)

    def observe(self, event: str, process: str, now: float) -> str | None:
        """Journal one event; returns the reason if everything is to end."""
        status = self._exit_status(process)
        log = tail(self._logs / f"{process}.log", _LOG_LINES)
        entry = {"at": now, "process": process, "event": event, "status": status, "log": log}
        with (self._run / EVENTS_FILE).open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(entry) + "\n")
        reason = self._verdict(event, process, status, now)
        if reason:
            failure = {"process": process, "reason": reason, "log": log}
            unfinished = self._run / f"{FAILURE_FILE}.new"
            unfinished.write_text(json.dumps(failure), encoding="utf-8")
            unfinished.replace(self._run / FAILURE_FILE)
        return reason

    def _verdict(self, event: str, process: str, status: str, now: float) -> str | None:
        if event == "fatal":
            return f"{process} cannot be started ({status})"
        if status == f"exit status {WRONG_SETTINGS}":
            return f"{process} cannot run with its settings"
        exits = self._exits[process]
        exits.append(now)
        while exits[0] < now - self._window_s:
            exits.popleft()
        if len(exits) < self._max_exits:
            return None
        return f"{process} ended {len(exits)} times in {self._window_s:.0f} s, the last time with {status}"

    def _exit_status(self, process: str) -> str:
        # The event does not carry it; supervisord's own log does, written before the event.
        pattern = re.compile(rf"(?:exited|spawnerr): (?:{re.escape(process)} \()?(.*?)(?:; (?:not )?expected\))?$")
        for line in reversed(tail(self._logs / "supervisord.log", 50)):
            found = pattern.search(line) if process in line or "spawnerr" in line else None
            if found:
                return found[1]
        return "unknown status"


def tail(log: Path, lines: int) -> list[str]:
    """The last lines of a file; none if there is no file."""
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL_BYTES))
            return stream.read().decode("utf-8", "replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def pairs(text: str) -> dict[str, str]:
    """The `key:value` pairs of a header or payload."""
    return dict(part.split(":", 1) for part in text.split())


def listen(watchdog: Watchdog, requests: TextIO, replies: TextIO) -> str:
    """Answer events until everything is to end; returns the reason, or "" when the supervisor has gone."""
    while True:
        replies.write("READY\n")
        replies.flush()
        header = requests.readline()
        if not header:
            return ""
        fields = pairs(header)
        payload = pairs(requests.read(int(fields["len"])))
        event = fields["eventname"].removeprefix("PROCESS_STATE_").lower()
        reason = watchdog.observe(event, payload["processname"], time.time())
        replies.write("RESULT 2\nOK")
        replies.flush()
        if reason:
            return reason


def main() -> None:
    """Watch until the supervisor ends."""
    supervisor = os.getppid()
    reason = listen(Watchdog(Path(sys.argv[1]), Path(sys.argv[2])), sys.stdin, sys.stdout)
    if reason:
        os.kill(supervisor, signal.SIGTERM)
        signal.pause()  # ended by the supervisor, last of all


if __name__ == "__main__":
    main()
