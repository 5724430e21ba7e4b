"""A table of rows under 32-bit keys that grows as it fills, up to a limit, and is stored without its gaps.

`BoundedTable` holds the arrays that the kernels work on (`kernels.bounded_table` says how): `keys`, and named
columns of numbers beside them. `make_room` doubles it before it is half full; at its limit a new
row replaces the least important one among those it collides with. The first column ranks the rows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from galloon.learners.errors import DamagedState
from galloon.learners.kernels.bounded_table import STRETCH, rehash
from galloon.learners.state import check_arrays

SMALLEST = 1 << 10


class BoundedTable:
    """Rows of numbers by key."""

    def __init__(self, limit: int, columns: Mapping[str, tuple[int, DTypeLike]]) -> None:
        if limit < STRETCH or limit & (limit - 1):
            raise ValueError(f"the limit of a table is a power of two from {STRETCH} on, not {limit}")
        self.limit = limit
        self._widths = dict(columns)
        self._ranking = next(iter(self._widths))
        self.used = np.zeros(1, dtype=np.int64)
        self.keys, self.columns = self._empty(min(SMALLEST, limit))

    def make_room(self, expected: int) -> None:
        """Grow, as far as allowed, until with so many more rows it would be at most half full.

        Call it before taking the arrays: those of a table that has grown are new ones.
        """
        rows = held = len(self.keys)
        if rows == self.limit:
            return
        while rows < self.limit and rows < 2 * (int(self.used[0]) + expected):
            rows *= 2
        if rows == held:
            return
        keys, columns = self._empty(rows)
        places = rehash(self.keys, self.columns[self._ranking], keys, columns[self._ranking])
        kept = np.flatnonzero(places >= 0)
        for name, column in columns.items():
            if name != self._ranking:
                column[places[kept]] = self.columns[name][kept]
        self.keys, self.columns = keys, columns
        self.used[0] = len(kept)

    @property
    def may_grow(self) -> bool:
        return len(self.keys) < self.limit

    @property
    def state_bytes(self) -> int:
        return self.keys.nbytes + sum(column.nbytes for column in self.columns.values())

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The used rows alone: their positions, keys and columns."""
        places = np.flatnonzero(self.keys)
        stored: dict[str, NDArray[Any]] = {
            f"{name}.rows": np.array([self.keys.shape[0]], dtype=np.int64),
            f"{name}.places": places.astype(np.uint32),
            f"{name}.keys": self.keys[places],
        }
        for column, values in self.columns.items():
            stored[f"{name}.{column}"] = values[places]
        return stored

    def restore(self, name: str, stored: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `arrays` returned."""
        check_arrays(stored, {f"{name}.rows": self.used})
        rows, places, keys = int(stored[f"{name}.rows"][0]), stored[f"{name}.places"], stored[f"{name}.keys"]
        if not STRETCH <= rows <= self.limit or rows & (rows - 1) or (places.size and places.max() >= rows):
            raise DamagedState(f"the table {name!r} of this state cannot have {rows} rows of {self.limit}")
        if not places.dtype == keys.dtype == np.uint32 or places.ndim != 1 or keys.shape != places.shape:
            raise DamagedState(f"the table {name!r} of this state has not a key for each place")
        self.keys, self.columns = self._empty(rows)
        self.keys[places] = keys
        for column, values in self.columns.items():
            held = stored[f"{name}.{column}"]
            if held.shape != (places.size, values.shape[1]) or held.dtype != values.dtype:
                raise DamagedState(f"the table {name!r} of this state has other columns than this learner's")
            values[places] = held
        self.used[0] = places.size

    def _empty(self, rows: int) -> tuple[NDArray[np.uint32], dict[str, NDArray[Any]]]:
        columns = {name: np.zeros((rows, width), dtype) for name, (width, dtype) in self._widths.items()}
        return np.zeros(rows, dtype=np.uint32), columns
