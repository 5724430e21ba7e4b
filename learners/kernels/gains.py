"""Gains of the transitions of A': walks of a pattern trie along the last tokens of a path.

The trie holds patterns *backwards*, so that one walk from the newest token to the oldest meets every pattern,
of any length, that ends at the newest; tokens may be skipped (a gap) at a discount. `grow_trie` makes the
trie of all patterns of a target, `fill_table` one of given patterns, which `count_patterns` counts;
`ensemble_gains`, `window_gains` and `sequence_gains` value the A' of an ensemble, that of an explicit
automaton, and one path.

A trie is a hash table from (node, symbol) to child, `keys` and `children`, a power of two long with linear
probing (a dense table of nodes times symbols would be far larger than the trie), and by node: `depth`,
`value` (what one undiscounted occurrence is worth) and `leaf`. Node 0 is the root and means "no child" too.
Symbols are local numbers from 1 on; 0 is any token that no pattern contains. `powers[k]` is discount**k.
How long a gap is follows from the tokens read and the depth, so that it need not be carried along.
"""

import numpy as np
from numba import njit

FREE = -1


@njit(cache=True, nogil=True, inline="always")
def _place(keys, key):
    """Where this key stands in the hash table, or the free place where it would stand."""
    mask = keys.size - 1
    # Fibonacci hashing: the high half of the product is well mixed.
    place = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while keys[place] != FREE and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True, inline="always")
def _child(keys, children, symbols, node, symbol):
    if symbol == 0:
        return 0
    place = _place(keys, np.int64(node) * symbols + symbol)
    return children[place] if keys[place] != FREE else 0


