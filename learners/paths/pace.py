"""What a bound must know of the play: the rates that paths were drawn with, and how late their feedback came.

A round is drawn with the rate and the sums that stood when it was chosen. `waited` is the number of rounds
learned between its choice and its own lesson: 0 where feedback comes before the next choice, more where it is
late, comes in batches, or where the windows of one utterance share one law. Bounds are sums over rounds of the
rate at choice, so they are kept here as sums (docs/algorithms.md, "Late feedback").
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from galloon.learners.errors import DamagedState


@dataclass(slots=True)
class Pace:
    """Sums over the rounds learned, in the order of their lessons; `known` is False if a choice told no time."""

    rounds: int = 0
    waited: int = 0  # the sum over rounds
    rates: float = 0.0  # the sum of rates
    waiting_rates: float = 0.0  # the sum of rate times waited
    climb: float = 0.0  # the sum of all increases of 1 / rate, from 0 on
    last: float = 0.0  # 1 / rate of the last round
    known: bool = True

    def lesson(self, rate: float, learned: int, at_choice: float | None) -> None:
        """One more lesson, after so many: its rate, and the rounds that had been learned, when it was drawn."""
        # A choice may be from before choices told it, or from a later state than the one restored since.
        if at_choice is None or not 0 <= at_choice <= learned:
            self.known = False
            self.rounds += 1
            return
        self.take(rate, learned - int(at_choice))

    def take(self, rate: float, waited: int) -> None:
        """The same with the rate that its path was drawn with, and the rounds learned since."""
        slowness = 1.0 / rate
        self.rounds += 1
        self.waited += waited
        self.rates += rate
        self.waiting_rates += rate * waited
        self.climb += max(0.0, slowness - self.last)
        self.last = slowness

    @property
    def swings(self) -> float:
        """All moves of 1 / rate, up and down, from 0 on."""
        return 2 * self.climb - self.last

    @property
    def note(self) -> str:
        """What the words of a guarantee say of lateness."""
        if not self.waited:
            return ""
        return f", feedback {self.waited / self.rounds:.1f} rounds late on average"

    def to_json(self) -> list[Any]:
        sums = (self.rates, self.waiting_rates, self.climb, self.last)
        return [self.rounds, self.waited, *(number.hex() for number in sums), self.known]

    @classmethod
    def from_json(cls, found: Any, rounds: int) -> "Pace":
        """The inverse; a state from before delays were measured gives a pace that knows nothing."""
        if found is None:
            return cls(rounds=rounds, known=rounds == 0)
        try:
            count, waited, *sums, known = found
            numbers = [float.fromhex(number) for number in sums]
            pace = cls(int(count), int(waited), *_four(numbers), known is True)
        except (TypeError, ValueError) as error:
            raise DamagedState("the pace of this learner's state is damaged") from error
        if pace.rounds != rounds or not all(0 <= n < math.inf for n in (pace.waited, *numbers)):
            raise DamagedState("the pace of this learner's state is damaged")
        return pace


def _four(numbers: Sequence[float]) -> tuple[float, float, float, float]:
    rates, waiting_rates, climb, last = numbers
    return rates, waiting_rates, climb, last
