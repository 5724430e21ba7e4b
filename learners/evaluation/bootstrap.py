"""How sure an error rate is: intervals by resampling utterances with replacement.

`rate_interval` for one system, `paired_difference` for two on the same utterances (each resample draws the
same utterances for both, so that what makes an utterance hard cancels out). Deterministic: draws come
from a counter-based generator keyed by the seed, and do not depend on the chunk in which they are made.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import InvalidInput
from galloon.learners.evaluation.error_rate import ErrorCounts, as_table

RESAMPLES = 2000
CONFIDENCE = 0.95
_CHUNK_DRAWS = 1 << 20  # bounds the memory, whatever the number of utterances


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure in percent and the interval that holds it at the stated confidence."""

    value: float
    low: float
    high: float
    confidence: float = CONFIDENCE

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def rate_interval(
    counts: Sequence[ErrorCounts],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """The micro-averaged error rate of a system, with its interval."""
    table = as_table(counts)
    errors = table[:, :3].sum(axis=1)[None, :]
    return _interval(errors, table[:, 3], np.array([1.0]), resamples, confidence, seed)


def paired_difference(
    first: Sequence[ErrorCounts],
    second: Sequence[ErrorCounts],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """Error rate of the first system minus that of the second, in percentage points: negative is better."""
    a, b = as_table(first), as_table(second)
    if a.shape != b.shape or not np.array_equal(a[:, 3], b[:, 3]):
        raise InvalidInput(
            "a paired difference needs both systems' counts on the same utterances in the same order: "
            f"{len(a)} and {len(b)} were given, or their reference lengths differ"
        )
    errors = np.stack([a[:, :3].sum(axis=1), b[:, :3].sum(axis=1)])
    return _interval(errors, a[:, 3], np.array([1.0, -1.0]), resamples, confidence, seed)


def _interval(
    errors: NDArray[np.int64],
    lengths: NDArray[np.int64],
    signs: NDArray[np.float64],
    resamples: int,
    confidence: float,
    seed: int,
) -> Interval:
    count = lengths.size
    if count == 0:
        raise InvalidInput("no utterances: an interval needs at least one")
    if resamples < 1 or not 0 < confidence < 1:
        raise InvalidInput(f"needs resamples >= 1 and 0 < confidence < 1, not {resamples} and {confidence}")
    generator = np.random.Generator(np.random.Philox(key=seed))
    # One row of draws after the other: the stream of draws is the same whatever the chunk.
    rows = max(1, _CHUNK_DRAWS // count)
    samples = []
    for done in range(0, resamples, rows):
        picks = generator.integers(count, size=(min(rows, resamples - done), count))
        per_length = 100.0 / np.maximum(1, lengths[picks].sum(axis=1))
        samples.append((signs @ errors[:, picks].sum(axis=2)) * per_length)
    tail = 50.0 * (1 - confidence)
    low, high = np.percentile(np.concatenate(samples), [tail, 100.0 - tail])
    value = float(signs @ errors.sum(axis=1)) * 100.0 / max(1, int(lengths.sum()))
    return Interval(value, float(low), float(high), confidence)
