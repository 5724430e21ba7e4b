"""Learning rates: the theorems' when the horizon is known, self-tuning when it is not.

Every bound of `bounds` has the shape  regret <= A / eta + C * eta * T:  A measures how many experts there
are, C how rough a round is. A known horizon T takes eta = sqrt(A / (C T)) and gives 2 sqrt(A C T). Without
one, eta_t = sqrt(A / (2 C t)) gives A / eta_T + C * (sum of eta_t) <= 2 sqrt(2 A C T): a factor of sqrt(2)
for never having to ask, or of 1.57 where the rate falls only as the rounds double. Learners keep sums that
the rate multiplies (dual averaging), so a falling rate needs no correction of the past.
"""

import math
from dataclasses import dataclass

from galloon.learners.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Rate:
    """The learning rate as a function of the rounds learned so far.

    `horizon` 0 means unknown. `fixed` overrides both. `doubling` lets a self-tuning rate fall only when the
    number of rounds doubles, for learners to which a new rate is expensive.
    """

    complexity: float  # A
    roughness: float  # C
    horizon: int = 0
    fixed: float = 0.0
    doubling: bool = False

    def __post_init__(self) -> None:
        numbers = (self.roughness, self.complexity, self.horizon, self.fixed)
        if not (all(0 <= number < math.inf for number in numbers) and self.roughness > 0):
            raise InvalidInput(f"a learning rate needs finite numbers, none negative, got {self}")

    @property
    def is_constant(self) -> bool:
        return self.fixed > 0 or self.horizon > 0

    @property
    def price(self) -> float:
        """The bound as a multiple of that of a known horizon: what it costs not to know it."""
        if self.is_constant:
            return 1.0
        # Doubling: epochs before the last sum to (1 + sqrt(2)) sqrt(T) of rates where one sum gives 2 sqrt(T).
        return (1 + math.sqrt(2) + math.sqrt(0.5)) / 2 if self.doubling else math.sqrt(2)

    def at(self, rounds_learned: int) -> float:
        """The rate for the next choice."""
        if self.fixed > 0:
            return self.fixed
        if self.horizon > 0:
            return math.sqrt(max(self.complexity, 1e-12) / (self.roughness * self.horizon))
        t = rounds_learned + 1
        if self.doubling:
            t = 1 << (t.bit_length() - 1)
        return math.sqrt(max(self.complexity, 1e-12) / (2 * self.roughness * t))
