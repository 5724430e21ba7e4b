"""Self-tuning by the measured gap (AdaHedge: de Rooij, van Erven, Grünwald and Koolen 2014).

The rate is eta = D / Delta: D how many experts there are (ln N, or the divergence from the start), Delta the
sum of the gaps so far between what the law gained and what its potential promised. A gap is measured, not bounded:
where the rounds are easy it is nearly 0 and the rate stays high. Regret <= D / eta + Delta <= 2 Delta for every
sequence of gains, with no horizon and no bound on gains. An utterance is one round, whatever its windows.

Rounds whose feedback was late are paid by what a gap and a drift can be at most (docs/algorithms.md).
"""

import math
from dataclasses import dataclass
from typing import Any

from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.paths.tuning import Rate

TUNINGS = ("gap", "paper")
FIRST_RATE = 16.0  # times 1 / B: where nothing was measured yet


def measures_gap(tuning: str, rate: Rate) -> bool:
    """Whether the option asks for the measured gap; a horizon or a rate given by hand is the paper's tuning."""
    if tuning not in TUNINGS:
        raise InvalidInput(f"tuning {tuning!r} is not one of {', '.join(TUNINGS)}", field="options")
    return tuning == "gap" and not rate.is_constant


@dataclass(slots=True)
class MeasuredGap:
    """Delta, and what of it counts in the bound."""

    complexity: float  # D
    roughness: float  # U^2, or K B^2: gaps and drifts are at most this times eta, over 8 and over 4
    path_bound: float  # U
    total: float  # Delta, from its first value on
    on_time: float = 0.0  # gaps of rounds whose law was still the one they were drawn from
    late: float = 0.0  # what the others cost at most

    @classmethod
    def fresh(
        cls, complexity: float, roughness: float, path_bound: float, edge_bound: float
    ) -> "MeasuredGap":
        complexity = max(complexity, 1e-12)
        return cls(complexity, roughness, path_bound, complexity * edge_bound / FIRST_RATE)

    @property
    def rate(self) -> float:
        return self.complexity / self.total

    def take(self, gap: float, windows: int, rate_at_choice: float, waited: int) -> None:
        """One utterance: its gap at the present law, and how long its windows had waited."""
        gap = max(gap, 0.0)
        self.total += gap
        if not waited:
            self.on_time += gap
            return
        drift = rate_at_choice * self.roughness * windows * (windows / 8 + waited / 4)
        self.late += min(windows * self.path_bound, drift)

    def bound(self, climb: float) -> float:
        """On the sum of expected regrets; climb as `Pace` has it: D / eta, if no feedback came out of order."""
        return self.complexity * climb + self.on_time + self.late

    def to_json(self) -> list[str]:
        return [number.hex() for number in (self.total, self.on_time, self.late)]

    def restore(self, found: Any) -> None:
        try:
            total, on_time, late = (float.fromhex(number) for number in found)
        except (TypeError, ValueError) as error:
            raise DamagedState("the measured gap of this learner's state is damaged") from error
        if not (0 < total < math.inf and 0 <= on_time < math.inf and 0 <= late < math.inf):
            raise DamagedState("the measured gap of this learner's state is damaged")
        self.total, self.on_time, self.late = total, on_time, late
