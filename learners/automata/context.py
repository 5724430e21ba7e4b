"""The context-dependent automaton A': the paths of A, with gains that add up (section 3 of the paper).

A transition of A' stands for the last transitions of A on a path, its *window*, and carries the gain of
every pattern occurrence that ends there. `context_automaton` builds A' directly: `EnsembleContext`, all
index arithmetic, for an ensemble; `GraphContext`, written out, for an explicit automaton. Both offer the
same verbs: push, sample, best path, and the translation of paths between A and A'.

How much must be remembered is a `Reach` of two numbers: patterns have at least `shortest` tokens, and an
occurrence spans at most `span` transitions (pattern length plus gaps). The first transition of A' stands
for the first `shortest` transitions of A, because no occurrence ends before; with one pattern length and no
gaps this is the automaton of the paper's appendix, M = r^n (l - n + 1).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.paths.protocol import FloatArray, IntArray

TRANSITION_BUDGET = 20_000_000
IndexArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back a gain looks: patterns of at least `shortest` tokens, spanning at most `span`."""

    shortest: int
    span: int

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.span:
            raise InvalidInput(
                f"a pattern needs 1 <= shortest <= span, got shortest {self.shortest} and span {self.span}"
            )


@dataclass(frozen=True, slots=True)
class Pushed:
    """The law proportional to e**(sum of log weights): its flows and the log of its total weight."""

    flows: FloatArray
    log_total: float


class ContextAutomaton(Protocol):
    """What the learners need of A'."""

    @property
    def reach(self) -> Reach: ...
    @property
    def state_count(self) -> int: ...
    @property
    def transition_count(self) -> int: ...
    @property
    def longest_path(self) -> int: ...
    @property
    def path_count(self) -> int: ...
    @property
    def equal_lengths(self) -> bool:
        """Whether all paths have the same number of transitions."""
        ...

    def push(self, log_weights: FloatArray) -> Pushed:
        """Weight pushing and flows."""
        ...

    def sample(self, flows: FloatArray, uniforms: FloatArray) -> IntArray:
        """A path drawn by the Markov walk on the flows, one uniform number a step."""
        ...

    def best_path(self, values: FloatArray) -> tuple[IntArray, float]:
        """The path with the largest sum of values, and that sum."""
        ...

    def context_path(self, path: IntArray) -> IntArray:
        """The path of A' for a path of A."""
        ...

    def expert_path(self, edges: IntArray) -> IntArray:
        """The path of A for a path of A'."""
        ...

    def is_path(self, edges: IntArray) -> bool:
        """Whether these are the transitions of a path of A', in order."""
        ...

    def window(self, edge: int) -> tuple[int, ...]:
        """The transitions of A that this transition of A' remembers, oldest first."""
        ...

    def entering(self, edges: IntArray) -> tuple[IntArray, IndexArray]:
        """For each of these transitions all that enter the same state, itself among them (not the sink).

        One after the other, with where each group begins.
        """
        ...

    def state_flows(self, flows: FloatArray) -> FloatArray:
        """The flow through each state: what enters it (1 for the initial state)."""
        ...

    def source_targets(self) -> tuple[IntArray, IntArray]:
        """Source and target state of every transition; states in topological order, 0 first, sink last."""
        ...

    def layers(self) -> tuple[IndexArray, IndexArray]:
        """Where each layer of transitions, and of states, begins; for paths of equal length."""
        ...


def check_budget(transitions: int, budget: int) -> None:
    """Refuse A' by arithmetic, before anything is built."""
    if transitions > budget:
        raise BudgetExceeded(
            "transitions of A'",
            transitions,
            budget,
            "use fewer experts, a shorter pattern or a smaller gap, or raise the budget",
        )
