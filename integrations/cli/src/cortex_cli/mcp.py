"""`cortex mcp`: the gateway's MCP tools over stdio, for agents that start their servers themselves."""

from __future__ import annotations

import asyncio
import signal

from cortex_cli import running
from cortex_cli.failure import reported


def mcp() -> None:
    """Serve MCP on standard input and output, whether or not the gateway runs yet."""
    from cortex_cli.mcp_proxy import run_stdio_proxy

    # At once: a thread waits for input, and would not hear of an exception. There is nothing to clean up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with reported():
        asyncio.run(run_stdio_proxy(lambda: (running.gateway_url(), running.token())))
