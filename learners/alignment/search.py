"""The search for the best slots: numbered sequences in, the place of every token out (`learners.kernels`).

`search_slots` takes the costs of all tokens as given, `search_word_slots` works them out from letters, for words
that need it, and lays the words out. Both keep within the effort and the number of slots that the settings allow.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.errors import BudgetExceeded
from galloon.learners.kernels.slot_search import find_slots
from galloon.learners.kernels.word_slots import align_words
from galloon.learners.spelling import Spelling

UNTIMED = np.empty((0, 2))  # tokens without times


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
    limits = settings.exact_steps, settings.refinement_passes, settings.band, settings.effort
    found, needed = find_slots(tokens, starts, weights, costs, UNTIMED, settings.time_cost, *limits)
    _check(len(found), needed, settings)
    return np.asarray(found)


def search_word_slots(
    said: tuple[
        NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int8]
    ],
    letters: Spelling,
    settings: AlignmentSettings,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Tokens and confidences, slots x experts, and the pieces of tokens to be cut (see `split_glued`).

    `said`: numbers of the words of the vocabulary that `letters` spells, where each expert's begin, confidences,
    times, and how they are given, as `align_words` takes them.
    """
    tokens, confidences, pieces, needed = align_words(
        said, (letters.codes, letters.starts), letters.alphabet_size, settings.costs
    )
    _check(len(tokens), needed, settings)
    return tokens, confidences, pieces


def _check(slots: int, needed: float, settings: AlignmentSettings) -> None:
    if needed > settings.effort:
        advice = "cut the utterance into shorter ones or leave some engines out"
        raise BudgetExceeded("alignment effort", needed, settings.effort, advice)
    if slots > settings.slot_limit:
        raise BudgetExceeded("slots", slots, settings.slot_limit, "cut the utterance into shorter ones")