@njit(cache=True, nogil=True)
def _doubled(array, fill):
    larger = np.full(2 * array.size, fill, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def _rehashed(keys, children):
    larger = np.full(2 * keys.size, FREE, dtype=np.int64)
    moved = np.zeros(2 * keys.size, dtype=np.int32)
    for i in range(keys.size):
        if keys[i] != FREE:
            place = _place(larger, keys[i])
            larger[place] = keys[i]
            moved[place] = children[i]
    return larger, moved


@njit(cache=True, nogil=True)
def fill_table(edge_keys, edge_children, keys, children):
    """Put given trie edges into an empty hash table of at least twice their number."""
    for i in range(edge_keys.size):
        place = _place(keys, edge_keys[i])
        keys[place] = edge_keys[i]
        children[place] = edge_children[i]


@njit(cache=True, nogil=True)
def grow_trie(sequence, symbols, deepest, powers, null):
    """The trie of every pattern of up to `deepest` tokens in the sequence, and its discounted counts.

    sequence: int32 local symbols from 1 on, below `symbols`; null: the symbol of the null token, or -1.
    Returns keys, children, depth, counts, silent (made of nulls alone), all by node but the first two.
    """
    keys = np.full(64, FREE, dtype=np.int64)
    children = np.zeros(64, dtype=np.int32)
    depth = np.zeros(32, dtype=np.int32)
    counts = np.zeros(32)
    silent = np.zeros(32, dtype=np.bool_)
    silent[0] = True
    nodes = 1
    max_gap = powers.size - 1
    room = 2 * min(deepest + max_gap, sequence.size) + 2
    stack_read = np.empty(room, dtype=np.int64)
    stack_node = np.empty(room, dtype=np.int32)
    for end in range(sequence.size):
        stack_read[0] = 0
        stack_node[0] = 0
        height = 1
        while height > 0:
            height -= 1
            read, node = stack_read[height], stack_node[height]
            symbol = sequence[end - read]
            if 2 * nodes >= keys.size:
                keys, children = _rehashed(keys, children)
            if nodes == depth.size:
                depth, counts, silent = _doubled(depth, 0), _doubled(counts, 0.0), _doubled(silent, False)
            place = _place(keys, np.int64(node) * symbols + symbol)
            if keys[place] == FREE:
                keys[place] = np.int64(node) * symbols + symbol
                children[place] = nodes
                depth[nodes] = depth[node] + 1
                silent[nodes] = silent[node] and symbol == null
                nodes += 1
            child = children[place]
            gap = read - depth[node]
            counts[child] += powers[gap]
            if read < end:
                if depth[child] < deepest:
                    stack_read[height] = read + 1
                    stack_node[height] = child
                    height += 1
                if node > 0 and gap < max_gap:
                    stack_read[height] = read + 1
                    stack_node[height] = node
                    height += 1
    return keys, children, depth[:nodes].copy(), counts[:nodes].copy(), silent[:nodes].copy()


@njit(cache=True, nogil=True)
def count_patterns(sequence, symbols, keys, children, depth, leaf, powers, counts):
    """Add to counts, by node, the discounted occurrences in the sequence of the trie's patterns."""
    max_gap = powers.size - 1
    room = 2 * (depth.max() + max_gap) + 2
    stack_read = np.empty(room, dtype=np.int64)
    stack_node = np.empty(room, dtype=np.int32)
    for end in range(sequence.size):
        stack_read[0] = 0
        stack_node[0] = 0
        height = 1
        while height > 0:
            height -= 1
            read, node = stack_read[height], stack_node[height]
            child = _child(keys, children, symbols, node, sequence[end - read])
            gap = read - depth[node]
            if child > 0:
                counts[child] += powers[gap]
            if read < end:
                if child > 0 and not leaf[child]:
                    stack_read[height] = read + 1
                    stack_node[height] = child
                    height += 1
                if node > 0 and gap < max_gap:
                    stack_read[height] = read + 1
                    stack_node[height] = node
                    height += 1


@njit(cache=True, nogil=True, error_model="numpy")
def ensemble_gains(offers, shortest, span, symbols, keys, children, depth, leaf, value, powers, gains):
    """Fill the gains of the transitions of an ensemble's A', layer by layer (see `kernels.layered`).

    offers: int32 [l, r] local symbols; shortest, span: the reach of A'. The code of the last j experts, the
    oldest as the lowest digit, is the same for all transitions that agree on them, and these are contiguous:
    a pattern that was met after j tokens is worth its value to the whole block. So tokens are shared by all
    longer windows, at most r + r^2 + ... + r^span steps a layer, and a walk that leaves the trie stops.
    """
    slots, r = offers.shape
    max_gap = powers.size - 1
    furthest = min(span, depth.max() + max_gap)
    gains[:] = 0.0
    room = 2 * r * (furthest + 1)
    stack_read = np.empty(room, dtype=np.int64)
    stack_code = np.empty(room, dtype=np.int64)
    stack_node = np.empty(room, dtype=np.int32)
    blocks = np.empty(span + 1, dtype=np.int64)
    offset = 0
    for slot in range(shortest, slots + 1):
        width = min(slot, span)
        window = min(width, furthest)
        blocks[width] = 1
        for j in range(width - 1, -1, -1):
            blocks[j] = blocks[j + 1] * r
        stack_read[0] = 0
        stack_code[0] = 0
        stack_node[0] = 0
        height = 1
        while height > 0:
            height -= 1
            read, code, node = stack_read[height], stack_code[height], stack_node[height]
            gap = read - depth[node]
            block = blocks[read + 1]
            symbol, child = -1, 0
            for x in range(r):
                longer = x + r * code
                if offers[slot - 1 - read, x] != symbol:  # experts often agree: then one look is enough
                    symbol = offers[slot - 1 - read, x]
                    child = _child(keys, children, symbols, node, symbol)
                if child > 0:
                    worth = powers[gap] * value[child]
                    if worth != 0.0:
                        first = offset + longer * block
                        for c in range(first, first + block):
                            gains[c] += worth
                if read + 1 < window:
                    if child > 0 and not leaf[child]:
                        stack_read[height] = read + 1
                        stack_code[height] = longer
                        stack_node[height] = child
                        height += 1
                    if node > 0 and gap < max_gap:
                        stack_read[height] = read + 1
                        stack_code[height] = longer
                        stack_node[height] = node
                        height += 1
        offset += blocks[0]


@njit(cache=True, nogil=True, error_model="numpy")
def window_gains(windows, offers, symbols, keys, children, depth, leaf, value, powers, gains):
    """Fill the gains of transitions given by their windows of transitions of A, -1 where there is none.

    windows: int32 [M, span], the newest last; offers: int32, the local symbol of each transition of A.
    """
    room = 2 * (depth.max() + powers.size) + 2
    stack_read = np.empty(room, dtype=np.int64)
    stack_node = np.empty(room, dtype=np.int32)
    span = windows.shape[1]
    tokens = np.empty(span, dtype=np.int32)
    for e in range(windows.shape[0]):
        length = 0
        for i in range(span):
            if windows[e, i] >= 0:
                tokens[length] = offers[windows[e, i]]
                length += 1
        gains[e] = _gain(
            tokens[:length], symbols, keys, children, depth, leaf, value, powers, stack_read, stack_node
        )


@njit(cache=True, nogil=True, error_model="numpy")
def sequence_gains(tokens, symbols, keys, children, depth, leaf, value, powers, gains):
    """Fill gains[i] with the worth of all occurrences that end at token i of one sequence."""
    room = 2 * (depth.max() + powers.size) + 2
    stack_read = np.empty(room, dtype=np.int64)
    stack_node = np.empty(room, dtype=np.int32)
    for i in range(tokens.size):
        gains[i] = _gain(
            tokens[: i + 1], symbols, keys, children, depth, leaf, value, powers, stack_read, stack_node
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _gain(tokens, symbols, keys, children, depth, leaf, value, powers, stack_read, stack_node):
    """The worth of all occurrences that end at the last token, added up in the order of `ensemble_gains`."""
    if tokens.size == 0:
        return 0.0
    max_gap = powers.size - 1
    gain = 0.0
    stack_read[0] = 0
    stack_node[0] = 0
    height = 1
    while height > 0:
        height -= 1
        read, node = stack_read[height], stack_node[height]
        gap = read - depth[node]
        child = _child(keys, children, symbols, node, tokens[tokens.size - 1 - read])
        if child > 0:
            worth = powers[gap] * value[child]
            if worth != 0.0:
                gain += worth
        if read + 1 < tokens.size:
            if child > 0 and not leaf[child]:
                stack_read[height] = read + 1
                stack_node[height] = child
                height += 1
            if node > 0 and gap < max_gap:
                stack_read[height] = read + 1
                stack_node[height] = node
                height += 1
    return gain


def warm_up() -> None:
    sequence = np.array([1, 2, 1], dtype=np.int32)
    powers = np.array([1.0, 0.5])
    keys, children, depth, counts, _ = grow_trie(sequence, 3, 2, powers, -1)
    leaf = depth == 2
    fill_table(keys[:0], children[:0], keys, children)
    trie = (3, keys, children, depth, leaf)
    count_patterns(sequence, *trie, powers, counts)
    ensemble_gains(np.ones((3, 2), dtype=np.int32), 2, 3, *trie, counts, powers, np.empty(12))
    window_gains(np.zeros((1, 2), dtype=np.int32), sequence, *trie, counts, powers, np.empty(1))
    sequence_gains(sequence, *trie, counts, powers, np.empty(3))
