"""The characters of a vocabulary as numbers, as the kernels take them: `spelled`."""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_SMALL_ALPHABET = 1 << 14  # the kernels keep a table of this size; most scripts have lower code points


@dataclass(frozen=True, slots=True)
class Spelling:
    """`codes[starts[v]:starts[v + 1]]` are the characters of token v, each below `alphabet_size`.

    `points` are their code points, which are the codes themselves unless those would need too large a table.
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    alphabet_size: int
    points: NDArray[np.int32]


def spelled(vocabulary: tuple[str, ...]) -> Spelling:
    """The characters of all tokens, one after the other."""
    text = "".join(vocabulary)
    # Lone surrogates, which come out of broken files, are characters like others here.
    data = text.encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(data, dtype=np.int32).copy()  # writable, as the kernels were compiled for
    starts = np.array([0, *accumulate(map(len, vocabulary))], dtype=np.int64)
    alphabet_size = 128 if text.isascii() else int(points.max()) + 1
    if alphabet_size > _SMALL_ALPHABET:
        different, inverse = np.unique(points, return_inverse=True)
        return Spelling(inverse.astype(np.int32), starts, int(different.size), points)
    return Spelling(points, starts, alphabet_size, points)
