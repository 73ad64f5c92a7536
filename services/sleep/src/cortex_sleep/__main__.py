"""`python -m cortex_sleep`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_runtime.service import main
from cortex_sleep.app import build
from cortex_sleep.config import SleepSettings

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(SleepSettings, build)
