"""Gappy gains (section 5 of the paper): occurrences may skip tokens, at a discount for each one skipped.

`GappyGain(lengths=(3,), discount=0.5, max_gap=2)` counts all n-grams of the given lengths, or, with
`patterns`, the given ones. An occurrence with k tokens skipped in all counts discount**k, in the output and
in the target alike; `aab` occurs 1 + 2 discount**3 times in `babbaabaa`. 0**0 is 1, so that a discount of 0
is the plain count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from galloon.learners.errors import InvalidInput
from galloon.learners.gains.count_gain import CountGain
from galloon.learners.gains.occurrences import Pattern
from galloon.learners.gains.patterns import in_canonical_order, pattern_list


@dataclass(frozen=True)
class GappyGain(CountGain):
    """Gappy n-grams of some lengths, or gappy patterns; at most `max_gap` tokens are skipped in all."""

    lengths: tuple[int, ...] = ()
    patterns: Mapping[Pattern, float] | None = None
    discount: float = 0.5
    max_gap: int = 1
    count_nulls: bool = False

    def __post_init__(self) -> None:
        if (self.patterns is None) == (not self.lengths):
            raise InvalidInput("a gappy gain needs either lengths (for all n-grams) or patterns, not both")
        if self.patterns is not None:
            object.__setattr__(self, "patterns", in_canonical_order(self.patterns))
        given = {len(pattern) for pattern in self.patterns or ()} or set(self.lengths)
        object.__setattr__(self, "lengths", tuple(sorted(given)))
        self._check()

    @property
    def name(self) -> str:
        return "gappy"

    @property
    def weights(self) -> Mapping[Pattern, float] | None:
        return self.patterns

    def spec(self) -> dict[str, Any]:
        what: dict[str, Any] = (
            {"lengths": list(self.lengths)}
            if self.patterns is None
            else {"patterns": pattern_list(self.patterns)}
        )
        return {
            "kind": "gappy",
            **what,
            "discount": self.discount,
            "max_gap": self.max_gap,
            "count_nulls": self.count_nulls,
        }
