"""How long the stages of an answer take."""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from its making; each lap ends a stage."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """The stage is over."""
        now = time.perf_counter()
        self._laps[stage] = round((now - self._last) * 1000, 3)
        self._last = now

    def laps(self) -> dict[str, float]:
        """Milliseconds per stage, in their order."""
        return dict(self._laps)

    def total_ms(self) -> int:
        """Milliseconds since it runs."""
        return int((time.perf_counter() - self._started) * 1000)
