"""Whether an engine has changed: `ErrorStreams` watches the error rate of each engine, line by line, where truth
is told.

An upgrade overnight or a broken scanner moves an engine's errors at once and for good. Each line's rate is
compared with the engine's own mean so far, in standard deviations; what exceeds `SLACK` adds up, upwards and
downwards apart (Page's cumulative sums), and beyond `ALARM` the engine is said to have changed and begins a new
record. A detector of ten lines needs no library: those that have one bring a framework with them.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState
from galloon.learners.state import check_arrays

FEWEST = 30  # lines before an engine's own mean is one to compare with
SLACK, ALARM = 0.75, 12.0  # in standard deviations
MOST_APART = 4.0  # that one line counts for: a single wild line is no change
LEAST_VARIANCE = 0.01  # of a line's error rate
LINES, MEAN, SQUARES, UP, DOWN = range(5)
TIMES, LAST = range(2)


class ErrorStreams:
    """A mean and two sums for each engine, and the changes that were noticed."""

    def __init__(self, engine_count: int) -> None:
        self._moments = np.zeros((engine_count, 5))
        self._found = np.zeros(
            (engine_count, 2), dtype=np.int64
        )  # how often, and at which lesson the last time

    def see(self, engines: Sequence[int], rates: Sequence[float], lesson: int) -> list[int]:
        """Take in the error rates of a line; returns the engines that have changed."""
        return [
            engine for engine, rate in zip(engines, rates, strict=True) if self._see(engine, rate, lesson)
        ]

    def _see(self, engine: int, rate: float, lesson: int) -> bool:
        lines, mean, squares, up, down = self._moments[engine].tolist()
        if lines >= FEWEST:
            apart = (rate - mean) / sqrt(squares / lines + LEAST_VARIANCE)
            apart = min(max(apart, -MOST_APART), MOST_APART)
            up, down = max(0.0, up + apart - SLACK), max(0.0, down - apart - SLACK)
            if max(up, down) > ALARM:
                self._moments[engine] = 0.0
                self._found[engine] = self._found[engine, TIMES] + 1, lesson
                return True
        moved = mean + (rate - mean) / (lines + 1.0)
        self._moments[engine] = lines + 1.0, moved, squares + (rate - mean) * (rate - moved), up, down
        return False

    def changes(self) -> list[tuple[int, int, int]]:
        """Engine, how often it has changed, and at which lesson that was noticed last."""
        changed = np.flatnonzero(self._found[:, TIMES])
        return [(engine, *self._found[engine].tolist()) for engine in changed.tolist()]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"changes.moments": self._moments, "changes.found": self._found}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """A state that was written before changes were looked for has none."""
        if "changes.moments" not in arrays:
            return
        check_arrays(arrays, self.arrays())
        moments, found = arrays["changes.moments"].copy(), arrays["changes.found"].copy()
        if (moments[:, [LINES, SQUARES, UP, DOWN]] < -1e-9).any() or (found < 0).any():
            raise DamagedState("the error streams of this state contradict themselves")
        self._moments, self._found = moments, found
