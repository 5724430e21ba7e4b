"""Measuring two things side by side: `ratio` interleaves them, so that noise hits both alike."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times longer the slow thing takes: smallest, median and largest of interleaved pairs."""

    least: float
    middle: float
    most: float
    fast_s: float  # the fast thing's best time
    slow_s: float

    def rounded(self) -> dict[str, float]:
        return {
            "ratio": round(self.middle, 2),
            "least": round(self.least, 2),
            "most": round(self.most, 2),
            "fast_us": round(self.fast_s * 1e6, 2),
            "slow_us": round(self.slow_s * 1e6, 2),
        }


def once(action: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


def ratio(slow: Callable[[], object], fast: Callable[[], object], pairs: int = 7, repeats: int = 1) -> Ratio:
    """Time them in turn; the fast one runs `repeats` times for each run of the slow one, and its mean counts."""
    slow(), fast()
    times = [(once(slow), once(lambda: [fast() for _ in range(repeats)]) / repeats) for _ in range(pairs)]
    ratios = [s / f for s, f in times]
    return Ratio(min(ratios), median(ratios), max(ratios), min(f for _, f in times), min(s for s, _ in times))
