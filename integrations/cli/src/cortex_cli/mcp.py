"""`cortex mcp`: the gateway's MCP tools over stdio, for agents that start their servers themselves."""

from __future__ import annotations

import asyncio

from cortex_cli import running
from cortex_cli.failure import reported


def mcp() -> None:
    """Serve MCP on standard input and output."""
    from cortex_cli.mcp_proxy import run_stdio_proxy

    with reported():
        asyncio.run(run_stdio_proxy(f"{running.gateway_url()}/mcp", running.token()))
