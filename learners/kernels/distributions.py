"""An engine that offers a distribution, as one with a lattice does, is heard by what it says in expectation.

`expected_events` gives, for each candidate of each slot, how much more or less probable the offer of every engine
with a distribution is than its one token alone was: sum over w of p(w) log P(says w | candidate), less
log P(says its token | candidate). One token with all of the probability changes nothing.

Letters: m slots, r engines; logs float64 r x 5, of the events of `kernels.agreement`; relations int8 m x c x r. A
distribution is rows of (slot, engine, token, probability), slots ascending; what is left of an engine's
probability in a slot is that of words which nobody offers.
"""

import numpy as np
from numba import njit

RIGHT, SUBSTITUTED, MISSED, SILENT, INSERTED, AWAY = 0, 1, 2, 3, 4, 5  # as in `kernels.agreement`


@njit(cache=True, nogil=True)
def expected_events(tokens, candidates, counts, relations, logs, heard):
    """float64 m x r: what to add to the log score of each candidate."""
    slots, engines, words, probabilities = heard
    m, r = tokens.shape
    more = np.zeros((m, r))
    said = np.zeros(r)  # by the engines with a distribution in this slot: all of their probability
    nothing, own, this = np.empty(r), np.empty(r), np.empty(r)
    first = 0
    while first < slots.shape[0]:
        i, last = slots[first], first
        said[:], nothing[:], own[:] = 0.0, 0.0, 0.0
        while last < slots.shape[0] and slots[last] == i:
            j = engines[last]
            said[j] += probabilities[last]
            if words[last] == 0:
                nothing[j] += probabilities[last]
            if words[last] == tokens[i, j]:
                own[j] += probabilities[last]
            last += 1
        for c in range(counts[i]):
            word = candidates[i, c]
            this[:] = 0.0
            for row in range(first, last):
                if words[row] == word:
                    this[engines[row]] += probabilities[row]
            for j in range(r):
                event = relations[i, c, j]
                if said[j] <= 0.0 or event == AWAY:
                    continue
                whole = max(1.0, said[j])  # places of a token that come from several arcs may add up to more
                # Its own token counts as it did: an engine that cannot write a letter is still forgiven for it.
                mine = own[j] / whole
                found, rest = mine * logs[j, event], 1.0 - mine
                if tokens[i, j] != word and word != 0:
                    found += this[j] / whole * logs[j, RIGHT]
                    rest -= this[j] / whole
                if tokens[i, j] != 0:
                    found += nothing[j] / whole * logs[j, MISSED if word != 0 else SILENT]
                    rest -= nothing[j] / whole
                other = SUBSTITUTED if word != 0 else INSERTED
                more[i, c] += found + max(0.0, rest) * logs[j, other] - logs[j, event]
        first = last
    return more


def warm_up() -> None:
    rows, tokens = np.zeros(1, np.int32), np.array([[1, 2]], dtype=np.int32)
    relations = np.array([[[RIGHT, SUBSTITUTED], [SUBSTITUTED, RIGHT]]], dtype=np.int8)
    expected_events(
        tokens, tokens, np.array([2]), relations, np.zeros((2, 5)), (rows, rows, rows, np.ones(1))
    )
