"""Memory of a process and everything it started, shared pages counted once over all that share them."""

from __future__ import annotations

from pathlib import Path

import psutil


def proportional_bytes(pid: int) -> int:
    """Proportional set size of `pid` and its descendants; resident size where the kernel does not tell it."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    return sum(_of(member) for member in family)


def _of(process: psutil.Process) -> int:
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
