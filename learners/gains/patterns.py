"""The gain of a given set of patterns, of any lengths, each with a weight.

The weight multiplies the product of the two counts. The footnote of the paper's section 3 multiplies each
occurrence by alpha_k instead, in the output and in the target: the same with weight = alpha_k**2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from galloon.learners.gains.count_gain import CountGain
from galloon.learners.gains.occurrences import Pattern


@dataclass(frozen=True)
class PatternGain(CountGain):
    """Given patterns with their weights. Patterns made of nulls alone weigh 0 unless `count_nulls` is set."""

    patterns: Mapping[Pattern, float]
    count_nulls: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", in_canonical_order(self.patterns))
        self._check()

    @property
    def name(self) -> str:
        return "patterns"

    @property
    def weights(self) -> Mapping[Pattern, float]:
        return self.patterns

    def spec(self) -> dict[str, Any]:
        return {"kind": "patterns", "patterns": pattern_list(self.patterns), "count_nulls": self.count_nulls}


def in_canonical_order(patterns: Mapping[Pattern, float]) -> Mapping[Pattern, float]:
    """A copy sorted by length and then by tokens: equal sets give equal bits."""
    ordered = sorted((tuple(pattern) for pattern in patterns), key=lambda pattern: (len(pattern), pattern))
    return MappingProxyType({pattern: float(patterns[pattern]) for pattern in ordered})


def pattern_list(patterns: Mapping[Pattern, float]) -> list[dict[str, Any]]:
    """Patterns as JSON values."""
    return [{"tokens": list(pattern), "weight": weight} for pattern, weight in patterns.items()]
