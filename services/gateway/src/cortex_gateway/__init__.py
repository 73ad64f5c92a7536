"""REST, MCP and ask: fan-out over the engines, reconcile, answer with receipts."""
