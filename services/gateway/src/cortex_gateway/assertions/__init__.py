"""Assertions: what texts state, and where two of them cannot both be true (docs/conflicts.md, ADR 0019)."""

from cortex_gateway.assertions.comparison import meets, related, relation
from cortex_gateway.assertions.extraction import assigned, extract
from cortex_gateway.assertions.relations import Relation
from cortex_gateway.assertions.statement import Stated
from cortex_gateway.assertions.values import Kind, compare_assigned

__all__ = [
    "Kind",
    "Relation",
    "Stated",
    "assigned",
    "compare_assigned",
    "extract",
    "meets",
    "related",
    "relation",
]
