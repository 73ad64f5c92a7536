"""The errors that cross a process boundary.

CortexError
├── Retryable          the same call may succeed later (a dependency is down, a deadline passed)
│   └── Unavailable    nobody answers, or what answers cannot work now
└── Permanent          the same call will fail again (bad input, not found, refused)
    └── InvalidMessage the body is not what the contract says

A handler raises one of these to say how its message settles; an RPC turns it into an `ErrorBody`. Anything else is a
bug: it is logged with its trace id and crosses the boundary as `internal`, without its text.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class ErrorCode(StrEnum):
    """Why an RPC failed; a closed list, so callers can branch on it."""

    INVALID_REQUEST = "invalid_request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    INTERNAL = "internal"


class ErrorBody(BaseModel):
    """What a caller gets instead of a result: a code to branch on, a sentence to show, and whether a retry can help."""

    model_config = ConfigDict(frozen=True)

    code: ErrorCode
    message: str
    retryable: bool


class CortexError(Exception):
    """Base of every error that has a meaning outside the process that raised it."""

    code = ErrorCode.INTERNAL
    retryable = False

    def __init__(self, message: str, *, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    def body(self) -> ErrorBody:
        """This error as it crosses the bus."""
        return ErrorBody(code=self.code, message=self.message, retryable=self.retryable)


class Retryable(CortexError):
    """The same call may succeed later; `delay_s` is when, where whoever raises it knows better than a rule."""

    code = ErrorCode.UNAVAILABLE
    retryable = True

    def __init__(self, message: str, *, code: ErrorCode | None = None, delay_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.delay_s = delay_s


class Unavailable(Retryable):
    """Nobody answers, or what answers cannot work now."""


class Permanent(CortexError):
    """The same call will fail again."""

    code = ErrorCode.INVALID_REQUEST


class InvalidMessage(Permanent):
    """The body is not what the contract says."""


def from_body(body: ErrorBody) -> CortexError:
    """The error that a reply carried, as an exception of the class a caller would catch."""
    if body.code in (ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED):
        return Unavailable(body.message, code=body.code)
    return (Retryable if body.retryable else Permanent)(body.message, code=body.code)
