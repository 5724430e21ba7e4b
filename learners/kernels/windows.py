"""All windows of an utterance at once: a small round is all overhead, and one call costs as little as ten do.

`draw` draws a path of an ensemble's A' for each window, `marginals` gives the probability of each expert in each
slot, `choose_tokens` the tokens of the paths, `truth_gains` values every transition in every window, `path_sums`
checks remembered paths and adds up along them, `count_matches` tells how often each expert was right.

Arrays: w windows, s slots of a window, l slots of the utterance, r experts, K transitions of a path, M of A'.
Layers as in `kernels.layered`, tries as in `kernels.gains`. Tokens are numbers, the same number for the same
token; 0 is null; a true token that nobody offers has a number of its own.

What takes a few microseconds keeps the interpreter lock: giving it up and waiting for it again costs more than
the work.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.gains import ensemble_gains, grow_trie
from galloon.learners.kernels.layered import expert_path, sample
from galloon.learners.kernels.uniform import uniforms


@njit(cache=True, error_model="numpy")
def draw(q, scores, rate, log_total, offsets, sources, drops, experts, head, seed, first, edges, paths, logs):
    """Fill edges [w, K] and paths [w, s] with paths drawn by the flows q, logs [w] with their log probabilities.

    Window i draws the numbers of round `first + i`. The law is proportional to e**(rate * sum of scores).
    """
    for window in range(edges.shape[0]):
        drawn = sample(q, offsets, sources, drops, uniforms(seed, first + np.uint64(window), sources.size))
        edges[window] = drawn
        paths[window] = expert_path(drawn, offsets, sources, experts, head)
        total = 0.0
        for edge in drawn:
            total += rate * scores[edge]
        logs[window] = total - log_total


@njit(cache=True, nogil=True, error_model="numpy")
def marginals(q, offsets, experts, head, law):
    """Fill law [s, r] with the probability of each expert in each slot, from the flows q."""
    law[:] = 0.0
    for code in range(offsets[1]):  # the first layer stands for `head` slots, the oldest as the lowest digit
        rest = code
        for slot in range(head):
            law[slot, rest % experts] += q[code]
            rest //= experts
    for j in range(1, offsets.size - 1):
        block = (offsets[j + 1] - offsets[j]) // experts
        for expert in range(experts):
            total = 0.0
            for edge in range(offsets[j] + expert * block, offsets[j] + (expert + 1) * block):
                total += q[edge]
            law[head + j - 1, expert] = total


@njit(cache=True)
def choose_tokens(paths, tokens, law, experts, chosen, mass):
    """Fill, for each slot, the expert that its window's path takes, its token, and the probability of that token.

    paths [w, s], tokens [l, r], law [s, r]; experts, chosen and mass [l]. Who offers the same counts together.
    """
    slots, r = law.shape
    for at in range(tokens.shape[0]):
        expert = paths[at // slots, at % slots] % r
        token = tokens[at, expert]
        total = 0.0
        for other in range(r):
            if tokens[at, other] == token:
                total += law[at % slots, other]
        experts[at], chosen[at], mass[at] = expert, token, total


@njit(cache=True, nogil=True, error_model="numpy")
def truth_gains(tokens, truth, slots, counts_at, count_nulls, powers, shortest, span, gains):
    """Fill gains [w, M] with the worth of each transition in each window of `slots` slots; returns the largest.

    tokens [l, r] and truth [l]; counts_at[d] is 1 where patterns of d tokens count, else 0. Slots that fill up the
    last window gain nothing: what is offered there is no token of any pattern, and what is true there is offered
    nowhere.
    """
    total, experts = tokens.shape
    largest = 0
    for slot in range(total):
        largest = max(largest, truth[slot])
        for expert in range(experts):
            largest = max(largest, tokens[slot, expert])
    null, filling = 1, largest + 2  # symbols are from 1 on
    deepest, most = counts_at.size - 1, 0.0
    offers = np.empty((slots, experts), dtype=np.int32)
    target = np.empty(slots, dtype=np.int32)
    for window in range(gains.shape[0]):
        for slot in range(slots):
            at = window * slots + slot
            inside = at < total
            target[slot] = truth[at] + 1 if inside else filling
            for expert in range(experts):
                offers[slot, expert] = tokens[at, expert] + 1 if inside else 0
        keys, children, depth, worth, silent = grow_trie(target, filling + 1, deepest, powers, null)
        leaf = np.empty(depth.size, dtype=np.bool_)
        for node in range(depth.size):
            leaf[node] = depth[node] == deepest
            worth[node] *= counts_at[depth[node]]
            if silent[node] and not count_nulls:
                worth[node] = 0.0
        ensemble_gains(
            offers, shortest, span, filling + 1, keys, children, depth, leaf, worth, powers, gains[window]
        )
        most = max(most, gains[window].max())
    return most


@njit(cache=True)
def few_truth_gains(tokens, truth, slots, counts_at, count_nulls, powers, shortest, span, gains):
    """The same for few and small windows: keeps the interpreter lock."""
    return truth_gains(tokens, truth, slots, counts_at, count_nulls, powers, shortest, span, gains)


@njit(cache=True)
def path_sums(values, edges, sources, targets, sink, sums):
    """Fill sums [w] with the sum of values [w, M] along the path of each row of edges [w, K].

    Returns whether every row is a path from state 0 to the sink.
    """
    for window in range(edges.shape[0]):
        state, total = 0, 0.0
        for edge in edges[window]:
            if not 0 <= edge < sources.size or sources[edge] != state:
                return False
            state = targets[edge]
            total += values[window, edge]
        if state != sink:
            return False
        sums[window] = total
    return edges.shape[1] > 0


@njit(cache=True)
def count_matches(tokens, truth, matches):
    """Fill matches [r] with the number of slots in which each expert offers, in tokens [l, r], the true token."""
    matches[:] = 0.0
    for slot in range(tokens.shape[0]):
        for expert in range(tokens.shape[1]):
            matches[expert] += tokens[slot, expert] == truth[slot]


def warm_up() -> None:
    offsets = np.array([0, 2, 4], dtype=np.int64)
    sources = np.array([1, 1], dtype=np.int64)
    drops = np.array([2, 2], dtype=np.int64)
    q = np.full(4, 0.5)
    edges, paths = np.empty((1, 2), dtype=np.int32), np.empty((1, 2), dtype=np.int32)
    layout, start = (offsets, sources, drops, 2, 1), np.uint64(0)
    draw(q, np.zeros(4), 0.1, 0.0, *layout, start, start, edges, paths, np.empty(1))
    marginals(q, offsets, 2, 1, np.empty((2, 2)))
    numbers = np.empty(2, dtype=np.int32)
    choose_tokens(
        np.zeros((1, 2), dtype=np.int32),
        np.ones((2, 2), dtype=np.int32),
        q.reshape(2, 2),
        numbers,
        numbers,
        np.empty(2),
    )
    ends = np.array([0, 0, 1, 1], dtype=np.int32), np.array([1, 1, 2, 2], dtype=np.int32)
    path_sums(q.reshape(1, 4), edges, *ends, 2, np.empty(1))
    tokens, truth = np.ones((2, 2), dtype=np.int32), np.ones(2, dtype=np.int32)
    for valued in (truth_gains, few_truth_gains):
        valued(tokens, truth, 2, np.array([0.0, 1.0]), False, np.ones(1), 1, 1, np.empty((1, 4)))
    count_matches(tokens, truth, np.empty(2))
