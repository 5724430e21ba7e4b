"""The language model of the offer model: counts of n-grams of words and of their letters, in one bounded table.

`LanguageModel.view` is what the kernels take; `read` counts a stretch of true tokens.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.bounded_table import BoundedTable
from galloon.learners.kernels.offer_model import read_text, rows_of_text
from galloon.learners.offer_model.characters import CLASSES
from galloon.learners.spelling import Spelling
from galloon.learners.unit import Unit

# Orders of the n-gram models, tokens looked at to the right, and the probability of an unseen token or letter.
# Words are sparse: a few thousand lines support trigrams and one word ahead. Characters support more.
WORD_ORDER, WORDS_AHEAD, UNKNOWN_WORD = 3, 1, 1 / 4096
CHARACTER_ORDER, CHARACTERS_AHEAD, UNKNOWN_CHARACTER = 6, 3, 1 / 64
LETTER_ORDER = 5


class LanguageModel:
    """Counts of what was read."""

    def __init__(self, unit: Unit, row_limit: int) -> None:
        self.table = BoundedTable(row_limit, {"counts": (2, np.uint32)})
        self._reading: tuple[int, int, float, int, float] = (
            (WORD_ORDER, WORDS_AHEAD, UNKNOWN_WORD, LETTER_ORDER, UNKNOWN_CHARACTER)
            if unit.whole_words
            else (CHARACTER_ORDER, CHARACTERS_AHEAD, UNKNOWN_CHARACTER, 0, UNKNOWN_CHARACTER)
        )

    @property
    def view(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int, int, float, int, float]:
        """The fields of `Language`, as a plain tuple."""
        return self.table.keys, self.table.columns["counts"], *self._reading

    def read(self, letters: Spelling, tokens: NDArray[np.int32]) -> None:
        """Count these tokens, indices of the vocabulary that `letters` spells, as one text; null is skipped."""
        order, _, _, letter_order, _ = self._reading
        if self.table.may_grow:
            self.table.make_room(rows_of_text(letters.starts, tokens, order, letter_order))
        read_text(self.view, self.table.used, CLASSES, (letters.points, letters.starts), tokens)
