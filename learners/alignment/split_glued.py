"""Glued words come apart where other experts have a blank: `split_glued`.

An engine that reads "wehad" where another reads "we had" disagrees about a blank, not about a letter. Left
alone, it would be counted against both words, and as silence in one of the two slots. So its letters are cut
at the others' blanks and it votes on the letters that it has read. Letters are never changed. The reverse,
joining words that one engine has torn apart, is left alone: it would take offers away from the slots.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.vocabulary import renumbered
from galloon.learners.alignment.written import cut_form
from galloon.learners.offers import Offers
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.written import WrittenForms


def split_glued(network: Offers, pieces: NDArray[np.int64], normalizer: Normalizer) -> Offers:
    """The network with glued tokens cut over the empty slots beside them, where their letters agree.

    `pieces` are those of `learners.kernels.split_glued`. The forms in which tokens were written are cut with them.
    """
    tokens, confidences = network.tokens.copy(), network.confidences.copy()
    ids = dict(zip(network.vocabulary, range(len(network.vocabulary)), strict=True))
    forms = {text: number for number, text in enumerate(network.written.texts)}
    numbers = network.written.numbers.copy()
    # In the order of slots, so that new tokens are numbered as they are met.
    for slot, expert, origin, first, last in sorted(pieces.tolist()):
        token = network.vocabulary[network.tokens[origin, expert]]
        part = token[first:last]
        tokens[slot, expert] = ids.setdefault(part, len(ids))
        confidences[slot, expert] = network.confidences[origin, expert]
        if network.written:
            form = network.written.numbers[origin, expert]
            cut = cut_form(network.written.texts[form], token, first, last, normalizer) if form > 0 else part
            numbers[slot, expert] = 0 if cut == part else forms.setdefault(cut, len(forms))
    written = WrittenForms(tuple(forms), numbers)
    return renumbered(network.experts, tuple(ids), tokens, confidences, written)
