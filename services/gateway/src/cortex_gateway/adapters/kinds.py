"""The kinds of external engines, each with what makes one of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cortex_gateway.adapters import cbm, cognee, configured, inbox, memgraph, rag, serena
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.settings import EngineKind, EngineSource

FACTORIES: Final[Mapping[EngineKind, Callable[[EngineSource], Engine]]] = {
    EngineKind.RAG: rag.engine,
    EngineKind.CBM: cbm.engine,
    EngineKind.SERENA: serena.engine,
    EngineKind.MEMGRAPH: memgraph.engine,
    EngineKind.INBOX: inbox.engine,
    EngineKind.COGNEE: cognee.engine,
    EngineKind.MCP: configured.engine,
}


def engine(source: EngineSource) -> Engine:
    """The engine of a source, not opened yet. Raises Permanent when its address is none."""
    return FACTORIES[source.kind](source)
