"""Where a row is, as one number: which file of a search, which row group of it, which row of that. Rising in the order
in which files are read, so that equal rows have an order that does not depend on who was faster."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.int64]

ROW_BITS: Final = 26
GROUP_BITS: Final = 17
"""A file has up to 131,072 row groups of up to 67 million rows, a search up to a million files."""


def places(file: int, group: int, rows: NDArray[np.integer]) -> Places:
    """The places of rows of one row group."""
    return rows.astype(np.int64) + (((file << GROUP_BITS) + group) << ROW_BITS)


def parts(place: int) -> tuple[int, int, int]:
    """File, row group and row of a place."""
    rest, row = divmod(place, 1 << ROW_BITS)
    file, group = divmod(rest, 1 << GROUP_BITS)
    return file, group, row
