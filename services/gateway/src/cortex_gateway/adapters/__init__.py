"""Adapters: engines that are not ours, asked over their own protocols and answered on the bus as ours (ADR 0018)."""
