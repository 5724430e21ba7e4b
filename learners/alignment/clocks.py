"""Times of different engines on one clock, where they can be compared at all: `times_together`.

Speech engines report seconds of the same recording; image engines pixels, perhaps of a scaled copy. One
engine's clock is taken as the reference; another's is used if it agrees with it on the words that both have,
as it is or after fitting a line (`learners.kernels.clock`), and is left out otherwise.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.search import UNTIMED
from galloon.learners.alignment.sequences import DistinctSequences, Outputs, times_of
from galloon.learners.kernels.clock import MIDDLES, NO_TIMES, STARTS_AND_ENDS, common_times
from galloon.learners.utterance import ExpertOutput

ANCHORS_NEEDED = 3  # words that two engines share, before a line is put through them


def times_together(
    experts: Sequence[ExpertOutput], outputs: Outputs, distinct: DistinctSequences
) -> NDArray[np.float64]:
    """Midpoint and half length of each token of the distinct sequences.

    NaN where nothing is known; `UNTIMED` if fewer than two sequences have times to compare.
    """
    kinds = [_given(expert) for expert in experts]
    if not any(kinds):
        return UNTIMED
    given = np.array(kinds, dtype=np.int8)
    if outputs.sequences is None:
        ends = [end for expert in experts for word in expert.words for end in (word.start, word.end)]
        times = np.array(ends, dtype=np.float64).reshape(-1, 2)
    else:
        parts = []
        for j, (expert, sequence) in enumerate(zip(experts, outputs.sequences, strict=True)):
            middles = times_of(expert, sequence) if given[j] else None
            given[j] = NO_TIMES if middles is None else MIDDLES
            parts.append(np.full((len(sequence.tokens), 2), np.nan) if middles is None else middles)
        times = np.concatenate(parts)
    found: NDArray[np.float64] = common_times(
        distinct.tokens,
        distinct.starts,
        distinct.owners,
        times,
        distinct.expert_starts,
        given,
        ANCHORS_NEEDED,
    )
    return found


def _given(expert: ExpertOutput) -> int:
    return STARTS_AND_ENDS if expert.words and expert.words[0].start is not None else NO_TIMES
