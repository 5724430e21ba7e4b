"""Words that one expert has glued together, cut again where the others have their blanks.

`split_glued` looks at each token that has empty slots beside it, and compares its letters with those of what
the other experts say in these slots. No letter is lost, added, or moved past another.
"""

import numpy as np
from numba import njit

LONGEST_GLUED = 512  # characters; comparing takes the square of it


@njit(cache=True, nogil=True)
def split_glued(tokens, codes, starts, likeness_percent, longest):
    """Returns the pieces of all tokens that are cut, a row each: slot, expert, slot of the whole token, and the
    first and the last (exclusive) of its letters that fall into the slot.

    tokens: int32, slots x experts, 0 for null; codes and starts: the characters of each token of the
    vocabulary. A token is cut over at most `longest` slots, if at least likeness_percent of its letters agree with
    those of the most frequent tokens of the others there, and more than with the one in its own slot.
    """
    m, r = tokens.shape
    pieces = np.empty((m * r, 5), dtype=np.int64)
    count = 0
    others = np.zeros(m, dtype=np.int32)
    for j in range(r):
        free = 0  # the first slot that no earlier token of this expert has taken
        known = 0  # how far `others` is filled
        for i in range(m):
            if tokens[i, j] == 0:
                continue
            low = i
            while low > free and tokens[low - 1, j] == 0 and i - low + 1 < longest:
                low -= 1
            high = i + 1
            while high < m and tokens[high, j] == 0 and high - i < longest:
                high += 1
            free = i + 1
            if high - low < 2 or starts[tokens[i, j] + 1] - starts[tokens[i, j]] > LONGEST_GLUED:
                continue
            for slot in range(max(known, low), high):
                others[slot] = _most_frequent(tokens, slot, j)
            known = max(known, high)
            a, b = _best_window(tokens[i, j], i, low, high, others, codes, starts, likeness_percent, longest)
            if b - a < 2:
                continue
            cuts = _cuts(tokens[i, j], others[a:b], codes, starts)
            for slot in range(a, b):
                pieces[count, 0] = slot
                pieces[count, 1] = j
                pieces[count, 2] = i
                pieces[count, 3] = cuts[slot - a]
                pieces[count, 4] = cuts[slot - a + 1]
                count += 1
            free = b
    return pieces[:count]


@njit(cache=True, nogil=True)
def _most_frequent(tokens, slot, expert):
    """The token that most of the other experts have here, null aside; of equals the first by number."""
    best, best_count = 0, 0
    for i in range(tokens.shape[1]):
        token = tokens[slot, i]
        if i == expert or token == 0:
            continue
        count = 0
        for k in range(tokens.shape[1]):
            count += k != expert and tokens[slot, k] == token
        if count > best_count or (count == best_count and token < best):
            best, best_count = token, count
    return best


@njit(cache=True, nogil=True)
def _best_window(token, here, low, high, others, codes, starts, likeness_percent, longest):
    """The slots [a, b) around `here` whose joined letters are most like the token's; of equals the first."""
    own = starts[token + 1] - starts[token]
    # Compared as fractions: edits over the longer of the two lengths.
    best_edits, best_length = _edits(token, others[here : here + 1], codes, starts)
    best_from, best_to = here, here + 1
    for a in range(low, here + 1):
        joined = 0
        for b in range(a + 1, min(high, a + longest) + 1):
            if others[b - 1] == 0:
                break
            joined += starts[others[b - 1] + 1] - starts[others[b - 1]]
            if b <= here or b - a < 2:
                continue
            allowed = (100 - likeness_percent) * max(own, joined)
            if 100 * abs(own - joined) > allowed:
                continue
            edits, length = _edits(token, others[a:b], codes, starts)
            if 100 * edits <= allowed and edits * best_length < best_edits * length:
                cuts = _cuts(token, others[a:b], codes, starts)
                whole = True
                for k in range(b - a):
                    whole &= cuts[k] < cuts[k + 1]
                if whole:
                    best_edits, best_length, best_from, best_to = edits, length, a, b
    return best_from, best_to


@njit(cache=True, nogil=True)
def _edits(token, parts, codes, starts):
    """Edit distance of a token and joined others, and the longer length."""
    size = 0
    for part in parts:
        size += starts[part + 1] - starts[part]
    row = np.arange(size + 1)
    for i in range(starts[token], starts[token + 1]):
        corner = row[0]
        row[0] += 1
        k = 0
        for part in parts:
            for j in range(starts[part], starts[part + 1]):
                k += 1
                best = min(row[k] + 1, row[k - 1] + 1, corner + (codes[i] != codes[j]))
                corner = row[k]
                row[k] = best
    return row[size], max(size, starts[token + 1] - starts[token])


@njit(cache=True, nogil=True)
def _cuts(token, parts, codes, starts):
    """Where the parts' boundaries fall within the token, along a shortest way of edits."""
    bounds = np.zeros(parts.shape[0] + 1, dtype=np.int64)
    for p in range(parts.shape[0]):
        bounds[p + 1] = bounds[p] + starts[parts[p] + 1] - starts[parts[p]]
    joined = np.empty(bounds[-1], dtype=np.int32)
    for p in range(parts.shape[0]):
        joined[bounds[p] : bounds[p + 1]] = codes[starts[parts[p]] : starts[parts[p] + 1]]
    mine = codes[starts[token] : starts[token + 1]]
    n, m = mine.shape[0], joined.shape[0]
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    table[:, 0] = np.arange(n + 1)
    table[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for k in range(1, m + 1):
            table[i, k] = min(
                table[i - 1, k] + 1, table[i, k - 1] + 1, table[i - 1, k - 1] + (mine[i - 1] != joined[k - 1])
            )
    cuts = np.zeros(parts.shape[0] + 1, dtype=np.int64)
    cuts[-1] = n
    part = parts.shape[0] - 1
    i, k = n, m
    while part > 0:
        # Every boundary that lies here is met before the way leads on.
        if k == bounds[part]:
            cuts[part] = i
            part -= 1
        elif i > 0 and k > 0 and table[i, k] == table[i - 1, k - 1] + (mine[i - 1] != joined[k - 1]):
            i -= 1
            k -= 1
        elif k > 0 and table[i, k] == table[i, k - 1] + 1:
            k -= 1
        else:
            i -= 1
    return cuts


def warm_up() -> None:
    tokens = np.array([[1, 0], [2, 3]], dtype=np.int32)
    codes = np.array([0, 1, 0, 1], dtype=np.int32)
    split_glued(tokens, codes, np.array([0, 0, 1, 2, 4], dtype=np.int64), 75, 8)
