"""`python -m cortex_ingest`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_ingest.app import build
from cortex_ingest.config import IngestSettings
from cortex_runtime.service import main

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(IngestSettings, build)
