"""The subject grammar: `cortex.v1.<kind>.…`, namespace first, identifiers last (ADR 0001).

Builders take plain tokens and refuse anything that would add a level or a wildcard to a subject; patterns are what
streams and subscribers use. Nothing outside this module spells a subject.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

VERSION: Final = "v1"
"""The version token: a breaking change of a message needs a new one, and both are served for a while (ADR 0001)."""

PREFIX: Final = f"cortex.{VERSION}"

CAPTURE_PATTERN: Final = f"{PREFIX}.cmd.capture.>"
SYNC_PATTERN: Final = f"{PREFIX}.cmd.sync.>"
MEMORY_EVENT_PATTERN: Final = f"{PREFIX}.evt.memory.>"
PAGE_EVENT_PATTERN: Final = f"{PREFIX}.evt.page.>"
SYNC_EVENT_PATTERN: Final = f"{PREFIX}.evt.sync.>"
SLEEP_EVENT_PATTERN: Final = f"{PREFIX}.evt.sleep.>"
WAKE_EVENT_PATTERN: Final = f"{PREFIX}.evt.wake.>"
KEY_EVENT_PATTERN: Final = f"{PREFIX}.evt.key.>"
EVENT_PATTERN: Final = f"{PREFIX}.evt.>"
DEAD_LETTER_PATTERN: Final = f"{PREFIX}.dlq.>"

TOKEN_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,62}$"  # noqa: S105 - a subject token, no secret
"""Orgs, namespaces, vaults and source kinds: one subject token, lower case, at most 63 characters."""

_TOKEN = re.compile(TOKEN_PATTERN)
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")


class MemoryOp(StrEnum):
    """What happened to a memory, as the token of its event subject."""

    RETAIN = "retain"
    RECALL = "recall"
    REFLECT = "reflect"
    FORGET = "forget"
    RECONSOLIDATE = "reconsolidate"
    IMPROVE = "improve"
    DEMOTE = "demote"
    RESTORE = "restore"
    SHARE = "share"


class PageOp(StrEnum):
    """What happened to a page, or (`sync`) to a vault as a whole."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    SYNC = "sync"


class SleepPhase(StrEnum):
    """A phase of the background work that is reported as an event."""

    OBSERVE = "observe"
    CONSOLIDATE = "consolidate"
    DEDUPLICATE = "deduplicate"
    DECAY = "decay"
    RECONSOLIDATE = "reconsolidate"
    DEMOTE = "demote"
    MAINTAIN = "maintain"


def token(value: str, what: str) -> str:
    """Return `value` if it is one valid subject token.

    Raises:
        ValueError: it has another form; the message names `what` and the form, not where it came from.
    """
    if not _TOKEN.fullmatch(value):
        raise ValueError(f"{what} must match {TOKEN_PATTERN}, got {value[:80]!r}")
    return value


def rpc(service: str, verb: str) -> str:
    """Subject of a request-reply verb of one service."""
    return f"{PREFIX}.rpc.{token(service, 'service')}.{token(verb, 'verb')}"


def engine(key: str, verb: str) -> str:
    """Subject of `ask` or `health` of one engine."""
    return f"{PREFIX}.rpc.engine.{token(key, 'engine key')}.{token(verb, 'verb')}"


def engines(verb: str) -> str:
    """Pattern of `ask` or `health` of every engine."""
    return f"{PREFIX}.rpc.engine.*.{token(verb, 'verb')}"


def engine_pattern(key: str) -> str:
    """Pattern of everything that is asked of one engine."""
    return f"{PREFIX}.rpc.engine.{token(key, 'engine key')}.>"


def cancel(rpc_subject: str) -> str:
    """Subject on which callers of the RPC of `rpc_subject` say that they wait no longer."""
    return f"{rpc_subject}.cancel"


def capture(org: str, source_kind: str) -> str:
    """Subject on which a publisher of `org` sends captures of one kind of source."""
    return f"{PREFIX}.cmd.capture.{token(org, 'org')}.{token(source_kind, 'source kind')}"


