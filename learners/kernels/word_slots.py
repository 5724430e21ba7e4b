"""The words of many experts laid out in slots, at once: `align_words`."""

from typing import NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.clock import STARTS_AND_ENDS, common_times
from galloon.learners.kernels.slot_search import distinct_sequences, fill_slots, find_word_slots
from galloon.learners.kernels.split_glued import split_glued


class AlignmentCosts(NamedTuple):
    """Costs and limits of an alignment, whole numbers: see `alignment.settings`."""

    gap: int
    like: int
    unlike: int
    time: int
    exact_steps: int
    passes: int
    band: int
    effort: int
    anchors_needed: int
    likeness_percent: int
    glued_words: int


@njit(cache=True, nogil=True)
def align_words(said, letters, alphabet_size, costs):
    """`distinct_sequences`, `common_times`, `find_word_slots`, `fill_slots` and `split_glued`, each where needed.

    said: numbers and expert_starts (see `distinct_sequences`), confidences (see `fill_slots`), times and given
    (see `common_times`; no rows at all where nobody has times). letters: codes and starts of the vocabulary.
    costs: the fields of `AlignmentCosts` as a plain tuple. Returns tokens and confidences, slots x experts; the
    pieces of tokens to be cut; and the effort needed: if that is more than allowed nothing was aligned.
    """
    numbers, expert_starts, confidences, times, given = said
    codes, letter_starts = letters
    cost = AlignmentCosts(*costs)
    tokens, starts, weights, owners = distinct_sequences(numbers, expert_starts)
    needed = 0.0
    if weights.shape[0] < 2:
        positions = np.empty((starts[-1], 1), dtype=np.int32)
        for slot in range(positions.shape[0]):
            positions[slot, 0] = slot
    else:
        if times.shape[0] > 0:
            times = common_times(tokens, starts, owners, times, expert_starts, given, cost.anchors_needed)
        positions, needed = find_word_slots(
            tokens,
            starts,
            weights,
            codes,
            letter_starts,
            alphabet_size,
            cost.gap,
            np.array([cost.like, cost.unlike]),
            times,
            cost.time,
            cost.exact_steps,
            cost.passes,
            cost.band,
            cost.effort,
        )
    offers, trust = fill_slots(positions, tokens, starts, owners, confidences, expert_starts)
    pieces = np.empty((0, 5), dtype=np.int64)
    if cost.glued_words > 1 and _any_null(offers):
        pieces = split_glued(offers, codes, letter_starts, cost.likeness_percent, cost.glued_words)
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
    align_words(said, letters, 2, (1, 0, 2, 1, 64, 1, 1, 1 << 20, 3, 75, 8))
