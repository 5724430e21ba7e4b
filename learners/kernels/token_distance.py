"""How unlike two tokens are: whole-number costs from the edit distance of their characters.

`token_costs` fills the matrix of all pairs of a small vocabulary, `cross_costs` that of one vocabulary against
another, `costs_against` that of some tokens against some others, by bit-parallel edit distances (Myers 1999,
Hyyrö 2003): one machine word holds a column of the dynamic programme, so a pair costs a few operations a
character. Whole numbers keep sums exact, so ties are ties whatever the order of addition.

Letters: `codes` int32, the characters of all tokens one after the other, numbered below `alphabet_size`;
`starts` int64, token v is codes[starts[v]:starts[v+1]]; token 0 is null and empty. `gap`: the cost of a token
against null. `unlike`: lowest and highest cost of two different tokens; the edit distance over the longer
length leads from one to the other. Of a longer token only the first 64 characters are looked at: that bounds
the time that a hostile token can take, and words are shorter.
"""

import numpy as np
from numba import njit

WORD_BITS = 64


@njit(cache=True, nogil=True)
def token_costs(codes, starts, alphabet_size, gap, unlike, wanted):
    """The cost of every pair of wanted (bool) tokens facing each other: int32, symmetric, zero on the diagonal.

    That of null is known for all; what else nobody wants is left at 0.
    """
    size = starts.shape[0] - 1
    costs = np.zeros((size, size), dtype=np.int32)
    places = np.zeros(alphabet_size, dtype=np.uint64)
    costs[0, 1:] = gap
    costs[1:, 0] = gap
    for a in range(1, size):
        if not wanted[a]:
            continue
        _mark(places, codes, starts, a)
        for b in range(a + 1, size):
            if wanted[b]:
                costs[a, b] = _cost(places, codes, starts, a, b, unlike)
                costs[b, a] = costs[a, b]
        _unmark(places, codes, starts, a)
    return costs


@njit(cache=True, nogil=True)
def cross_costs(codes, starts, alphabet_size, gap, unlike, rows):
    """The cost of each of the first `rows` tokens, null among them, against each of the others: rows x others.

    Equal tokens on both sides cost nothing; the others hold no null.
    """
    wanted = np.ones(rows, dtype=np.bool_)
    others = np.arange(rows, starts.shape[0] - 1).astype(np.int32)
    return costs_against(codes, starts, alphabet_size, gap, unlike, wanted, others)


@njit(cache=True, nogil=True)
def costs_against(codes, starts, alphabet_size, gap, unlike, wanted, others):
    """The cost of each wanted token (bool, of the first tokens), and of null, against these others (int32)."""
    rows, columns = wanted.shape[0], others.shape[0]
    costs = np.zeros((rows, columns), dtype=np.int32)
    places = np.zeros(alphabet_size, dtype=np.uint64)
    costs[0, :] = gap
    for column in range(columns):
        b = others[column]
        _mark(places, codes, starts, b)
        for a in range(1, rows):
            if wanted[a] and a != b:
                cost = _cost(places, codes, starts, b, a, unlike)
                costs[a, column] = 0 if cost == unlike[0] and _same(codes, starts, a, b) else cost
        _unmark(places, codes, starts, b)
    return costs


@njit(cache=True, nogil=True)
def _cost(places, codes, starts, a, b, unlike):
    """The cost of a, whose characters are marked, against b."""
    length, other = min(starts[a + 1] - starts[a], WORD_BITS), min(starts[b + 1] - starts[b], WORD_BITS)
    longest = max(length, other)
    edits = _edits(places, length, codes, starts[b], starts[b] + other)
    # Rounded half up; longest is positive, for only null is empty.
    return unlike[0] + (2 * (unlike[1] - unlike[0]) * edits + longest) // (2 * longest)


@njit(cache=True, nogil=True)
def _mark(places, codes, starts, a):
    """Sets for each character of a token the bits of its places."""
    for i in range(starts[a], min(starts[a + 1], starts[a] + WORD_BITS)):
        places[codes[i]] |= np.uint64(1) << np.uint64(i - starts[a])


@njit(cache=True, nogil=True)
def _unmark(places, codes, starts, a):
    for i in range(starts[a], min(starts[a + 1], starts[a] + WORD_BITS)):
        places[codes[i]] = np.uint64(0)


@njit(cache=True, nogil=True)
def _same(codes, starts, a, b):
    if starts[a + 1] - starts[a] != starts[b + 1] - starts[b]:
        return False
    for i in range(starts[a + 1] - starts[a]):
        if codes[starts[a] + i] != codes[starts[b] + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _edits(places, length, codes, start, end):
    """Edit distance of the token whose characters' places are given and codes[start:end]."""
    one = np.uint64(1)
    rising = ~np.uint64(0)  # bit i: the next row is one more than row i
    falling = np.uint64(0)
    top = one << np.uint64(length - 1)
    distance = length
    for j in range(start, end):
        equal = places[codes[j]]
        x = equal | falling
        diagonal = (((equal & rising) + rising) ^ rising) | x
        right_up = falling | ~(diagonal | rising)
        right_down = rising & diagonal
        if right_up & top:
            distance += 1
        elif right_down & top:
            distance -= 1
        right_up = (right_up << one) | one
        right_down = right_down << one
        rising = right_down | ~(diagonal | right_up)
        falling = right_up & diagonal
    return distance


def warm_up() -> None:
    codes = np.zeros(70, dtype=np.int32)
    starts, unlike = np.array([0, 0, 1, 70], dtype=np.int64), np.array([0, 2], dtype=np.int64)
    token_costs(codes, starts, 1, 1, unlike, np.ones(3, dtype=np.bool_))
    cross_costs(codes, starts, 1, 1, unlike, 2)
