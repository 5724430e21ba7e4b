"""Glued words come apart where other experts have a blank: `split_glued`.

An engine that reads "wehad" where another reads "we had" disagrees about a blank, not about a letter. Left
alone, it would be counted against both words, and as silence in one of the two slots. So its letters are cut
at the others' blanks and it votes on the letters that it has read. Letters are never changed. The reverse,
joining words that one engine has torn apart, is left alone: it would take offers away from the slots.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.vocabulary import renumbered
from galloon.learners.offers import Offers


def split_glued(network: Offers, pieces: NDArray[np.int64]) -> Offers:
    """The network with glued tokens cut over the empty slots beside them, where their letters agree.

    `pieces` are those of `learners.kernels.split_glued`.
    """
    tokens, confidences = network.tokens.copy(), network.confidences.copy()
    ids = dict(zip(network.vocabulary, range(len(network.vocabulary)), strict=True))
    # In the order of slots, so that new tokens are numbered as they are met.
    for slot, expert, origin, first, last in sorted(pieces.tolist()):
        part = network.vocabulary[network.tokens[origin, expert]][first:last]
        tokens[slot, expert] = ids.setdefault(part, len(ids))
        confidences[slot, expert] = network.confidences[origin, expert]
    return renumbered(network.experts, tuple(ids), tokens, confidences)
