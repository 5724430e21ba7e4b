"""The gain of all patterns that a regular expression over tokens describes, each of one weight.

`RegexGain("the (big|small){1,2} cat")`; the syntax stands in `automata.bounded_language`, which compiles the
expression with OpenFst and refuses one whose language is unbounded or too large. `patterns_from_regex` gives
the patterns themselves, for a `PatternGain` or a `GappyGain`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from galloon.learners.gains.count_gain import CountGain
from galloon.learners.gains.occurrences import Pattern
from galloon.learners.gains.patterns import in_canonical_order


@dataclass(frozen=True)
class RegexGain(CountGain):
    """The patterns of a regular expression."""

    expression: str
    weight_each: float = 1.0
    count_nulls: bool = False

    def __post_init__(self) -> None:
        self._check()

    @property
    def name(self) -> str:
        return "regex"

    @cached_property
    def weights(self) -> Mapping[Pattern, float]:
        return in_canonical_order(patterns_from_regex(self.expression, self.weight_each))

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "regex",
            "expression": self.expression,
            "weight": self.weight_each,
            "count_nulls": self.count_nulls,
        }


def patterns_from_regex(expression: str, weight: float = 1.0) -> dict[Pattern, float]:
    """Every pattern of the expression's language, with the same weight."""
    # Imported here: OpenFst takes a while to load, and most gains never need it.
    from galloon.learners.automata.bounded_language import bounded_language

    return dict.fromkeys(bounded_language(expression), weight)
