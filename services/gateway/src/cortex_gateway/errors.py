"""The gateway's own errors.

CortexError
├── Permanent
│   ├── UnknownEngine    the scope of a question names an engine that is not configured
│   ├── WrongFields      a request says something that its schema alone cannot refuse
│   └── Unauthorized     the credentials prove nobody
└── Retryable
    ├── TooManyAttempts  too many wrong credentials came from this address
    └── Unavailable
        └── Busy         as many questions are being answered as can be
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex_contracts.errors import ErrorCode, Permanent, Retryable, Unavailable


class UnknownEngine(Permanent):
    """The scope of a question names an engine that is not configured."""

    def __init__(self, unknown: Sequence[str], known: Sequence[str]) -> None:
        super().__init__(f"unknown engine {', '.join(unknown)}; expected some of {', '.join(known)}")


class WrongFields(Permanent):
    """A request says something that its schema alone cannot refuse: each field, and what was expected of it."""

    def __init__(self, *wrong: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in wrong))
        self.wrong = wrong


class Unauthorized(Permanent):
    """The credentials prove nobody."""

    code = ErrorCode.UNAUTHORIZED


class TooManyAttempts(Retryable):
    """Too many wrong credentials came from this address; `wait_s` is in whole seconds."""

    code = ErrorCode.RATE_LIMITED

    def __init__(self, wait_s: int) -> None:
        super().__init__("too many wrong credentials came from this address: wait, then use valid ones")
        self.wait_s = wait_s


class Busy(Unavailable):
    """As many questions are being answered as can be, and this one's turn did not come in its time."""

    def __init__(self) -> None:
        super().__init__("too many questions are being answered: ask again in a moment")
