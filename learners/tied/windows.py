"""The tied learner for n-grams (n >= 2): `TiedWindows`, laws of all windows of contexts that fit together.

In each slot one of c contexts is seen; the gain is a sum over windows of n slots, from 0 to B each, and depends
on the experts chosen in the window. The learner keeps for every window of contexts C a law w_C over n-tuples
of experts, all of them consistent (`kernels.tied_windows`), and plays them in a chain: the first n - 1 experts
by their joint law, every further one given the n - 1 before it. Then every window has exactly the law w_C,
whatever the contexts and the length. Learning is follow-the-regularised-leader on the cumulated losses.

Regret (`bound`): against every consistent family of laws, so against every rule from contexts to experts,
    D / rate_T + (B**2 / 8) sum_t rate_t sum_C N_t(C)**2,   D = (c**n n + c**(n-1) (n-1)) ln r,
N_t(C) the number of windows C in round t: expected gain is linear in the laws, and each law is a point of a
simplex, where Hoeffding's lemma bounds one round and the relative entropy to uniform the sum. Costs grow with
(c r)**n, so contexts must be few; with n = 1 use `TiedLearner`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from galloon.learners import state
from galloon.learners.errors import BoundExceeded, BudgetExceeded, InvalidInput
from galloon.learners.kernels.tied_windows import project
from galloon.learners.paths.draws import uniforms
from galloon.learners.paths.protocol import (
    FloatArray,
    FullFeedback,
    IntArray,
    Memory,
    SemiBanditFeedback,
    Setting,
    Size,
)

STATE_VERSION = 1
CONSISTENCY = 1e-10
TRANSITION_BUDGET = 1 << 18
# Losses beyond this, in units of one over the rate, cannot be told from one another by the laws any more.
_STEEPEST = 600.0


@dataclass(frozen=True, slots=True)
class WindowsChoice:
    """An expert for each slot, the log probability of the whole, and what to remember."""

    path: IntArray
    log_probability: float
    memory: (
        Memory  # edges: window of contexts and tuple of experts by turns; numbers: the tuple's probability
    )


class TiedWindows:
    """n-gram laws over windows of contexts."""

    name = "tied_windows"

    def __init__(
        self,
        experts: int,
        contexts: int,
        order: int,
        setting: Setting = Setting.FULL,
        edge_bound: float = 1.0,
        learning_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        if experts < 1 or contexts < 1 or order < 2:
            raise InvalidInput("tied windows need at least one expert, one context, and an order of two")
        if setting is Setting.BANDIT:
            raise InvalidInput(
                "no estimator is known for tied windows from one score a round", advice="use n = 1"
            )
        size = (experts * contexts) ** order
        if size > TRANSITION_BUDGET:
            raise BudgetExceeded(
                "transitions", size, TRANSITION_BUDGET, "use fewer contexts or a lower order"
            )
        self.experts, self.contexts, self.order = experts, contexts, order
        self.setting, self.edge_bound, self._seed = setting, edge_bound, seed
        self._fixed_rate = learning_rate
        tuples, windows = experts ** (order - 1), contexts**order
        self._losses = np.zeros((windows, experts**order))
        self._left = np.full((windows, tuples), -log(experts**order) / 2)
        self._right = self._left.copy()
        self._squares = 0.0  # sum of N_t(C)**2
        self._spent = 0.0  # the second part of the bound
        self.rounds_learned = 0
        self._project()

    def choose(self, round_number: int, contexts: IntArray) -> WindowsChoice:
        """Experts for slots in which these contexts are seen."""
        slots, before = len(contexts), self.order - 1
        if slots and not 0 <= int(contexts.min()) <= int(contexts.max()) < self.contexts:
            raise InvalidInput(f"contexts are numbers below {self.contexts}")
        draws = uniforms(self._seed, round_number, max(slots, before) + 1)
        seen = np.zeros(max(slots, before), dtype=np.int64)  # short utterances are drawn as if they went on
        seen[:slots] = contexts
        part = _number(seen[:before], self.contexts)
        law = self._parts[part]
        first = _draw(law, draws[0])
        path = list(_digits(first, self.experts, before))
        chance = float(law[first])
        edges: list[int] = []
        numbers: list[float] = []
        for i in range(before, slots):
            window = _number(seen[i - before : i + 1], self.contexts)
            prefix = _number(np.array(path[i - before : i]), self.experts) * self.experts
            law = self._windows[window, prefix : prefix + self.experts]
            path.append(_draw(law / law.sum(), draws[i]))
            chance *= float(law[path[i]] / law.sum())
            edges += [window, prefix + path[i]]
            numbers.append(float(law[path[i]]))
        return WindowsChoice(
            np.array(path[:slots], dtype=np.int32),
            log(chance) if slots >= before else float(np.log(self._prefix_law(seen, path[:slots]))),
            Memory(np.array(edges, dtype=np.int32), np.array(numbers, dtype=np.float64)),
        )

    def learn(self, memory: Memory, feedback: FullFeedback | SemiBanditFeedback) -> None:
        """Gains of every tuple in every window of the round, windows x r**n; or of the shown ones alone."""
        windows, shown = memory.edges[0::2], memory.edges[1::2]
        inside = (windows >= 0) & (windows < self._losses.shape[0])
        if not (inside & (shown >= 0) & (shown < self._losses.shape[1]) & (memory.numbers > 0)).all():
            raise InvalidInput("this memory is of another learner")
        losses = np.zeros_like(self._losses)
        match feedback:
            case FullFeedback(gains) if self.setting is Setting.FULL:
                np.add.at(
                    losses,
                    windows,
                    self.edge_bound - self._checked(gains).reshape(windows.size, self._losses.shape[1]),
                )
            case SemiBanditFeedback(gains) if self.setting is Setting.SEMI_BANDIT:
                np.add.at(losses, (windows, shown), (self.edge_bound - self._checked(gains)) / memory.numbers)
            case _:
                raise InvalidInput(f"tied windows in the {self.setting.value} setting take other feedback")
        counts = np.bincount(windows, minlength=self._losses.shape[0])
        # Importance-weighted losses have second moments up to r**n, and no upper end: 1/2 in place of 1/8.
        spread = 1 if self.setting is Setting.FULL else 4 * self._losses.shape[1]
        squares = float((counts**2).sum()) * spread
        self._spent += self.rate * self.edge_bound**2 / 8 * squares
        self._squares += squares
        self._losses += losses
        self.rounds_learned += 1
        self._project()

    @property
    def rate(self) -> float:
        """The learning rate: given, or falling as the sum of squares grows."""
        if self._fixed_rate:
            return self._fixed_rate
        return sqrt(8 * self.entropy / (self.edge_bound**2 * (1 + self._squares)))

    @property
    def entropy(self) -> float:
        """D: how far any family of laws is from uniform."""
        n, c, r = self.order, self.contexts, self.experts
        return float(c**n * n + c ** (n - 1) * (n - 1)) * log(max(2, r))

    def bound(self) -> float:
        """Of the expected regret so far."""
        return self.entropy / self.rate + self._spent

    def window_laws(self) -> FloatArray:
        """w: for each window of contexts the law over tuples of experts."""
        return self._windows.copy()

    def size(self) -> Size:
        parts = self.contexts ** (self.order - 1) * self.experts ** (self.order - 1)
        return Size(parts, self._losses.size, 3 * self._losses.nbytes)

    def to_bytes(self) -> bytes:
        meta = {"squares": self._squares.hex(), "spent": self._spent.hex(), "rounds": self.rounds_learned}
        return state.pack("tied_windows", STATE_VERSION, meta, self._arrays())

    def restore(self, data: bytes) -> None:
        found = state.unpack(data, "tied_windows", STATE_VERSION)
        for name, held in self._arrays().items():
            if found.arrays[name].shape != held.shape:
                raise InvalidInput("this state is of tied windows of another size")
        self._losses, self._left, self._right = (found.arrays[n] for n in ("losses", "left", "right"))
        self._windows, self._parts = found.arrays["windows"], found.arrays["parts"]
        self._squares = float.fromhex(found.meta["squares"])
        self._spent = float.fromhex(found.meta["spent"])
        self.rounds_learned = int(found.meta["rounds"])

    def digest(self) -> str:
        return state.digest(self.to_bytes())

    def _arrays(self) -> Mapping[str, NDArray[np.float64]]:
        return {
            "losses": self._losses,
            "left": self._left,
            "right": self._right,
            "windows": self._windows,
            "parts": self._parts,
        }

    def _project(self) -> None:
        """The laws that the losses so far stand for. The multipliers of last time are where the search starts."""
        scaled = self.rate * self._losses
        # A constant on a window's losses changes nothing; the least at 0 keeps exponents in range.
        scaled = np.minimum(scaled - scaled.min(axis=1, keepdims=True), _STEEPEST)
        self._windows, self._parts, _, _ = project(
            scaled, self._left, self._right, self.contexts, self.experts, CONSISTENCY
        )

    def _prefix_law(self, seen: NDArray[np.int64], path: list[int]) -> float:
        """The probability of the first experts of a round shorter than n - 1."""
        before = self.order - 1
        law = self._parts[_number(seen[:before], self.contexts)].reshape((self.experts,) * before)
        return float(law[tuple(path)].sum())

    def _checked(self, gains: FloatArray) -> FloatArray:
        if gains.size and not (gains.min() >= 0.0 and gains.max() <= self.edge_bound):
            raise BoundExceeded(f"gains of windows lie between 0 and {self.edge_bound}")
        return gains


def _number(digits: NDArray[np.int64], base: int) -> int:
    number = 0
    for digit in digits.tolist():
        number = number * base + digit
    return number


def _digits(number: int, base: int, count: int) -> tuple[int, ...]:
    return tuple(number // base ** (count - 1 - i) % base for i in range(count))


def _draw(law: FloatArray, uniform: float) -> int:
    reached = np.cumsum(law)
    return int(min(np.searchsorted(reached, uniform * reached[-1], side="right"), law.size - 1))
