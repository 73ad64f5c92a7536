"""The gateway's own errors.

CortexError
└── Permanent
    ├── UnknownEngine  the scope of a question names an engine that is not configured
    └── Unauthorized   the credentials prove nobody
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex_contracts.errors import ErrorCode, Permanent


class UnknownEngine(Permanent):
    """The scope of a question names an engine that is not configured."""

    def __init__(self, unknown: Sequence[str], known: Sequence[str]) -> None:
        super().__init__(f"unknown engine {', '.join(unknown)}; expected some of {', '.join(known)}")


class Unauthorized(Permanent):
    """The credentials prove nobody."""

    code = ErrorCode.UNAUTHORIZED
