"""The bundled embedding model in its process."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

from cortex_infra import ports
from cortex_infra.servers import embedder as embedded_embedder
from cortex_providers.embedder import EmbedderConfig
from cortex_testkit import provider

KEY: Final = "test-key"
DIMENSION: Final = 384


def open_embedder_server(stack: ExitStack) -> EmbedderConfig:
    """The model of this process's own; it comes as a wheel everywhere, so there is no other provider."""
    directory = stack.enter_context(provider.folder())
    port = ports.choose()
    process = embedded_embedder.prepare(port=port, api_key=KEY)
    provider.run(process, directory, stack)
    return EmbedderConfig(process.url, embedded_embedder.MODEL, DIMENSION, KEY)
