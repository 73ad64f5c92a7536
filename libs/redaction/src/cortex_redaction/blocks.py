"""How Cortex marks memory that it puts into a context, so that it is known when it comes back in a capture."""

from __future__ import annotations

from typing import Final

from cortex_redaction.folding import View
from cortex_redaction.tags import INJECTED, MEMORY, tags_in

OPENING: Final = f'<{MEMORY} untrusted="true">'
CLOSING: Final = f"</{MEMORY}>"


def memory_block(text: str) -> str:
    """`text` between Cortex's markers, on lines of its own: `<cortex-memory untrusted="true">` … `</cortex-memory>`.

    Tags inside `text` that would end the block early, or the block of a harness around it, lose their bracket to `‹`.
    """
    parts, position = [], 0
    for tag in tags_in(View.of(text), INJECTED):
        parts += [text[position : tag.start], "‹"]
        position = tag.start + 1
    parts.append(text[position:])
    return f"{OPENING}\n{''.join(parts)}\n{CLOSING}"
