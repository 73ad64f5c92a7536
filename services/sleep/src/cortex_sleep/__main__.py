"""`python -m cortex_sleep`."""

import gc
import os

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_runtime.service import main
from cortex_sleep.app import build
from cortex_sleep.config import SleepSettings

NICE = 5
"""Whoever answers people on the same machine goes first."""

if __name__ == "__main__":
    os.nice(NICE)
    gc.freeze()
    gc.enable()
    main(SleepSettings, build)
