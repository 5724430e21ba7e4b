"""One token per slot by counting what supports it.

`weighted_vote` adds up whole-number weights, so that the order of addition cannot change a result.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weighted_vote(tokens, weights, preference, occupancy_first):
    """Returns (chosen, share): the token of each slot and its part of the slot's total weight.

    tokens: int32, slots x experts, 0 for null. weights: int64, slots x experts, not negative.
    preference: int64, one an expert: of equally supported tokens the one with the most preferred supporter
    wins, and of those the one with the smaller number. With occupancy_first the experts that offer a token,
    whichever, first stand together against those that offer null.
    """
    slots, r = tokens.shape
    chosen = np.zeros(slots, dtype=np.int32)
    share = np.zeros(slots, dtype=np.float64)
    for slot in range(slots):
        total, filled = np.int64(0), np.int64(0)
        for j in range(r):
            total += weights[slot, j]
            if tokens[slot, j] != 0:
                filled += weights[slot, j]
        occupied = False
        if occupancy_first:
            # Of as many for a word as for nothing the word is right far more often: silence is the commoner error.
            occupied = 2 * filled >= total and tokens[slot].max() > 0
            if not occupied:
                share[slot] = (total - filled) / total if total > 0 else 0.0
                continue
        best, best_support, best_favourite = -1, np.int64(-1), np.int64(-1)
        for i in range(r):
            candidate = tokens[slot, i]
            if occupied and candidate == 0:
                continue
            support, favourite = np.int64(0), np.int64(-1)
            for j in range(r):
                if tokens[slot, j] == candidate:
                    support += weights[slot, j]
                    favourite = max(favourite, preference[j])
            better = support > best_support
            if support == best_support:
                better = favourite > best_favourite
                if favourite == best_favourite:
                    better = candidate < best
            if better:
                best, best_support, best_favourite = candidate, support, favourite
        if best >= 0:
            chosen[slot] = best
            share[slot] = best_support / total if total > 0 else 0.0
    return chosen, share


@njit(cache=True, nogil=True)
def agreement(tokens):
    """For each expert the number of times that another expert offers the same word in a slot.

    Silence does not count: who says little would seem to agree with everybody who misses something.
    """
    slots, r = tokens.shape
    counts = np.zeros(r, dtype=np.int64)
    for slot in range(slots):
        for i in range(r):
            for j in range(i):
                if tokens[slot, i] == tokens[slot, j] and tokens[slot, i] != 0:
                    counts[i] += 1
                    counts[j] += 1
    return counts


@njit(cache=True, nogil=True)
def with_votes(tokens, occupancy_first, last):
    """All columns of the tokens, a column for each plain vote, then the last: slots x all of them.

    In a plain vote all weigh the same and ties go to whoever agrees most; occupancy_first: bool, one a vote.
    """
    slots, experts = tokens.shape
    votes = occupancy_first.shape[0]
    result = np.empty((slots, experts + votes + 1), dtype=np.int32)
    result[:, :experts] = tokens
    result[:, experts + votes] = last
    weights = np.ones(tokens.shape, dtype=np.int64)
    preference = agreement(tokens)
    for v in range(votes):
        chosen, _ = weighted_vote(tokens, weights, preference, occupancy_first[v])
        result[:, experts + v] = chosen
    return result


def warm_up() -> None:
    tokens = np.array([[1, 0], [1, 1]], dtype=np.int32)
    weights = np.ones((2, 2), dtype=np.int64)
    weighted_vote(tokens, weights, agreement(tokens), True)
    with_votes(tokens, np.ones(1, dtype=np.bool_), np.zeros(2, dtype=np.int32))
