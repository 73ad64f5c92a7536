"""How a command fails: one sentence on stderr and an exit code a script can use."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from cortex_cli.output import plain
from cortex_contracts.errors import CortexError, ErrorCode
from cortex_infra.errors import InfraError
from cortex_runtime.settings import WRONG_SETTINGS, SettingsError

FAILED: Final = 1
NOT_RUNNING: Final = 3
NOT_FOUND: Final = 4


class NotRunning(Exception):
    """Nothing answers where Cortex should be; the message says how to start it."""


@contextmanager
def reported() -> Iterator[None]:
    """Turn the errors that a user can do something about into a sentence and an exit code."""
    try:
        yield
    except NotRunning as error:
        code, sentence = NOT_RUNNING, str(error)
    except CortexError as error:
        code = NOT_FOUND if error.code is ErrorCode.NOT_FOUND else FAILED
        sentence = error.message
    except InfraError as error:
        code, sentence = FAILED, str(error)
    except SettingsError as error:
        code, sentence = WRONG_SETTINGS, str(error)
    except asyncio.CancelledError:
        code, sentence = FAILED, "stopped before it was done"
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    else:
        return
    print(f"cortex: {plain(sentence)}", file=sys.stderr)
    raise typer.Exit(code)
