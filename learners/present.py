"""The engines that ran in one utterance, as rows of a model that has one for each engine: `Present`.

Compiled code works on the rows of those present alone. Where everybody is, these are the model's own arrays; else
they are taken out (`of`) and put back after they were changed (`put`), so that nobody absent is touched.
`kept_rows` are those that a state has, where it has not all.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState

MANY = (
    64  # engines: of more, only those that have run are written into a state, and sets of them are of seats
)


class Present(NamedTuple):
    """Columns of an utterance's offers, and the row of each in the model's arrays."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    everybody: bool

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Their rows: a copy, unless everybody is there."""
        return array if self.everybody else array[self.rows]

    def put(self, array: NDArray[Any], changed: NDArray[Any]) -> None:
        """Write the rows back into the array that they were taken from."""
        if not self.everybody:
            array[self.rows] = changed

    def in_order(self, array: NDArray[Any]) -> NDArray[Any]:
        """The columns of the offers in the order of the rows."""
        return np.ascontiguousarray(array[:, self.columns])


def kept_rows(arrays: Mapping[str, NDArray[Any]], name: str, count: int) -> NDArray[np.int64]:
    """The rows that a state has of so many: all, or those that the array of this name lists."""
    rows = arrays.get(name)
    if rows is None:
        return np.arange(count)
    sound = rows.dtype == np.int64 and rows.ndim == 1 and bool((np.diff(rows, prepend=-1) > 0).all())
    if not sound or (rows.size and rows[-1] >= count):
        raise DamagedState(f"the engines of this state are not those of the learner: {name}")
    return rows
