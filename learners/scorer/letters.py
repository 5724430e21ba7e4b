"""The code points of a vocabulary and a hash of each token: `letters_of`.

Unlike the alignment's spelling these are true code points, for they must mean the same in every utterance.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.language import hash_tokens


@dataclass(frozen=True, slots=True)
class Letters:
    """`codes[starts[v]:starts[v + 1]]` are the characters of token v, `hashes[v]` stands for it."""

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    hashes: NDArray[np.uint64]


def letters_of(vocabulary: tuple[str, ...]) -> Letters:
    # Lone surrogates, which come out of broken files, are characters like others here.
    data = "".join(vocabulary).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype=np.int32).copy()  # writable: kernels are compiled for such alone
    starts = np.array([0, *accumulate(map(len, vocabulary))], dtype=np.int64)
    return Letters(codes, starts, hash_tokens(codes, starts))
