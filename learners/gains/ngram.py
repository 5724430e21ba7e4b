"""The n-gram gain: how many pairs of equal n-grams the output and the target have.

`NgramGain(order)`; order 1 to any n. The approximation of BLEU that the paper uses has order 4.
"""

from dataclasses import dataclass
from typing import Any

from galloon.learners.errors import InvalidInput
from galloon.learners.gains.count_gain import CountGain


@dataclass(frozen=True)
class NgramGain(CountGain):
    """All n-grams of one order. n-grams made of nulls alone count only with `count_nulls`."""

    order: int
    count_nulls: bool = False

    def __post_init__(self) -> None:
        if self.order < 1:
            raise InvalidInput(f"{self.order} is not at least 1", field="order")
        self._check()

    @property
    def name(self) -> str:
        return f"{self.order}-gram"

    @property
    def lengths(self) -> tuple[int, ...]:
        return (self.order,)

    def spec(self) -> dict[str, Any]:
        return {"kind": "ngram", "order": self.order, "count_nulls": self.count_nulls}
