"""The base of every message and the value types they share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from cortex_contracts.subjects import TOKEN_PATTERN

Token = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
"""An org, namespace, vault or source kind: one subject token."""

NO_NUL = r"^[^\x00]*$"
"""PostgreSQL stores no NUL character."""

ShortText = Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
Score = Annotated[float, Field(ge=0.0, le=1.0)]
Timestamp = AwareDatetime

PREVIEW_LENGTH = 120
"""Characters of memory text an event may carry; everything longer stays in the database."""


class Message(BaseModel):
    """An immutable message; readers ignore fields they do not know, so that adding an optional one breaks nobody."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Assertion(Message):
    """One checkable claim: `attribute` of `subject` has `value`; what conflicts are found by."""

    subject: Name
    attribute: Name
    value: Name


class Principal(Message):
    """Who asks: the tenant, the subject, and what it may read and write. Made from verified credentials only."""

    org: Token
    subject: Name
    role: ShortText = "owner"
    authenticated_by: ShortText = "static-token"
    readable: tuple[Token, ...] | None = Field(default=None, description="namespaces; none: all of the org")
    writable: tuple[Token, ...] | None = Field(default=None, description="namespaces; none: all of the org")


def preview(text: str) -> str:
    """The first line of `text`, cut to `PREVIEW_LENGTH` characters, as events may carry it."""
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW_LENGTH else line[: PREVIEW_LENGTH - 1] + "…"
