"""Numbered sequences in, the place of every token in common slots out; then everybody's tokens in these slots.

`distinct_sequences` puts experts together that said the same. `find_slots` sets aside what all sequences share at
both ends, and aligns what is left exactly where that is affordable, else by refined profiles. `find_word_slots`
does the same for words, and works out what they cost against each other only for those that are left. `fill_slots`
lays out what each expert said.

Letters are those of `exact_alignment`; `times` float64 are midpoint and half length of each token, or none at
all. `exact_steps`, `passes`, `band` and `effort` are those of the alignment's settings.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.exact_alignment import exact_alignment, timed_costs
from galloon.learners.kernels.profile_alignment import profile_alignment
from galloon.learners.kernels.token_distance import token_costs

ABSENT = -1
# A step of the exact programme is a set of sequences, held in 16 bits.
EXACT_SEQUENCES = 14
# Costs that depend on times are a table of all pairs of tokens, which must not grow too large.
TIMED_TOKENS = 2048


@njit(cache=True, nogil=True)
def distinct_sequences(numbers, expert_starts):
    """Returns (tokens, starts, weights, owners): the different sequences, in the order of their content, one after
    the other; how many experts have each; and the sequence of each expert.

    numbers: int32, the tokens of all experts in a row, those of expert j from expert_starts[j] on.
    """
    experts = expert_starts.shape[0] - 1
    order = np.empty(experts, dtype=np.int64)
    for j in range(experts):
        place = j
        while place > 0 and _compared(numbers, expert_starts, j, order[place - 1]) < 0:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j
    tokens = np.empty(expert_starts[experts], dtype=np.int32)
    starts = np.zeros(experts + 1, dtype=np.int64)
    weights = np.zeros(experts, dtype=np.int64)
    owners = np.empty(experts, dtype=np.int64)
    k = 0
    for place in range(experts):
        j = order[place]
        if place == 0 or _compared(numbers, expert_starts, j, order[place - 1]) != 0:
            k += 1
            starts[k] = starts[k - 1] + expert_starts[j + 1] - expert_starts[j]
            tokens[starts[k - 1] : starts[k]] = numbers[expert_starts[j] : expert_starts[j + 1]]
        owners[j] = k - 1
        weights[k - 1] += 1
    return tokens[: starts[k]], starts[: k + 1], weights[:k], owners


@njit(cache=True, nogil=True)
def _compared(numbers, starts, a, b):
    """Below, at or above 0, as the first sequence comes before, is, or comes after the second."""
    lengths = starts[a + 1] - starts[a], starts[b + 1] - starts[b]
    for i in range(min(lengths[0], lengths[1])):
        apart = numbers[starts[a] + i] - numbers[starts[b] + i]
        if apart != 0:
            return np.int64(apart)
    return lengths[0] - lengths[1]


@njit(cache=True, nogil=True)
def find_slots(tokens, starts, weights, costs, times, time_cost, exact_steps, passes, band, effort):
    """Returns (positions, needed): for each slot and sequence the position of its token there, or -1.

    The sum of pairs, weighted, is least or nearly so. If `needed` is more than `effort` nothing was aligned.
    """
    head, tail = shared_ends(tokens, starts)
    return _search(
        tokens, starts, head, tail, weights, costs, times, time_cost, exact_steps, passes, band, effort
    )


@njit(cache=True, nogil=True)
def find_word_slots(
    tokens,
    starts,
    weights,
    codes,
    letter_starts,
    alphabet_size,
    gap,
    unlike,
    times,
    time_cost,
    exact_steps,
    passes,
    band,
    effort,
):
    """As `find_slots`; costs come from the words' letters, see `kernels.token_distance`."""
    head, tail = shared_ends(tokens, starts)
    wanted = np.zeros(letter_starts.shape[0] - 1, dtype=np.bool_)
    for i in range(weights.shape[0]):
        for place in range(starts[i] + head, starts[i + 1] - tail):
            wanted[tokens[place]] = True
    costs = token_costs(codes, letter_starts, alphabet_size, gap, unlike, wanted)
    return _search(
        tokens, starts, head, tail, weights, costs, times, time_cost, exact_steps, passes, band, effort
    )


@njit(cache=True, nogil=True)
def shared_ends(tokens, starts):
    """How many tokens all sequences have in common at the beginning, and of the rest at the end.

    Sequences that all begin (or end) alike have an optimal alignment with these tokens in common slots: moving
    them there makes no pair of sequences dearer.
    """
    k = starts.shape[0] - 1
    shortest = starts[1] - starts[0]
    for i in range(1, k):
        shortest = min(shortest, starts[i + 1] - starts[i])
    head = 0
    alike = True
    while alike and head < shortest:
        for i in range(1, k):
            alike &= tokens[starts[i] + head] == tokens[starts[0] + head]
        head += alike
    tail = 0
    alike = True
    while alike and tail < shortest - head:
        for i in range(1, k):
            alike &= tokens[starts[i + 1] - 1 - tail] == tokens[starts[1] - 1 - tail]
        tail += alike
    return head, tail


