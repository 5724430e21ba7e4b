"""Occurrences of patterns in a sequence, by the definition: every choice of positions is looked at.

`discounted_counts` is the vector Theta(y) of the paper; `gap_placements` and `occurrence_bound` say how large
it can get, in closed form. The compiled counts are tested against these.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb

Pattern = tuple[str, ...]


def gappy_occurrences(
    sequence: Sequence[str], length: int, max_gap: int
) -> Iterator[tuple[Pattern, int, int]]:
    """Every occurrence of every pattern of this length: the pattern, its total gap, where it ends."""
    for first in range(len(sequence)):
        last = min(len(sequence), first + length + max_gap)
        for rest in combinations(range(first + 1, last), length - 1):
            positions = (first, *rest)
            gap = positions[-1] - first + 1 - length
            yield tuple(sequence[i] for i in positions), gap, positions[-1]


def discounted_counts(
    sequence: Sequence[str], lengths: Iterable[int], discount: float = 1.0, max_gap: int = 0
) -> Counter[Pattern]:
    """How often each pattern occurs, an occurrence with a total gap of k counting discount**k (0**0 = 1)."""
    counts: Counter[Pattern] = Counter()
    for length in lengths:
        for pattern, gap, _ in gappy_occurrences(sequence, length, max_gap):
            counts[pattern] += discount**gap  # type: ignore[assignment]  # a Counter of floats works as well
    return counts


def placements(length: int, gap: int) -> int:
    """How many ways a pattern of this length has to spread over `length + gap` tokens, both ends fixed."""
    return comb(gap + length - 2, gap) if length > 1 else int(gap == 0)


def gap_placements(length: int, discount: float, max_gap: int) -> float:
    """The discounted number of occurrences that can end at one token: equal tokens have them all."""
    return sum(placements(length, gap) * discount**gap for gap in range(max_gap + 1))


def occurrence_bound(sequence_length: int, length: int, discount: float, max_gap: int) -> float:
    """The largest discounted count that one pattern of this length can have, and all together too."""
    return sum(
        placements(length, gap) * discount**gap * max(0, sequence_length - length - gap + 1)
        for gap in range(max_gap + 1)
    )


def contiguous_bound(sequence_length: int, pattern: Pattern) -> int:
    """The largest count of this very pattern without gaps: it can recur after its shortest period only."""
    length = len(pattern)
    period = next(p for p in range(1, length + 1) if pattern[p:] == pattern[: length - p])
    return 0 if sequence_length < length else (sequence_length - length) // period + 1
