"""The best of many rows by a number, kept while they come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cortex_sleep.archive.places import Places


class Nearest:
    """The `limit` rows with the largest numbers, whatever the order they come in."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._places: Places = np.zeros(0, dtype=np.int64)
        self._values: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    def add(self, places: Places, values: NDArray[np.float32]) -> None:
        """More rows with their numbers, shape (rows,) each."""
        if len(self._values) == self._limit:
            better = values >= self._values[-1]
            places, values = places[better], values[better]
        if len(values):
            places = np.concatenate([self._places, places])
            values = np.concatenate([self._values, values])
            order = np.lexsort((places, -values))[: self._limit]
            self._places, self._values = places[order], values[order]

    @property
    def places(self) -> Places:
        """The best, best first, equal ones by place."""
        return self._places
