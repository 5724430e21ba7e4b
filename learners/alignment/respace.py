"""Glued words come apart where other experts have a blank: `respace`.

An engine that reads "wehad" where another reads "we had" disagrees about a blank, not about a letter. Left
alone, it would be counted against both words, and as silence in one of the two slots. So its letters are cut
at the others' blanks and it votes on the letters that it has read. Letters are never changed. The reverse,
joining words that one engine has torn apart, is left alone: it would take offers away from the slots.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.alignment.spelling import Spelling, spelled
from galloon.learners.alignment.vocabulary import renumbered, slot_tokens
from galloon.learners.kernels.respace import split_glued
from galloon.learners.utterance import NULL, SlotNetwork


def respace(
    network: SlotNetwork, settings: AlignmentSettings, spelling: Spelling | None = None
) -> SlotNetwork:
    """The network with glued tokens cut over the empty slots beside them, where their letters agree.

    `spelling` is that of the network's vocabulary, if the caller has it.
    """
    if not _could_be_glued(network.tokens):
        return network
    letters = spelling or spelled(network.vocabulary)
    pieces = split_glued(
        slot_tokens(network), letters.codes, letters.starts, settings.likeness_percent, settings.glued_words
    )
    if not len(pieces):
        return network

    tokens, confidences = network.tokens.copy(), network.confidences.copy()
    ids = dict(zip(network.vocabulary, range(len(network.vocabulary)), strict=True))
    # In the order of slots, so that new tokens are numbered as they are met.
    for slot, expert, origin, first, last in sorted(pieces.tolist()):
        part = network.vocabulary[network.tokens[origin, expert]][first:last]
        tokens[slot, expert] = ids.setdefault(part, len(ids))
        confidences[slot, expert] = network.confidences[origin, expert]
    return renumbered(network.experts, tuple(ids), tokens, confidences)


def _could_be_glued(tokens: NDArray[np.int32]) -> bool:
    """Whether any expert has an empty slot at all; where nobody has, there is nothing to cut into."""
    return tokens.shape[0] > 1 and tokens.shape[1] > 1 and bool((tokens == NULL).any())
