"""Become another program: `python launch.py <file>` reads a launch file, drops privileges and replaces itself.

Run by path with the standard library only. The launch file (see `servers/process.py`) keeps secrets out of command
lines and of the supervisor's configuration. The program dies with its parent, so that nothing survives a supervisor
that was killed.
"""

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_RESTART_PAUSE_S = 1.0
_INHERITED = frozenset({"PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH"})
"""All that a third-party server sees of the environment: it has no business with the user's API keys."""
_LOCK_DESCRIPTOR = 3
"""supervisord closes every descriptor from 5 on; this one stays open in it, and is closed in what it starts."""


def main(file: Path) -> None:
    """Start the program that `file` describes; returns only by an exception."""
    plan = json.loads(file.read_text(encoding="utf-8"))
    _pause_between_restarts(file.with_suffix(".started"))
    os.umask(0o077)
    # What a shell starts in the background ignores SIGINT, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    inherited = os.environ.keys() if plan["inherit_environment"] else _INHERITED & os.environ.keys()
    environment = {name: os.environ[name] for name in inherited} | plan["environment"]
    lock = plan.get("lock")
    if lock is not None:
        os.dup2(lock, _LOCK_DESCRIPTOR, inheritable=True)
    if plan.get("detach") and os.fork():
        os._exit(0)
    parent = _parent(plan["parent"])
    if plan["run_as"]:
        _become(plan["run_as"])
        environment["HOME"] = "/"
    if plan["orphan_signal"]:
        # After the change of user, which clears it.
        _die_with_parent(parent, plan["orphan_signal"])
    command = plan["command"]
    os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is the point


def _become(user: str) -> None:
    import pwd

    account = pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.chdir("/")


def _parent(known: int | str) -> int:
    """The id of the process that started this one: given, or in a file that it keeps while it runs."""
    if isinstance(known, int):
        return known
    try:
        return int(Path(known).read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _die_with_parent(parent: int, name: str) -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, getattr(signal, f"SIG{name}"), 0, 0, 0)
    # It may have died before the call, even before this program began.
    if os.getppid() != parent:
        sys.exit("the process that started this one is gone")


def _pause_between_restarts(stamp: Path) -> None:
    """Keep a program that dies at once from being restarted in a hot loop."""
    try:
        age = time.time() - stamp.stat().st_mtime
    except FileNotFoundError:
        age = _RESTART_PAUSE_S
    if 0 <= age < _RESTART_PAUSE_S:
        time.sleep(_RESTART_PAUSE_S - age)
    stamp.touch(mode=0o600)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
