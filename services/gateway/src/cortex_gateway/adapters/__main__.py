"""`python -m cortex_gateway.adapters`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_gateway.adapters.app import EnginesSettings, build
from cortex_runtime.service import main

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(EnginesSettings, build)
