"""What a GitHub delivery asks for: nothing, or a sync of the vaults that live on the pushed branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import Field, StringConstraints, ValidationError

from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import SyncReason, SyncVault
from cortex_runtime.settings_vaults import VaultSource
from cortex_webhook.errors import Malformed

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
BRANCH_PREFIX: Final = "refs/heads/"
MAX_FORM_FIELDS: Final = 10
"""GitHub sends one."""

_ID = re.compile(r"[A-Za-z0-9-]{1,100}")
_GITHUB = re.compile(r"github\.com(?::\d+)?[/:]([^/\s]+/[^/\s]+?)(?:\.git)?/?$", re.IGNORECASE)

_Model = TypeVar("_Model", bound=Message)

Commit = Annotated[str, StringConstraints(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]


@dataclass(frozen=True, slots=True)
class Pong:
    """GitHub asks whether somebody listens."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that asks for nothing, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """One command for each vault that the push concerns."""

    vaults: tuple[str, ...]
    command: SyncVault


class _AnyEvent(Message):
    """A payload of which nothing is read."""


class _Repository(Message):
    full_name: Annotated[str, Field(max_length=300)]


class _Push(Message):
    """The few fields that matter; the rest, commits and their file lists among it, is never built."""

    ref: Annotated[str, Field(max_length=1000)]
    before: Commit
    after: Commit
    deleted: bool = False
    repository: _Repository


def is_delivery_id(value: str | None) -> bool:
    """Whether this can be the value of `X-GitHub-Delivery` (a GUID), safe as a part of a message id."""
    return value is not None and _ID.fullmatch(value) is not None


def read(
    event: str, delivery_id: str, content_type: str, body: bytes, vaults: Sequence[VaultSource]
) -> Pong | Ignored | Wanted:
    """Decide what a signed delivery asks for.

    Raises:
        Malformed: the body is not the JSON or form that its event has.
    """
    payload = decoded(content_type, body)
    if event != "push":
        _parse(_AnyEvent, payload)
        return Pong() if event == "ping" else Ignored(f"event {event[:50]} is not used")
    push = _parse(_Push, payload)
    here = [vault for vault in vaults if _same(github_name(vault), push.repository.full_name)]
    if not here:
        return Ignored("no vault has this repository")
    if not push.ref.startswith(BRANCH_PREFIX):
        return Ignored("not a branch")
    if push.deleted:
        return Ignored("the branch was deleted")
    branch = push.ref.removeprefix(BRANCH_PREFIX)
    wanted = tuple(vault.name for vault in here if vault.branch == branch)
    if not wanted:
        return Ignored("no vault has this branch")
    command = SyncVault(
        reason=SyncReason.PUSH, branch=branch[:200], before=push.before, after=push.after, delivery_id=delivery_id
    )
    return Wanted(wanted, command)


def github_name(vault: VaultSource) -> str | None:
    """The vault's `owner/name` at GitHub: as configured, else as its address says."""
    if vault.github:
        return vault.github
    found = _GITHUB.search(vault.repository)
    return found[1] if found else None


def _same(name: str | None, other: str) -> bool:
    return name is not None and name.casefold() == other.casefold()


def decoded(content_type: str, body: bytes) -> bytes:
    """The JSON of a body, which a form carries in its field `payload`.

    Raises:
        Malformed: the body is no form, or of another type.
    """
    match content_type.partition(";")[0].strip().lower():
        case "application/json":
            return body
        case "application/x-www-form-urlencoded":
            return _field(body, b"payload")
    raise Malformed(f"expected the content type {JSON} or {FORM}")


def _field(form: bytes, name: bytes) -> bytes:
    """The one field `name` of a form (WHATWG URL standard, section 5.1): `+` is a space, `%XX` a byte of UTF-8.

    `urllib.parse.parse_qs` answers ASCII or nothing when it is asked for bytes, and a payload is neither.
    """
    fields = [field.partition(b"=") for field in form.split(b"&", MAX_FORM_FIELDS)]
    values = [value for key, _, value in fields if key == name]
    if len(fields) > MAX_FORM_FIELDS or len(values) != 1:
        raise Malformed(f"expected a form with one field {name.decode()}")
    return unquote_to_bytes(values[0].replace(b"+", b" "))


def _parse(model: type[_Model], payload: bytes) -> _Model:
    try:
        return model.model_validate_json(payload)
    except ValidationError as error:
        wrong = ", ".join(sorted({".".join(map(str, item["loc"])) or "body" for item in error.errors()}))
        raise Malformed(f"the payload is not a GitHub event: {wrong[:200]}") from None
