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
from galloon.learners.state import check_arrays

RING_NAME, BORDERS_NAME = "confidence.recent", "confidence.bucket_borders"
COLUMNS = BUCKETS + 3  # no confidence, each bucket, too early to say, null


class ConfidenceRecord:
    """The confidences of each expert, and how often it was right with them."""

    def __init__(self, expert_count: int) -> None:
        self._ring = np.zeros((expert_count, RING))
        self._seen = np.zeros(expert_count, dtype=np.int64)
        self._borders = np.full((expert_count, BUCKETS - 1), np.inf)
        # A prior of half a success in one trial: even odds, and no probability is ever 0 or 1.
        self._right = np.full((expert_count, COLUMNS), 0.5)
        self._total = np.ones((expert_count, COLUMNS))

    def buckets(self, network: Offers) -> NDArray[np.int8]:
        return np.asarray(buckets_of(self._seen, self._borders, network.confidences))

    def survey(
        self, network: Offers, buckets: NDArray[np.int8], ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Log odds that each of these experts is right in each slot, and the token that they vote for."""
        trust, reference = survey(network.tokens, ids, buckets, self._right, self._total)
        return trust, reference

    @property
    def view(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """As `read_and_score` takes it."""
        return self._seen, self._borders, self._right, self._total

    @property
    def ring(self) -> NDArray[np.float64]:
        return self._ring

    @property
    def record(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Right offers and all offers of each expert by bucket, where experts differed and the truth is known."""
        return self._right, self._total

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            RING_NAME: self._ring[:, : min(RING, int(self._seen.max(initial=0)))],
            "confidence.seen": self._seen,
            BORDERS_NAME: self._borders,
            "confidence.right": self._right,
            "confidence.total": self._total,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        fixed = {name: like for name, like in self.arrays().items() if name not in {RING_NAME, BORDERS_NAME}}
        check_arrays(arrays, fixed)
        held, borders, seen = arrays[RING_NAME], arrays[BORDERS_NAME], arrays["confidence.seen"]
        if (
            seen.min(initial=0) < 0
            or held.shape != (len(seen), min(RING, int(seen.max(initial=0))))
            or borders.shape != self._borders.shape
            or not held.dtype == borders.dtype == np.float64
            or not np.isfinite(held).all()
            or np.isnan(borders).any()  # infinite until enough is seen
        ):
            raise DamagedState("the confidences of this state contradict each other")
        self._ring = np.zeros_like(self._ring)
        self._ring[:, : held.shape[1]] = held
        self._seen, self._borders = seen.copy(), borders.copy()
        self._right = arrays["confidence.right"].copy()
        self._total = arrays["confidence.total"].copy()
