"""Become another program that ends with its parent: `python -I tied_command.py <parent's id> <program> <argument>…`.

Run by path with the standard library only, so that it starts fast. A server that does not end when its input does would
otherwise outlive a gateway that was killed. What such a server has started is not tied: it loses its input alone.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Returns only by an exception."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It may have ended before the call.
    if os.getppid() != parent:
        sys.exit("the process that started this one is gone")
    os.execvp(command[0], command)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
