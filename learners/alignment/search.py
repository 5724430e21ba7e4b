"""The search for the best slots: numbered sequences in, the place of every token out (`learners.kernels`).

`search_slots` takes the costs of all tokens as given, `search_word_slots` works them out from letters, for words
that need it. Both keep within the effort and the number of slots that the settings allow.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.costs import unlike_bounds
from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.alignment.spelling import Spelling
from galloon.learners.errors import BudgetExceeded
from galloon.learners.kernels.slot_search import find_slots, find_word_slots

UNTIMED = np.empty((0, 2))  # for tokens of which nobody knows when they were said


def search_slots(
    tokens: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: NDArray[np.int64],
    costs: NDArray[np.int32],
    settings: AlignmentSettings,
) -> NDArray[np.int32]:
    """For each slot and sequence the position of its token there, or -1.

    The sequences stand one after the other in `tokens`. The sum of pairs, weighted, is least or nearly so.
    """
    found, needed = find_slots(tokens, starts, weights, costs, UNTIMED, *_limits(settings))
    return _checked(found, needed, settings)


def search_word_slots(
    tokens: NDArray[np.int32],
    starts: NDArray[np.int64],
    weights: NDArray[np.int64],
    letters: Spelling,
    times: NDArray[np.float64],
    settings: AlignmentSettings,
) -> NDArray[np.int32]:
    """The same for words, numbers of the vocabulary that `letters` spells; `times` (midpoint and half length of
    each token, NaN if unknown) may be `UNTIMED`.
    """
    found, needed = find_word_slots(
        tokens,
        starts,
        weights,
        letters.codes,
        letters.starts,
        letters.alphabet_size,
        settings.gap_cost,
        unlike_bounds(settings),
        times,
        *_limits(settings),
    )
    return _checked(found, needed, settings)


def _limits(settings: AlignmentSettings) -> tuple[int, int, int, int, int]:
    passes = settings.refinement_passes
    return settings.time_cost, settings.exact_steps, passes, settings.band, settings.effort


def _checked(found: NDArray[np.int32], needed: float, settings: AlignmentSettings) -> NDArray[np.int32]:
    if needed > settings.effort:
        advice = "cut the utterance into shorter ones or leave some engines out"
        raise BudgetExceeded("alignment effort", needed, settings.effort, advice)
    if len(found) > settings.slot_limit:
        raise BudgetExceeded("slots", len(found), settings.slot_limit, "cut the utterance into shorter ones")
    return found
