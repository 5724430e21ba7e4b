"""The machinery that all count-based gains share: U(x, y) = the sum of weight * Theta(x) * Theta(y).

A subclass says which patterns (`weights`, or `lengths` alone for all n-grams), how far they may be spread
(`max_gap`) and at what `discount`. Once the target is known the gain is a trie of patterns with their worth,
and the gain of a transition is the worth of all occurrences that end there.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from galloon.learners.automata.context import ContextAutomaton, Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.gains.gain import Outputs, as_built, check_outputs, check_reach
from galloon.learners.gains.occurrences import (
    Pattern,
    contiguous_bound,
    discounted_counts,
    gap_placements,
    occurrence_bound,
    placements,
)
from galloon.learners.gains.pattern_trie import (
    NULL_TOKEN,
    PatternTrie,
    trie_of_numbers,
    trie_of_patterns,
    trie_of_target,
)
from galloon.learners.kernels import windows
from galloon.learners.paths.protocol import FloatArray, IntArray

PLACEMENT_BUDGET = 1_000  # occurrences that can end at one token: the cost of one transition's gain
PATTERN_TOKEN_BUDGET = 1_000_000  # tokens of all given patterns together
FEW_GAINS = 1024  # transitions of all windows: valued in some microseconds


class CountGain:
    """A gain that counts patterns. Subclasses are frozen dataclasses that call `_check` once made."""

    count_nulls: bool  # whether patterns made of nulls alone count

    @property
    def name(self) -> str:
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def weights(self) -> Mapping[Pattern, float] | None:
        """The worth of each pattern, or None when every n-gram of the given lengths counts 1."""
        return None

    @property
    def lengths(self) -> tuple[int, ...]:
        """The pattern lengths, each once, ascending."""
        return tuple(sorted({len(pattern) for pattern in self.weights or ()}))

    @property
    def discount(self) -> float:
        return 1.0

    @property
    def max_gap(self) -> int:
        return 0

    @property
    def reach(self) -> Reach:
        longest = self.lengths[-1]
        return Reach(self.lengths[0], longest + (self.max_gap if longest > 1 else 0))

    def utility(self, output: Sequence[str], target: Sequence[str]) -> float:
        in_target = discounted_counts(target, self.lengths, self.discount, self.max_gap)
        in_output = discounted_counts(output, self.lengths, self.discount, self.max_gap)
        return float(sum(self.weight(p) * in_output[p] * count for p, count in in_target.items()))

    def weight(self, pattern: Pattern) -> float:
        """What the product of a pattern's counts is multiplied by."""
        if not self.count_nulls and all(token == NULL_TOKEN for token in pattern):
            return 0.0
        return 1.0 if self.weights is None else self.weights.get(pattern, 0.0)

    def edge_gains(
        self, context: ContextAutomaton, outputs: Sequence[str], target: Sequence[str]
    ) -> FloatArray:
        built = as_built(context)
        check_reach(self, built)
        check_outputs(built, outputs)
        trie = self._trie(target)
        offers = trie.symbols(outputs)
        if isinstance(built, EnsembleContext):
            by_slot = offers.reshape(built.expert.slots, built.expert.experts)
            reach = built.reach
            return trie.ensemble_gains(
                by_slot, reach.shortest, reach.span, self._powers, built.transition_count
            )
        return trie.window_gains(built.windows, offers, self._powers)

    def numbered_edge_gains(
        self, context: ContextAutomaton, outputs: IntArray, target: IntArray, vocabulary: Sequence[str]
    ) -> FloatArray:
        if self.weights is not None or not isinstance(context, EnsembleContext):
            return self.edge_gains(
                context, [vocabulary[t] for t in outputs.tolist()], [vocabulary[t] for t in target.tolist()]
            )
        # Every n-gram counts: indices tell tokens apart as well as texts do.
        check_reach(self, context)
        trie = trie_of_numbers(
            target + np.int32(1),
            len(vocabulary) + 1,
            self.lengths,
            self._powers,
            1,
            count_nulls=self.count_nulls,
        )
        by_slot = (outputs + np.int32(1)).reshape(context.expert.slots, context.expert.experts)
        reach = context.reach
        return trie.ensemble_gains(
            by_slot, reach.shortest, reach.span, self._powers, context.transition_count
        )

    def path_gains(
        self, context: ContextAutomaton, outputs: Outputs, target: Sequence[str], edges: IntArray
    ) -> FloatArray:
        built = as_built(context)
        check_reach(self, built)
        trie = self._trie(target)
        path = built.expert_path(edges)
        worth = trie.sequence_gains(trie.symbols(outputs[int(edge)] for edge in path), self._powers)
        emitted = built.emitted(edges)
        gains = np.zeros(len(edges))
        gains[emitted > 0] = worth[np.cumsum(emitted)[emitted > 0] - 1]
        return gains

    def window_gains(
        self, context: EnsembleContext, tokens: IntArray, truth: IntArray, count: int
    ) -> tuple[FloatArray, float] | None:
        if self.weights is not None:
            return None
        check_reach(self, context)
        gains = np.empty((count, context.transition_count))
        slots, reach = context.expert.slots, context.reach
        sizes = (slots, self._counted, self.count_nulls, self._powers, reach.shortest, reach.span)
        valued = windows.few_truth_gains if gains.size <= FEW_GAINS else windows.truth_gains
        return gains, valued(tokens, truth, *sizes, gains)

    def edge_bound(self, target_length: int) -> float:
        """Exact for n-grams (one token repeated everywhere); for given patterns an upper bound."""
        return sum(
            gap_placements(length, self.discount, self.max_gap) * self._dearest(length, target_length)
            for length in self.lengths
        )

    def path_bound(self, longest_path: int, target_length: int) -> float:
        """Exact for n-grams; for given patterns every occurrence counts as the dearest pattern."""
        return sum(
            occurrence_bound(longest_path, length, self.discount, self.max_gap)
            * self._dearest(length, target_length)
            for length in self.lengths
        )

    def _dearest(self, length: int, target_length: int) -> float:
        """The most that one occurrence of a pattern of this length can be worth."""
        most = occurrence_bound(target_length, length, self.discount, self.max_gap)
        if self.weights is None:
            return most
        dear = 0.0
        for pattern in self.weights:
            if len(pattern) == length:
                count = contiguous_bound(target_length, pattern) if self.max_gap == 0 else most
                dear = max(dear, self.weight(pattern) * count)
        return dear

    def _trie(self, target: Sequence[str]) -> PatternTrie:
        """The patterns with their worth for this target."""
        patterns = self._patterns
        if patterns is None:
            return trie_of_target(target, self.lengths, self._powers, count_nulls=self.count_nulls)
        return patterns.revalued(patterns.value * patterns.counts(patterns.symbols(target), self._powers))

    @cached_property
    def _patterns(self) -> PatternTrie | None:
        return None if self.weights is None else trie_of_patterns({p: self.weight(p) for p in self.weights})

    @cached_property
    def _counted(self) -> FloatArray:
        """1 for each length that counts, 0 for each that does not."""
        counted = np.zeros(max(self.lengths) + 1)
        counted[list(self.lengths)] = 1.0
        return counted

    @cached_property
    def _powers(self) -> FloatArray:
        return np.array([self.discount**k for k in range(self.max_gap + 1)], dtype=np.float64)

    def _check(self) -> None:
        if self.weights is not None:
            check_weights(self.weights)
        if not self.lengths or self.lengths[0] < 1:
            raise InvalidInput(f"patterns have at least one token, got {list(self.lengths)}", field="lengths")
        if not 0.0 <= self.discount <= 1.0:
            raise InvalidInput(f"{self.discount} is not between 0 and 1", field="discount")
        if self.max_gap < 0:
            raise InvalidInput(f"{self.max_gap} is negative", field="max_gap")
        ending = sum(
            placements(length, gap)
            for length in self.lengths
            for gap in range(min(self.max_gap, PLACEMENT_BUDGET) + 1)
        )
        if ending > PLACEMENT_BUDGET:
            raise BudgetExceeded(
                "gap placements that end at one token",
                ending,
                PLACEMENT_BUDGET,
                "use a smaller max_gap or shorter patterns",
            )


def check_weights(weights: Mapping[Pattern, float]) -> None:
    """Patterns must have tokens, and weights must be finite numbers from 0 on."""
    if not weights:
        raise InvalidInput("at least one pattern is needed", field="patterns")
    for pattern, weight in weights.items():
        if not pattern:
            raise InvalidInput(
                "the empty pattern occurs nowhere and everywhere", advice="remove it", field="patterns"
            )
        if not 0.0 <= weight < float("inf"):
            raise InvalidInput(
                f"the weight {weight} of {' '.join(pattern)!r} is not a number from 0 on", field="patterns"
            )
    tokens = sum(len(pattern) for pattern in weights)
    if tokens > PATTERN_TOKEN_BUDGET:
        raise BudgetExceeded("tokens of all patterns", tokens, PATTERN_TOKEN_BUDGET, "give fewer patterns")
