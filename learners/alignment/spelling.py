"""The characters of a vocabulary as small numbers, as the kernels take them: `spelled`."""

import numpy as np
from numpy.typing import NDArray


def spelled(vocabulary: tuple[str, ...]) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """The characters of all tokens one after the other, where each token starts, and the alphabet's size."""
    text = "".join(vocabulary)
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(character, len(numbers)) for character in text]
    starts = np.zeros(len(vocabulary) + 1, dtype=np.int64)
    np.cumsum([len(token) for token in vocabulary], out=starts[1:])
    return np.array(codes, dtype=np.int32), starts, len(numbers)
