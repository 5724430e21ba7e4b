"""What was counted of each pair of engines that ran in the same utterances: `PairCounts`.

Of a thousand engines few pairs meet, so there is a row for each pair that has met and none for the others. At the
limit the pair that has met least gives way.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.bounded_table import BoundedTable
from galloon.learners.kernels.pairs import add, gather

PAIR_LIMIT = 1 << 16  # rows: all pairs of 360 engines


class PairCounts:
    """So many counts of each pair; the first is how often they met."""

    def __init__(self, name: str, width: int) -> None:
        self._name = name
        self._table = BoundedTable(PAIR_LIMIT, {"counts": (width, np.float64)})

    def among(self, engines: NDArray[np.int64]) -> NDArray[np.float64]:
        """Counts x engines x engines, with zeros in the diagonal."""
        found: NDArray[np.float64] = gather(self._table.keys, self._table.columns["counts"], engines)
        return found

    def add(self, engines: NDArray[np.int64], counts: NDArray[np.float64]) -> None:
        """Add counts of these engines, in the same shape; a pair without a first count has not met."""
        self._table.make_room(len(engines) * (len(engines) - 1) // 2)
        add(self._table.keys, self._table.columns["counts"], self._table.used, engines, counts)

    @property
    def state_bytes(self) -> int:
        return self._table.state_bytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._table.arrays(self._name)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._table.restore(self._name, arrays)
