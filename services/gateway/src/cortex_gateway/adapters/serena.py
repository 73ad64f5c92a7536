"""Serena: live symbol truth (see `serena_lookup` for how it is asked).

Files are read as they are at the moment of a question: that is when a hit was last seen, and what the engine knows is
never stale. Serena ranks nothing; relevance, class and names are those of `code_hits`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters.code_question import read
from cortex_gateway.adapters.dialect import Tools
from cortex_gateway.adapters.mcp_engine import McpEngine
from cortex_gateway.adapters.port import Engine
from cortex_gateway.adapters.serena_lookup import SerenaLookup
from cortex_gateway.adapters.settings import EngineSource

_REPL: Final = "serena_repl"
_NO_SYMBOL_TOOLS: Final = (
    "shows no symbol tools, as Serena does by default: start it with --agent-interface tools --project <folder>"
)
_OTHER_TOOLS: Final = "shows none of Serena's reading tools (find_symbol, search_for_pattern)"


class SerenaDialect:
    """How Serena is asked; nothing but tools that read are used."""

    purposes: Mapping[str, tuple[str, ...]] = {
        "find": ("find_symbol", "jet_brains_find_symbol"),
        "references": ("find_referencing_symbols", "jet_brains_find_referencing_symbols"),
        "overview": ("get_symbols_overview", "jet_brains_get_symbols_overview"),
        "pattern": ("search_for_pattern",),
        "files": ("find_file",),
    }
    required = frozenset({"find", "pattern"})

    def __init__(self, source: EngineSource) -> None:
        self._source = source

    def advice(self, listed: frozenset[str]) -> str:
        """What to do about a server that lists none of the required tools (see `Advising`)."""
        return _NO_SYMBOL_TOOLS if _REPL in listed else _OTHER_TOOLS

    async def search(self, tools: Tools, query: str, k: int) -> Sequence[Hit]:
        """At most `k` hits, best first. Raises CortexError."""
        return await SerenaLookup(self._source, tools, read(query), k).run()

    async def last_ingest(self, tools: Tools) -> datetime | None:  # noqa: ARG002
        """Now: files are read when they are asked about."""
        return datetime.now(UTC)


def engine(source: EngineSource) -> Engine:
    """Serena as an engine."""
    return McpEngine(source, SerenaDialect(source))
