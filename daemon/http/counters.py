"""Counters for the path of every request: a tenth of the cost of the library's, which lock and look up.

All of them are counted on the event loop alone, so they need no lock; `Metrics` hands them out to a scrape.
"""

from bisect import bisect_left
from collections.abc import Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString


class Tally:
    """Counts."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def inc(self) -> None:
        self.count += 1


class Spread:
    """Counts values by size, as a histogram does."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def family(self, name: str, text: str) -> HistogramMetricFamily:
        buckets, total = [], 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            buckets.append((floatToGoString(bound), total))
        return HistogramMetricFamily(name, text, buckets=buckets, sum_value=self._sum)


def counter(name: str, text: str, label: str, tallies: dict[str, Tally]) -> CounterMetricFamily:
    """One counter with a value for each tally."""
    family = CounterMetricFamily(name, text, labels=[label])
    for value, tally in tallies.items():
        family.add_metric([value], tally.count)
    return family
