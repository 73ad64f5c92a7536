"""Consolidation: what several memories say about one thing becomes one fact that quotes them."""
