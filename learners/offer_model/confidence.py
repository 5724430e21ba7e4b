"""What an engine's confidence is worth, learned from that engine alone: `ConfidenceRecord`.

A confidence becomes a quantile bucket among the engine's own recent ones; each bucket's record of right and
wrong offers, where engines differed, gives the log odds of being right when so confident.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState
from galloon.learners.kernels.offer_model import survey
from galloon.learners.kernels.quantiles import BUCKETS, RING, buckets_of
from galloon.learners.offers import Offers
from galloon.learners.present import MANY, Present, kept_rows
from galloon.learners.state import check_arrays

RING_NAME, BORDERS_NAME = "confidence.recent", "confidence.bucket_borders"
COLUMNS = BUCKETS + 3  # no confidence, each bucket, too early to say, null


class ConfidenceRecord:
    """The confidences of each expert, and how often it was right with them."""

    def __init__(self, expert_count: int) -> None:
        self._begin(expert_count)

    def _begin(self, expert_count: int) -> None:
        # Memory for zeros is taken when they are written to: experts that never run cost little.
        self._ring = np.zeros((expert_count, RING))
        self._seen = np.zeros(expert_count, dtype=np.int64)
        self._borders = np.full((expert_count, BUCKETS - 1), np.inf)
        # A prior of half a success in one trial: even odds, and no probability is ever 0 or 1.
        self._right = np.full((expert_count, COLUMNS), 0.5)
        self._total = np.ones((expert_count, COLUMNS))

    def survey(
        self, network: Offers, present: Present, columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int32]]:
        """The bucket of each confidence, log odds that each of these columns' experts is right in each slot, and
        the token that they vote for.
        """
        seen, borders, right, total = self.of(present)
        buckets = np.asarray(buckets_of(seen, borders, network.confidences))
        return (buckets, *survey(network.tokens, columns, buckets, right, total))

    def of(
        self, present: Present
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Of those present, as `read_and_score` takes it. Right and total offers by bucket come last: where
        experts differed and the truth is known.
        """
        return (
            present.of(self._seen),
            present.of(self._borders),
            present.of(self._right),
            present.of(self._total),
        )

    def ring_of(self, present: Present) -> NDArray[np.float64]:
        return present.of(self._ring)

    def put(self, present: Present, changed: tuple[NDArray[Any], ...], ring: NDArray[np.float64]) -> None:
        """Take back what `of` and `ring_of` gave out, after it was changed."""
        for array, rows in zip((self._seen, self._borders, self._right, self._total), changed, strict=True):
            present.put(array, rows)
        present.put(self._ring, ring)

    def forget(self, expert: int) -> None:
        """How often this expert was right is not known any more; how sure it usually is, is."""
        self._right[expert], self._total[expert] = 0.5, 1.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Of more experts than `MANY` only the rows of those whose record is not empty."""
        met = (self._total > 1.0).any(axis=1) | (self._seen > 0) | (len(self._seen) <= MANY)
        kept = {} if met.all() else {"confidence.met": np.flatnonzero(met)}
        return {
            **kept,
            RING_NAME: self._ring[met, : min(RING, int(self._seen.max(initial=0)))],
            "confidence.seen": self._seen[met],
            BORDERS_NAME: self._borders[met],
            "confidence.right": self._right[met],
            "confidence.total": self._total[met],
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        rows = kept_rows(arrays, "confidence.met", len(self._seen))
        fixed = {
            "confidence.seen": self._seen[rows],
            "confidence.right": self._right[rows],
            "confidence.total": self._total[rows],
        }
        check_arrays(arrays, fixed)
        held, borders, seen = arrays[RING_NAME], arrays[BORDERS_NAME], arrays["confidence.seen"]
        if (
            seen.min(initial=0) < 0
            or held.shape != (len(seen), min(RING, int(seen.max(initial=0))))
            or borders.shape != self._borders[rows].shape
            or not held.dtype == borders.dtype == np.float64
            or not np.isfinite(held).all()
            or np.isnan(borders).any()  # infinite until enough is seen
        ):
            raise DamagedState("the confidences of this state contradict each other")
        self._begin(len(self._seen))
        self._ring[rows, : held.shape[1]] = held
        self._seen[rows], self._borders[rows] = seen, borders
        self._right[rows] = arrays["confidence.right"]
        self._total[rows] = arrays["confidence.total"]
