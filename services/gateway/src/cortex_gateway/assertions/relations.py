"""How two statements, values or texts stand to each other."""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """Both cannot be true, both say it, or they have nothing to do with each other."""

    CONFLICT = "conflict"
    SAME = "same"
    UNRELATED = "unrelated"
