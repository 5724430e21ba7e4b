"""The characters of a vocabulary as numbers, as the kernels take them: `spelled`."""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

_SMALL_ALPHABET = 1 << 14  # the kernels keep a table of this size; most scripts have lower code points


@dataclass(frozen=True, slots=True)
class Spelling:
    """`codes[starts[v]:starts[v + 1]]` are the characters of token v, each below `alphabet_size`."""

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    alphabet_size: int


def spelled(vocabulary: tuple[str, ...]) -> Spelling:
    """The characters of all tokens, one after the other."""
    # Lone surrogates, which come out of broken files, are characters like others here.
    text = "".join(vocabulary)
    data = text.encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype=np.int32).copy()  # writable, as the kernels were compiled for
    starts = np.array([0, *accumulate(map(len, vocabulary))], dtype=np.int64)
    if text.isascii():
        return Spelling(codes, starts, 128)
    alphabet_size = int(codes.max()) + 1
    if alphabet_size > _SMALL_ALPHABET:
        different, inverse = np.unique(codes, return_inverse=True)
        codes, alphabet_size = inverse.astype(np.int32), int(different.size)
    return Spelling(codes, starts, alphabet_size)
