"""Reading tags: `<private>` and the blocks that a harness or Cortex itself puts into a context.

A tag is found in the folded view (`folding`), so case, full-width letters, invisible characters and marks make no
difference; its angle brackets may be escaped (`&lt;`, `&#60;`, `&#x3c;`, `\\u003c`, `\\x3c`, `%3c`, also `&amp;lt;`),
because captures carry HTML and JSON. Blanks may stand after `<`, around `/` and before `>`; attributes may follow. A
name ends where no letter, digit, `_`, `-` or `:` follows: `<private-notes>` is another element.

`<private` that never gets its `>` opens all the same: half a tag must not make public what follows. With a blank
before the name (`a < private`) it is a comparison unless the `>` comes on the same line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cortex_redaction.folding import View

PRIVATE: Final = "private"
MEMORY: Final = "cortex-memory"
INJECTED: Final = (
    MEMORY,
    "system-reminder",
    "user-prompt-submit-hook",
    "task-notification",
    "cross-session-message",
    "local-command-caveat",
    "environment_context",
    "user_instructions",
)
"""Cortex's own blocks, and what Claude Code and Codex write into a conversation in the user's place."""

_LESS = r"(?:<|&(?:amp;){0,4}(?:lt|#0{0,6}60|#x0{0,6}3c);|\\{1,8}[ux](?:00)?3c|%3c)"
_GREATER = r"(?:>|&(?:amp;){0,4}(?:gt|#0{0,6}62|#x0{0,6}3e);|\\{1,8}[ux](?:00)?3e|%3e)"
# What may stand between a name and `>`: no other tag begins there. Bounded, so that a text of half tags stays linear.
_INSIDE = rf"(?:(?!{_LESS}|{_GREATER})[^\n]){{0,500}}?"
_ATTRIBUTES = rf"(?:(?!{_LESS}|{_GREATER})[\s\S]){{0,500}}?"
_NAMES = "|".join(re.escape(name) for name in (PRIVATE, *INJECTED))
_TAG: Final = re.compile(
    rf"{_LESS}(?:"
    rf"[^\S\n]{{0,50}}/[^\S\n]{{0,50}}(?P<closing>{_NAMES})(?![\w:-]){_INSIDE}{_GREATER}"
    rf"|(?P<tight>{_NAMES})(?![\w:-])(?:{_ATTRIBUTES}(?P<empty>/?)\s{{0,50}}{_GREATER})?"
    rf"|[^\S\n]{{1,50}}(?P<spaced>{_NAMES})(?![\w:-]){_INSIDE}(?P<spaced_empty>/?)[^\S\n]{{0,50}}{_GREATER}"
    r")"
)
_HINT: Final = re.compile("|".join(("private", *(name[:7] for name in INJECTED))))


class Kind(StrEnum):
    """What a tag does."""

    OPENING = "opening"
    CLOSING = "closing"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag at `text[start:end]`."""

    name: str
    kind: Kind
    start: int
    end: int


def tags_in(view: View, names: Sequence[str]) -> Iterator[Tag]:
    """The tags of `names`, in the order of the text."""
    if not _HINT.search(view.folded):
        return
    for match in _TAG.finditer(view.folded):
        name = match["closing"] or match["tight"] or match["spaced"]
        if name not in names:
            continue
        kind = Kind.OPENING
        if match["closing"]:
            kind = Kind.CLOSING
        elif match["empty"] or match["spaced_empty"]:
            kind = Kind.EMPTY
        yield Tag(name, kind, view.start(match.start()), view.end(match.end()))
