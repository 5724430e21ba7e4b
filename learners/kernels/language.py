"""What has been seen of a language: n-gram counts of any symbols in one bounded table.

A symbol is a 64-bit hash (of a word) or a code point; a history is read from the nearest symbol backwards. A
context's row holds how many symbols followed it and how many different ones; an event's row holds how often
the symbol followed the context. `add_sequence` counts, `log_probability` interpolates all orders by
Witten-Bell: p_m(w|h) = (count + kinds p_{m-1}) / (total + kinds), which needs no tuning.

Letters: `keys` uint32 rows, `counts` uint32 rows x 2 (see `kernels.bounded_table`); `used` int64[1] counts
filled rows. `seed` keeps the models in one table apart.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FREE, claim, find, key_of, mix

# Symbols before the first and after the last, and marks of the two kinds of rows: larger than any code point.
START, END = np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F)
_CONTEXT, _EVENT = np.uint64(0x2545F4914F6CDD1D), np.uint64(0x369DEA0F31A53F85)
_TEXT = np.uint64(0xCBF29CE484222325)


@njit(cache=True, nogil=True)
def hash_token(codes, start, end):
    """A 64-bit hash of codes[start:end]."""
    state = _TEXT
    for i in range(start, end):
        state = mix(state, np.uint64(codes[i]))
    return state


@njit(cache=True, nogil=True)
def hash_tokens(codes, starts):
    """The hash of each token: codes[starts[v]:starts[v+1]]."""
    hashes = np.zeros(starts.shape[0] - 1, dtype=np.uint64)
    for v in range(hashes.shape[0]):
        hashes[v] = hash_token(codes, starts[v], starts[v + 1])
    return hashes


@njit(cache=True, nogil=True)
def count_of(keys, counts, seed, symbol):
    """How often this symbol has been counted, whatever came before it."""
    row = find(keys, key_of(mix(mix(mix(seed, _CONTEXT), _EVENT), symbol)))
    return np.int64(counts[row, 0]) if row >= 0 else np.int64(0)


@njit(cache=True, nogil=True)
def _claim_row(keys, counts, used, state):
    row, came = claim(keys, counts, key_of(state))
    if came == FREE:
        used[0] += 1
    elif came == EVICTED:
        counts[row, 0] = 0
        counts[row, 1] = 0
    return row


@njit(cache=True, nogil=True)
def add_symbol(keys, counts, used, seed, order, symbols, place):
    """Count symbols[place] after each of its histories, up to `order` - 1 symbols long."""
    context = mix(seed, _CONTEXT)
    for m in range(order):
        if m > 0:
            if place - m < 0:
                break
            context = mix(context, symbols[place - m])
        event_row = _claim_row(keys, counts, used, mix(mix(context, _EVENT), symbols[place]))
        first = counts[event_row, 0] == 0
        counts[event_row, 0] += 1
        context_row = _claim_row(keys, counts, used, context)
        counts[context_row, 0] += 1
        if first:
            counts[context_row, 1] += 1


@njit(cache=True, nogil=True)
def add_sequence(keys, counts, used, seed, order, symbols):
    """Count every symbol of a sequence that begins with START and ends with END."""
    for place in range(1, symbols.shape[0]):
        add_symbol(keys, counts, used, seed, order, symbols, place)


@njit(cache=True, nogil=True)
def log_probability(keys, counts, seed, order, base, symbols, place):
    """Log of the probability of symbols[place] after what stands before it in `symbols`.

    `base` is the probability of a symbol nothing is known of.
    """
    probability = base
    context = mix(seed, _CONTEXT)
    for m in range(order):
        if m > 0:
            if place - m < 0:
                break
            context = mix(context, symbols[place - m])
        context_row = find(keys, key_of(context))
        if context_row < 0:
            break
        event_row = find(keys, key_of(mix(mix(context, _EVENT), symbols[place])))
        count = np.float64(counts[event_row, 0]) if event_row >= 0 else 0.0
        # In a full table a row may be younger than those it belongs to: the sums still make a probability.
        total = max(np.float64(counts[context_row, 0]), count)
        kinds = max(np.float64(counts[context_row, 1]), 1.0)
        probability = (count + kinds * probability) / (total + kinds)
    return np.log(probability)


@njit(cache=True, nogil=True)
def _letters(order, codes, start, end):
    """A whole word as symbols: its letters, after so many STARTs that even the first has a full history."""
    before = order - 1
    symbols = np.empty(before + end - start + 1, dtype=np.uint64)
    symbols[:before] = START
    for i in range(start, end):
        symbols[before + i - start] = np.uint64(codes[i])
    symbols[-1] = END
    return symbols


@njit(cache=True, nogil=True)
def spelling(keys, counts, seed, order, base, codes, start, end):
    """Log probability of codes[start:end] as the letters of one whole word."""
    symbols = _letters(order, codes, start, end)
    total = 0.0
    for place in range(order - 1, symbols.shape[0]):
        total += log_probability(keys, counts, seed, order, base, symbols, place)
    return total


@njit(cache=True, nogil=True)
def add_spelling(keys, counts, used, seed, order, codes, start, end):
    """Count the letters of one whole word."""
    symbols = _letters(order, codes, start, end)
    for place in range(order - 1, symbols.shape[0]):
        add_symbol(keys, counts, used, seed, order, symbols, place)


def warm_up() -> None:
    codes, starts = np.array([97, 98], dtype=np.int32), np.array([0, 1, 2], dtype=np.int64)
    keys, counts = np.zeros(64, dtype=np.uint32), np.zeros((64, 2), dtype=np.uint32)
    used = np.zeros(1, dtype=np.int64)
    symbols = np.concatenate([[START], hash_tokens(codes, starts), [END]])
    seed = np.uint64(1)
    add_sequence(keys, counts, used, seed, 2, symbols)
    log_probability(keys, counts, seed, 2, 0.5, symbols, 1)
    count_of(keys, counts, seed, symbols[1])
    add_spelling(keys, counts, used, seed, 2, codes, 0, 2)
    spelling(keys, counts, seed, 2, 0.5, codes, 0, 2)
