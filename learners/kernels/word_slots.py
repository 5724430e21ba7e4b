"""The words of many experts laid out in slots, at once: `align_words`."""

import numpy as np
from numba import njit

from galloon.learners.kernels.clock import STARTS_AND_ENDS, common_times
from galloon.learners.kernels.slot_search import distinct_sequences, fill_slots, find_word_slots
from galloon.learners.kernels.split_glued import split_glued


@njit(cache=True, nogil=True)
def align_words(said, letters, alphabet_size, limits):
    """`distinct_sequences`, `common_times`, `find_word_slots`, `fill_slots` and `split_glued`, each where needed.

    said: numbers and expert_starts (see `distinct_sequences`), confidences (see `fill_slots`), times and given
    (see `common_times`; no rows at all where nobody has times). letters: codes and starts of the vocabulary.
    limits: int64, gap, like and unlike cost, time_cost, exact_steps, passes, band, effort, anchors_needed,
    likeness_percent, glued_words. Returns tokens and confidences, slots x experts; the pieces of tokens to be cut;
    and the effort needed: if that is more than allowed nothing was aligned.
    """
    numbers, expert_starts, confidences, times, given = said
    codes, letter_starts = letters
    gap, unlike, time_cost, anchors_needed = limits[0], limits[1:3], limits[3], limits[8]
    exact_steps, passes, band, effort = limits[4], limits[5], limits[6], limits[7]
    likeness_percent, glued_words = limits[9], limits[10]
    tokens, starts, weights, owners = distinct_sequences(numbers, expert_starts)
    needed = 0.0
    if weights.shape[0] < 2:
        positions = np.empty((starts[-1], 1), dtype=np.int32)
        for slot in range(positions.shape[0]):
            positions[slot, 0] = slot
    else:
        if times.shape[0] > 0:
            times = common_times(tokens, starts, owners, times, expert_starts, given, anchors_needed)
        positions, needed = find_word_slots(
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
        )
    offers, trust = fill_slots(positions, tokens, starts, owners, confidences, expert_starts)
    pieces = np.empty((0, 5), dtype=np.int64)
    if glued_words > 1 and _any_null(offers):
        pieces = split_glued(offers, codes, letter_starts, likeness_percent, glued_words)
    return offers, trust, pieces, needed


@njit(cache=True, nogil=True)
def _any_null(tokens):
    """Whether any expert has an empty slot at all; where nobody has, there is nothing to cut into."""
    for token in tokens.flat:
        if token == 0:
            return True
    return False


def warm_up() -> None:
    starts = np.array([0, 2, 3], dtype=np.int64)
    given = np.full(2, STARTS_AND_ENDS, dtype=np.int8)
    said = (np.array([1, 2, 3], dtype=np.int32), starts, np.zeros(3), np.zeros((3, 2)), given)
    letters = (np.array([0, 1, 0, 1], dtype=np.int32), np.array([0, 0, 1, 2, 4], dtype=np.int64))
    align_words(said, letters, 2, np.array([1, 0, 2, 1, 64, 1, 1, 1 << 20, 3, 75, 8], dtype=np.int64))
