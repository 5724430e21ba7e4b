"""The class of every character, as the kernels need it: `CLASSES`."""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.offer_features import (
    ASCII_LETTER,
    CLASSED_CODES,
    DIGIT,
    FIRST_MARK,
    ODD_CHARACTER,
    OTHER_LETTER,
)

MARKS = ".,;:'\"!?-"  # what stands in ordinary text beside letters and digits
CLASS_NAMES = ("", "a", "á", "9", *MARKS, "#")


def _class_of(character: str) -> int:
    if character.isalpha():
        return ASCII_LETTER if character.isascii() else OTHER_LETTER
    if character.isdigit():
        return DIGIT
    return FIRST_MARK + MARKS.index(character) if character in MARKS else ODD_CHARACTER


CLASSES: NDArray[np.uint8] = np.array([_class_of(chr(c)) for c in range(CLASSED_CODES)], dtype=np.uint8)
