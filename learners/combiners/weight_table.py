"""The trust in each expert as a table for people: a row for each slot or context, a column for each expert.

Rows are what the combiner tells apart: the slots of a window, the contexts of a tied learner, or one row for
everything.
"""

from dataclasses import dataclass

from galloon.learners.paths.protocol import FloatArray


@dataclass(frozen=True, slots=True)
class WeightTable:
    """`probabilities[i, j]`: of expert (or transition) j in row i; NaN where there is no cheap answer."""

    row_kind: str  # what a row is: "slot", "context", ...
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    probabilities: FloatArray
    # How often each row was met, where that is counted.
    counts: tuple[int, ...] | None = None
