"""`python -m cortex_gateway`."""

from cortex_gateway.app import build
from cortex_gateway.config import GatewaySettings
from cortex_runtime.service import main

if __name__ == "__main__":
    main(GatewaySettings, build)
