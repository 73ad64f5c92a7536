"""`python -m cortex_gateway`."""

from cortex_gateway.app import build
from cortex_gateway.config import GatewaySettings
from cortex_runtime.settings import load

if __name__ == "__main__":
    build(load(GatewaySettings)).run()
