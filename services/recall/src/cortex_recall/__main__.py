"""`python -m cortex_recall`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_recall.app import build
from cortex_recall.config import RecallSettings
from cortex_runtime.service import main

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(RecallSettings, build)