@njit(cache=True, nogil=True)
def _search(tokens, starts, head, tail, weights, costs, times, time_cost, exact_steps, passes, band, effort):
    k = weights.shape[0]
    inner_starts = np.zeros(k + 1, dtype=np.int64)
    longest = np.int64(0)
    steps = 2.0**k
    for i in range(k):
        length = starts[i + 1] - starts[i] - head - tail
        inner_starts[i + 1] = inner_starts[i] + length
        longest = max(longest, length)
        steps *= length + 1.0
    count = inner_starts[k]
    inner = np.empty(count, dtype=np.int32)
    for i in range(k):
        first = starts[i] + head
        inner[inner_starts[i] : inner_starts[i + 1]] = tokens[
            first : first + inner_starts[i + 1] - inner_starts[i]
        ]
    needed = 0.0
    found = np.empty((0, k), dtype=np.int32)
    if count > 0:
        if times.shape[0] > 0 and count <= TIMED_TOKENS:
            # Each token at its place becomes a token of its own, with its own costs.
            inner_times = np.empty((count, 2))
            for i in range(k):
                first = starts[i] + head
                length = inner_starts[i + 1] - inner_starts[i]
                inner_times[inner_starts[i] : inner_starts[i + 1]] = times[first : first + length]
            costs = timed_costs(inner, inner_times, costs, time_cost)
            inner = np.arange(1, count + 1).astype(np.int32)
        if k <= EXACT_SEQUENCES and steps <= exact_steps:
            found = exact_alignment(inner, inner_starts, weights, costs)
        else:
            needed, affordable, widest = _affordable(k, longest, passes, band, effort)
            if needed > effort:
                return found, needed
            found = profile_alignment(inner, inner_starts, weights, costs, affordable, band, widest)
    between = found.shape[0]
    positions = np.empty((head + between + tail, k), dtype=np.int32)
    for i in range(k):
        length = starts[i + 1] - starts[i]
        for slot in range(head):
            positions[slot, i] = slot
        for slot in range(between):
            place = found[slot, i]
            positions[head + slot, i] = place + head if place >= 0 else ABSENT
        for slot in range(tail):
            positions[head + between + slot, i] = length - tail + slot
    return positions, needed


@njit(cache=True, nogil=True)
def _affordable(count, longest, passes, band, effort):
    """The least effort for so many, so long sequences; how many passes of refinement, and how wide a band."""
    # Cells per column of the band: every pair once, then each joining, which looks at all others.
    joining = float(longest) * count * count
    narrow = 2 * band + 1
    least = narrow * (joining / 2 + joining)
    if least > effort:
        return least, 0, 0
    passes = min(passes, np.int64((effort - least) / (narrow * joining)))
    widest = np.int64(effort / (2 * joining * (1.5 + passes)))
    return least, passes, max(band, widest)


@njit(cache=True, nogil=True)
def fill_slots(positions, tokens, starts, owners, confidences, expert_starts):
    """Returns (tokens, confidences), slots x experts: 0 and NaN where an expert has nothing.

    owners: int64, the sequence of each expert; confidences: float64, of the experts' tokens one after the other,
    those of expert j from expert_starts[j] on.
    """
    slots, experts = positions.shape[0], owners.shape[0]
    offers = np.zeros((slots, experts), dtype=np.int32)
    trust = np.full((slots, experts), np.nan)
    for slot in range(slots):
        for j in range(experts):
            place = positions[slot, owners[j]]
            if place >= 0:
                offers[slot, j] = tokens[starts[owners[j]] + place]
                trust[slot, j] = confidences[expert_starts[j] + place]
    return offers, trust


def warm_up() -> None:
    tokens, starts = np.array([1, 2, 2, 1], dtype=np.int32), np.array([0, 2, 3, 4], dtype=np.int64)
    costs = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]], dtype=np.int32)
    weights, owners = np.ones(3, dtype=np.int64), np.arange(3)
    numbers = (1, 64, 1, 1, 1 << 20)
    distinct_sequences(tokens, starts)
    positions, _ = find_slots(tokens, starts, weights, costs, np.empty((0, 2)), *numbers)
    codes, letter_starts = np.array([1, 2], dtype=np.int32), np.array([0, 0, 1, 2], dtype=np.int64)
    letters = (codes, letter_starts, 3, 1, np.array([0, 2], dtype=np.int64))
    find_word_slots(tokens, starts, weights, *letters, np.zeros((4, 2)), *numbers)
    fill_slots(positions, tokens, starts, owners, np.zeros(4), starts[:-1].copy())
