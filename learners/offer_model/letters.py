"""The code points of a vocabulary and a hash of each token: `letters_of`.

Code points and not the alignment's codes, for they must mean the same in every utterance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.language import hash_tokens
from galloon.learners.spelling import spelled


@dataclass(frozen=True, slots=True)
class Letters:
    """`codes[starts[v]:starts[v + 1]]` are the characters of token v, `hashes[v]` stands for it."""

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    hashes: NDArray[np.uint64]


def letters_of(vocabulary: tuple[str, ...]) -> Letters:
    spelling = spelled(vocabulary)
    return Letters(spelling.points, spelling.starts, hash_tokens(spelling.points, spelling.starts))
