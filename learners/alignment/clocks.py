"""Times of different engines on one clock, where they can be compared at all: `common_times`.

Speech engines report seconds of the same recording; image engines pixels, perhaps of a scaled copy. One
engine's clock is taken as the reference; another's is used if it agrees with it on the words that both have,
as it is or after fitting a line (`learners.kernels.clock`), and is left out otherwise.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.sequences import Outputs, times_of
from galloon.learners.kernels.clock import fit_clock
from galloon.learners.utterance import ExpertOutput

ANCHORS_NEEDED = 3  # words that two engines share, before a line is put through them


def common_times(
    experts: Sequence[ExpertOutput], outputs: Outputs, distinct: Sequence[tuple[int, ...]]
) -> list[NDArray[np.float64]] | None:
    """Midpoint and half length of each token of the distinct sequences.

    NaN where nothing is known; None if fewer than two sequences have times to compare.
    """
    timed: list[tuple[tuple[int, ...], NDArray[np.float64]]] = []
    for expert, sequence, numbers in zip(experts, outputs.sequences, outputs.numbered, strict=True):
        if numbers and expert.words[0].start is not None:
            times = times_of(expert, sequence)
            if times is not None:
                timed.append((numbers, times))
    if len({numbers for numbers, _ in timed}) < 2:
        return None
    # In the order of content, so that neither the reference nor a choice between equals depends on who came
    # first. The longest sequence has the most words to be compared with.
    timed.sort(key=lambda pair: (-len(pair[0]), pair[0], pair[1].tobytes()))

    reference, reference_times = timed[0]
    reference_tokens = np.array(reference, dtype=np.int32)
    found: dict[tuple[int, ...], NDArray[np.float64]] = {reference: reference_times}
    for numbers, times in timed[1:]:
        if numbers in found:
            continue
        slope, offset, fits = fit_clock(
            np.array(numbers, dtype=np.int32), times, reference_tokens, reference_times, ANCHORS_NEEDED
        )
        if fits:
            found[numbers] = times * (slope, slope) + (offset, 0.0)
    if len(found) < 2:
        return None
    return [found.get(n, np.full((len(n), 2), np.nan)) for n in distinct]
