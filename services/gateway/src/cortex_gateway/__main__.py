"""`python -m cortex_gateway`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_gateway.app import build
from cortex_gateway.config import GatewaySettings
from cortex_runtime.service import main

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(GatewaySettings, build)
