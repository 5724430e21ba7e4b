"""The slots that a decision was made on, read back from the decision itself.

A decision names, for every slot, the chosen token, and every other token on offer with those who offered it; all
other experts offered the chosen one. So `offered` needs nothing but the answer, and costs the stream nothing.
"""

from collections.abc import Sequence

import numpy as np

from galloon.learners.combiners.contract import ChosenToken
from galloon.learners.observation import SlotNetwork


def offered(tokens: Sequence[ChosenToken], experts: Sequence[str]) -> SlotNetwork:
    """What each of these experts offered in each slot."""
    column = {name: number for number, name in enumerate(experts)}
    vocabulary = {"": 0}
    rows = np.empty((len(tokens), len(experts)), dtype=np.int32)
    for row, token in zip(rows, tokens, strict=True):
        row[:] = vocabulary.setdefault(token.text, len(vocabulary))
        for alternative in token.alternatives:
            number = vocabulary.setdefault(alternative.text, len(vocabulary))
            for name in alternative.experts:
                if name in column:
                    row[column[name]] = number
    return SlotNetwork(tuple(experts), tuple(vocabulary), rows, np.full(rows.shape, np.nan))
