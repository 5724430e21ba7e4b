"""The times of tokens, by each engine's own clock: `times_given`.

Speech engines report seconds of the same recording; image engines pixels, perhaps of a scaled copy. One
engine's clock is taken as the reference; another's is used if it agrees with it on the words that both have,
as it is or after fitting a line (`learners.kernels.clock`), and is left out otherwise.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.search import UNTIMED
from galloon.learners.alignment.sequences import Outputs, times_of
from galloon.learners.kernels.clock import MIDDLES, NO_TIMES, STARTS_AND_ENDS
from galloon.learners.observation import ExpertOutput

NOBODY = np.zeros(0, dtype=np.int8)


def times_given(
    experts: Sequence[ExpertOutput], outputs: Outputs
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The times of all experts' tokens in a row, and how each expert gives them (see `common_times`).

    `UNTIMED` if nobody does.
    """
    kinds = [_given(expert) for expert in experts]
    if not any(kinds):
        return UNTIMED, NOBODY
    given = np.array(kinds, dtype=np.int8)
    if outputs.sequences is None:
        ends = [end for expert in experts for word in expert.words for end in (word.start, word.end)]
        return np.array(ends, dtype=np.float64).reshape(-1, 2), given
    parts = []
    for j, (expert, sequence) in enumerate(zip(experts, outputs.sequences, strict=True)):
        middles = times_of(expert, sequence) if given[j] else None
        given[j] = NO_TIMES if middles is None else MIDDLES
        parts.append(np.full((len(sequence.tokens), 2), np.nan) if middles is None else middles)
    return np.concatenate(parts), given


def _given(expert: ExpertOutput) -> int:
    return STARTS_AND_ENDS if expert.words and expert.words[0].start is not None else NO_TIMES