def captures_of(org: str) -> str:
    """Pattern of every capture subject of one org: all that an outside publisher may use."""
    return f"{PREFIX}.cmd.capture.{token(org, 'org')}.>"


def sync(org: str, vault: str) -> str:
    """Subject of the command to bring one vault up to date."""
    return f"{PREFIX}.cmd.sync.{token(org, 'org')}.{token(vault, 'vault')}"


def memory_event(op: MemoryOp, org: str, namespace: str) -> str:
    """Subject of a fact about a memory."""
    return f"{PREFIX}.evt.memory.{op.value}.{token(org, 'org')}.{token(namespace, 'namespace')}"


def page_event(op: PageOp, org: str, vault: str) -> str:
    """Subject of a fact about a page or a vault."""
    return f"{PREFIX}.evt.page.{op.value}.{token(org, 'org')}.{token(vault, 'vault')}"


def sync_event(org: str, vault: str) -> str:
    """Subject of a fact about the sync of a vault that runs."""
    return f"{PREFIX}.evt.sync.{token(org, 'org')}.{token(vault, 'vault')}"


def sleep_event(phase: SleepPhase, org: str, namespace: str) -> str:
    """Subject of a fact about the background work."""
    return f"{PREFIX}.evt.sleep.{phase.value}.{token(org, 'org')}.{token(namespace, 'namespace')}"


def wake_event(org: str, namespace: str) -> str:
    """Subject of something that a person should know now."""
    return f"{PREFIX}.evt.wake.{token(org, 'org')}.{token(namespace, 'namespace')}"


def key_event(org: str) -> str:
    """Subject of a fact about the keys of an org."""
    return f"{PREFIX}.evt.key.{token(org, 'org')}"


def dead_letter(stream: str, consumer: str) -> str:
    """Subject that holds what one consumer of one stream could not process."""
    for value, what in ((stream, "stream"), (consumer, "consumer")):
        if not _NAME.fullmatch(value):
            raise ValueError(f"{what} must be letters, digits, '_' and '-', got {value[:80]!r}")
    return f"{PREFIX}.dlq.{stream}.{consumer}"


def parse_capture(subject: str) -> tuple[str, str]:
    """Org and source kind of a capture subject; the org of the subject, never the payload, decides the tenant.

    Raises:
        ValueError: the subject is not a capture subject.
    """
    return _last_two(subject, f"{PREFIX}.cmd.capture.", "source kind")


def parse_sync(subject: str) -> tuple[str, str]:
    """Org and vault of a sync subject.

    Raises:
        ValueError: the subject is not a sync subject.
    """
    return _last_two(subject, f"{PREFIX}.cmd.sync.", "vault")


def covers(pattern: str, subject: str) -> bool:
    """Whether `pattern` matches every subject that `subject`, itself a subject or a pattern, stands for."""
    wanted, given = pattern.split("."), subject.split(".")
    for position, part in enumerate(wanted):
        if part == ">":
            return len(given) > position
        if position >= len(given) or given[position] == ">" or part not in ("*", given[position]):
            return False
    return len(wanted) == len(given)


def overlaps(left: str, right: str) -> bool:
    """Whether some subject is matched by both patterns."""
    lefts, rights = left.split("."), right.split(".")
    for one, other in zip(lefts, rights, strict=False):
        if ">" in (one, other):
            return True
        if one != other and "*" not in (one, other):
            return False
    return len(lefts) == len(rights)


def _last_two(subject: str, prefix: str, second: str) -> tuple[str, str]:
    tokens = subject.removeprefix(prefix).split(".")
    if not subject.startswith(prefix) or len(tokens) != 2:
        raise ValueError(f"expected a subject {prefix}<org>.<{second}>, got {subject[:200]!r}")
    return token(tokens[0], "org"), token(tokens[1], second)
