"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562 section 5.7)."""

from __future__ import annotations

import secrets
import threading
import time
from typing import Final
from uuid import UUID

_TAIL_BITS: Final = 74
_STEP_BITS: Final = 32


class UuidGenerator:
    """Makes UUIDs that grow strictly within the process: inside one millisecond, or when the clock steps back, the
    random tail is a counter with random steps (RFC 9562 section 6.2, method 2)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._last_tail = 0

    def next(self) -> UUID:
        """The next identifier."""
        with self._lock:
            now_ms = time.time_ns() // 1_000_000
            if now_ms > self._last_ms:
                # The top bit stays free, so that the counter has room to grow.
                ms, tail = now_ms, secrets.randbits(_TAIL_BITS - 1)
            else:
                ms, tail = self._last_ms, self._last_tail + 1 + secrets.randbits(_STEP_BITS)
                if tail >> _TAIL_BITS:
                    ms, tail = ms + 1, secrets.randbits(_TAIL_BITS - 1)
            self._last_ms, self._last_tail = ms, tail
        rand_a, rand_b = tail >> 62, tail & ((1 << 62) - 1)
        return UUID(int=(ms & ((1 << 48) - 1)) << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b)


uuid7: Final = UuidGenerator().next
"""A new UUIDv7, larger than every earlier one of this process."""
