"""The trie of the patterns that have a value for a target; the compiled gains walk it.

`trie_of_target` holds every pattern of the target (n-gram gains: the patterns are whatever occurs);
`trie_of_patterns` is made once from given patterns and revalued for each target. Tokens become small local
numbers first; a token that no pattern contains is 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from galloon.learners.gains.occurrences import Pattern
from galloon.learners.kernels import gains as kernel
from galloon.learners.paths.protocol import FloatArray, IntArray

UNKNOWN = 0
NULL_TOKEN = ""


@dataclass(frozen=True, slots=True)
class PatternTrie:
    """Patterns, backwards, with the worth of one undiscounted occurrence of each (see `kernels.gains`)."""

    numbers: Mapping[str, int]
    symbol_count: int
    keys: NDArray[np.int64]
    children: IntArray
    depth: IntArray
    leaf: NDArray[np.bool_]
    value: FloatArray

    def symbols(self, tokens: Iterable[str]) -> IntArray:
        """Tokens as local numbers."""
        numbers = self.numbers
        return np.array([numbers.get(token, UNKNOWN) for token in tokens], dtype=np.int32)

    def ensemble_gains(
        self, offers: IntArray, shortest: int, span: int, powers: FloatArray, transitions: int
    ) -> FloatArray:
        """The gains of the transitions of an ensemble's A'; offers are the symbols by slot and expert."""
        gains = np.empty(transitions)
        kernel.ensemble_gains(offers, shortest, span, *self._walked, self.value, powers, gains)
        return gains

    def window_gains(self, windows: IntArray, offers: IntArray, powers: FloatArray) -> FloatArray:
        """The gains of transitions given by their windows; offers are the symbols by transition of A."""
        gains = np.empty(windows.shape[0])
        kernel.window_gains(windows, offers, *self._walked, self.value, powers, gains)
        return gains

    def sequence_gains(self, tokens: IntArray, powers: FloatArray) -> FloatArray:
        """The worth of the occurrences that end at each token of a sequence."""
        gains = np.empty(tokens.size)
        kernel.sequence_gains(tokens, *self._walked, self.value, powers, gains)
        return gains

    def counts(self, tokens: IntArray, powers: FloatArray) -> FloatArray:
        """The discounted count of each node's pattern in a sequence."""
        counts = np.zeros(self.depth.size)
        kernel.count_patterns(tokens, *self._walked, powers, counts)
        return counts

    def revalued(self, value: FloatArray) -> "PatternTrie":
        """The same patterns with other values."""
        return replace(self, value=value)

    @property
    def _walked(self) -> tuple[int, NDArray[np.int64], IntArray, IntArray, NDArray[np.bool_]]:
        return self.symbol_count, self.keys, self.children, self.depth, self.leaf


def trie_of_target(
    target: Sequence[str], lengths: Sequence[int], powers: FloatArray, *, count_nulls: bool
) -> PatternTrie:
    """Every pattern of these lengths in the target, worth its discounted count there."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys(target), start=1)}
    sequence = np.array([numbers[token] for token in target], dtype=np.int32)
    null = numbers.get(NULL_TOKEN, -1)
    trie = trie_of_numbers(sequence, len(numbers) + 1, lengths, powers, null, count_nulls=count_nulls)
    return replace(trie, numbers=numbers)


def trie_of_numbers(
    sequence: IntArray,
    symbols: int,
    lengths: Sequence[int],
    powers: FloatArray,
    null: int,
    *,
    count_nulls: bool,
) -> PatternTrie:
    """The same for a target of numbers from 1 on, below `symbols`."""
    deepest = max(lengths)
    keys, children, depth, counts, silent = kernel.grow_trie(sequence, symbols, deepest, powers, null)
    counts_at = np.zeros(deepest + 1)
    counts_at[list(lengths)] = 1.0
    counts *= counts_at[depth]
    if not count_nulls:
        counts[silent] = 0.0
    return PatternTrie({}, symbols, keys, children, depth, depth == deepest, counts)


def trie_of_patterns(weights: Mapping[Pattern, float]) -> PatternTrie:
    """Given patterns, worth their weights."""
    tokens = dict.fromkeys(token for pattern in weights for token in pattern)
    numbers = {token: number for number, token in enumerate(tokens, start=1)}
    symbols = len(numbers) + 1
    edges: dict[int, int] = {}
    depth, value, leaf = [0], [0.0], [False]
    for pattern, weight in weights.items():
        node = 0
        for token in reversed(pattern):
            key = node * symbols + numbers[token]
            leaf[node] = False
            if key not in edges:
                edges[key] = len(depth)
                depth.append(depth[node] + 1)
                value.append(0.0)
                leaf.append(True)
            node = edges[key]
        value[node] = weight
    size = 1 << (2 * len(edges)).bit_length()
    keys = np.full(size, kernel.FREE, dtype=np.int64)
    children = np.zeros(size, dtype=np.int32)
    kernel.fill_table(
        np.fromiter(edges.keys(), np.int64, len(edges)),
        np.fromiter(edges.values(), np.int32, len(edges)),
        keys,
        children,
    )
    return PatternTrie(
        numbers,
        symbols,
        keys,
        children,
        np.array(depth, dtype=np.int32),
        np.array(leaf),
        np.array(value, dtype=np.float64),
    )
