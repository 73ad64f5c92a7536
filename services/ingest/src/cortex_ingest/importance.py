"""Importance of a new memory, in [0, 1]. A pure function of what is known when it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXPLICIT: Final = 0.9
"""Somebody asked to remember this."""

BY_SOURCE: Final[Mapping[str, float]] = {
    "manual": 0.7,
    "live_infra": 0.6,
    "claude_code": 0.5,
    "coder_run": 0.5,
    "slack": 0.4,
    "whatsapp": 0.4,
    "chat": 0.4,
}
"""How much a kind of source tends to matter (source specification 4.1); novelty and recency of reference come with the
write decision."""
OTHER_SOURCE: Final = 0.5


def importance(source_kind: str, *, explicit: bool) -> float:
    """Importance by kind of source; something that was asked to be remembered always matters."""
    return EXPLICIT if explicit else BY_SOURCE.get(source_kind, OTHER_SOURCE)
