"""An MCP server over standard input and output that misbehaves as its first argument says; the second one is a file
that gets the process ids of all its processes. Standard library only, so that it starts fast: run it by its path.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TOOL = {"name": "search_notes", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}
FOUND = [{"title": "Harbour crane", "path": "yard/crane.md", "text": "The crane is out of service.", "score": 0.9}]
HANDSHAKE: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "misbehaving", "version": "1"},
}


def answer(message: dict[str, Any], result: Any) -> None:
    """Answer a request."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()


def called(mode: str, message: dict[str, Any]) -> None:
    """What happens when the tool is called."""
    match mode:
        case "dies":
            os._exit(3)
        case "garbage":
            for number in range(200):
                print(f"[info] line {number} that is no message")
        case "endless":
            while True:
                sys.stdout.write("x" * 65_536)
        case "chatters":
            while True:
                print("this is no message either")
        case "blank":
            while True:
                sys.stdout.write("\n" * 65_536)
        case "floods":
            sys.stderr.write("noise " * 1_000_000)
        case "silent":
            return
    answer(message, {"content": [{"type": "text", "text": json.dumps(FOUND)}]})


def main(mode: str, pids: str) -> None:
    """Serve until the input ends, or longer."""
    processes = [os.getpid()]
    if mode in ("stubborn", "parent"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "parent":
        processes.append(subprocess.Popen(["sleep", "600"]).pid)
    with Path(pids).open("a", encoding="ascii") as file:
        file.writelines(f"{pid}\n" for pid in processes)
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                answer(message, HANDSHAKE)
            case "tools/list":
                answer(message, {"tools": [TOOL]})
            case "tools/call":
                called(mode, message)
    while mode in ("stubborn", "parent"):
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
